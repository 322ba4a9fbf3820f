/* comparison_json.c - a comparison as one JSON document. The names are a public contract:
 * format 1 may gain members but never loses or changes one. */
#include "show/comparison_formats.h"
#include "show/show.h"

static FIELD_TABLE(side_fields,
                   FIELDS(comparison_side, id, suite, label, program, version, commit, diff_hash,
                          objects, device, uuid, driver, started_at, launches, simulated));

void comparison_side_member(struct json *json, const char *key, const struct comparison_side *side)
{
    json_fields_member(json, key, side_fields, side);
}

static FIELD_TABLE(ratio_fields, FIELD_AS("ratio", comparison_row, ratio.mid),
                   FIELD_AS("ratio_lo", comparison_row, ratio.lo),
                   FIELD_AS("ratio_hi", comparison_row, ratio.hi));
static FIELD_TABLE(row_fields,
                   FIELDS(comparison_row, base_ns, candidate_ns, metric, base_value,
                          candidate_value, p_slower, p_faster, threshold, floor, noise),
                   FIELD_AS("resolution", comparison_row, quantum),
                   FIELDS(comparison_row, fence, mde, launches, confirmed));
static FIELD_TABLE(family_fields, FIELDS(comparison_family, operation, ratio, cases));

static void tags_member(struct json *json, unsigned tags)
{
    json_array_member(json, "tags");
    for (int i = 0; i < TAGS; i++)
        if (tags >> i & 1) json_string(json, tag_name(i));
    json_end(json);
}

static void row_object(struct json *json, const struct comparison_row *row)
{
    json_begin_object(json);
    show_json_case(json, &row->id);
    json_known_member(json, "verdict", verdict_name(row->verdict));
    tags_member(json, row->tags);
    json_known_member(json, "reason", row->reason);
    json_fields(json, ratio_fields, row);
    json_known_member(json, "evidence", evidence_name(row->evidence));
    json_fields(json, row_fields, row);
    json_end(json);
}

static FIELD_TABLE(asked_fields, FIELDS(comparison, mode, metric, threshold, fdr));
static FIELD_TABLE(tally_fields, FIELDS(verdict_tally, judged, cases, least_judged));

int comparison_json(FILE *out, const struct comparison *comparison)
{
    struct json json;
    show_json_begin(&json, out);
    json_fields(&json, asked_fields, comparison);
    comparison_side_member(&json, "base", &comparison->base);
    comparison_side_member(&json, "candidate", &comparison->candidate);
    json_array_member(&json, "notes");
    for (int i = 0; i < comparison->note_count; i++)
        json_string(&json, comparison->note[i]);
    json_end(&json);
    json_known_member(&json, "next", comparison->next);
    json_known_member(&json, "next_lacks", comparison->next_lacks);
    json_array_member(&json, "rows");
    for (int i = 0; i < comparison->count; i++)
        row_object(&json, &comparison->rows[i]);
    json_end(&json);
    show_json_list(&json, "families", family_fields, comparison->families, comparison->family_count,
                   sizeof *comparison->families);
    json_object_member(&json, "counts");
    for (int i = 0; i < VERDICTS; i++)
        json_int_member(&json, verdict_name(i), comparison->tally.counts[i]);
    json_end(&json);
    json_fields(&json, tally_fields, &comparison->tally);
    json_int_member(&json, "exit", comparison->exit);
    return json_finish(&json);
}
