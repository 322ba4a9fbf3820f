/* comparison_json.c - a comparison as one JSON document. The names are a public contract:
 * format 1 may gain members but never loses or changes one. */
#include <math.h>

#include "base/json.h"
#include "judge/comparison.h"
#include "show/comparison_formats.h"
#include "show/show.h"

void comparison_side_member(struct json *json, const char *key, const struct comparison_side *side)
{
    json_object_member(json, key);
    json_known_member(json, "id", side->id);
    json_known_member(json, "suite", side->suite);
    json_known_member(json, "label", side->label);
    json_known_member(json, "program", side->program);
    json_known_member(json, "version", side->version);
    json_known_member(json, "commit", side->commit);
    json_known_member(json, "diff_hash", side->diff_hash);
    json_known_member(json, "objects", side->objects);
    json_known_member(json, "device", side->device);
    json_known_member(json, "uuid", side->uuid);
    json_known_member(json, "driver", side->driver);
    json_known_member(json, "started_at", side->started_at);
    json_int_member(json, "launches", side->launches);
    json_bool_member(json, "simulated", side->simulated);
    json_end(json);
}

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
    json_number_member(json, "ratio", row->ratio.mid);
    json_number_member(json, "ratio_lo", row->ratio.lo);
    json_number_member(json, "ratio_hi", row->ratio.hi);
    json_known_member(json, "evidence", evidence_name(row->evidence));
    json_number_member(json, "base_ns", row->base_ns);
    json_number_member(json, "candidate_ns", row->candidate_ns);
    json_text_member(json, "metric", row->metric);
    json_number_member(json, "base_value", row->base_value);
    json_number_member(json, "candidate_value", row->candidate_value);
    json_number_member(json, "p_slower", row->p_slower);
    json_number_member(json, "p_faster", row->p_faster);
    json_number_member(json, "threshold", row->threshold);
    json_number_member(json, "floor", row->floor);
    json_number_member(json, "noise", row->noise);
    json_number_member(json, "resolution", row->quantum);
    json_number_member(json, "fence", row->fence);
    json_number_member(json, "mde", row->mde);
    json_int_member(json, "launches", row->launches);
    json_bool_member(json, "confirmed", row->confirmed);
    json_end(json);
}

static void families_member(struct json *json, const struct comparison *comparison)
{
    json_array_member(json, "families");
    for (int i = 0; i < comparison->family_count; i++) {
        json_begin_object(json);
        json_known_member(json, "operation", comparison->families[i].operation);
        json_number_member(json, "ratio", comparison->families[i].ratio);
        json_int_member(json, "cases", comparison->families[i].cases);
        json_end(json);
    }
    json_end(json);
}

int comparison_json(FILE *out, const struct comparison *comparison)
{
    struct json json;
    show_json_begin(&json, out);
    json_known_member(&json, "mode", comparison->mode);
    json_known_member(&json, "metric", comparison->metric);
    json_number_member(&json, "threshold", comparison->threshold);
    json_number_member(&json, "fdr", comparison->fdr);
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
    families_member(&json, comparison);
    json_object_member(&json, "counts");
    for (int i = 0; i < VERDICTS; i++)
        json_int_member(&json, verdict_name(i), comparison->tally.counts[i]);
    json_end(&json);
    json_int_member(&json, "judged", comparison->tally.judged);
    json_int_member(&json, "cases", comparison->tally.cases);
    json_number_member(&json, "least_judged", comparison->tally.least_judged);
    json_int_member(&json, "exit", comparison->exit);
    json_end(&json);
    return json_finish(&json);
}
