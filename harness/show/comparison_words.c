#include <stdio.h>
#include <string.h>

#include "show/comparison_words.h"

/* Append a part after ", "; nothing for an empty text. */
static void part(char out[WORDS_LINE], const char *before, const char *text, const char *after)
{
    size_t used = strlen(out);
    if (!text[0] || used + 1 >= WORDS_LINE) return;
    snprintf(out + used, WORDS_LINE - used, "%s%s%s%s", used ? ", " : "", before, text, after);
}

/* "0.1.0 (1a2b3c4d, changed)"; unknown parts are left out. */
static void version_text(const struct comparison_side *side, char *out, size_t size)
{
    char source[WORDS_LINE], commit[9];
    snprintf(commit, sizeof commit, "%s", side->commit); /* the beginning is enough */
    source[0] = '\0';
    part(source, "", commit, "");
    part(source, "", side->diff_hash[0] ? "changed" : "", "");
    snprintf(out, size, "%s%s%.64s%s", side->version, source[0] ? " (" : "", source,
             source[0] ? ")" : "");
}

void side_text(const struct comparison_side *side, char out[WORDS_LINE])
{
    char version[2 * RESULT_MAX_PROPERTY], launches[32], id[9];
    version_text(side, version, sizeof version);
    snprintf(launches, sizeof launches, "%d launch%s", side->launches,
             side->launches == 1 ? "" : "es");
    snprintf(id, sizeof id, "%s", side->id); /* the beginning is enough */
    out[0] = '\0';
    part(out, "", side->simulated ? "SIMULATED" : "", "");
    part(out, "assay ", side->version[0] ? version : "", "");
    part(out, "", side->program, "");
    part(out, "", side->device, "");
    part(out, "driver ", side->driver, "");
    part(out, "suite ", side->suite, "");
    part(out, "", launches, "");
    part(out, "run ", id, "");
    part(out, "\"", side->label, "\"");
}

void counts_text(const struct comparison *comparison, char out[WORDS_LINE])
{
    out[0] = '\0';
    for (int i = 0; i < VERDICTS; i++) {
        char count[48];
        snprintf(count, sizeof count, "%d %s", comparison->counts[i],
                 verdict_name((enum verdict)i));
        part(out, "", comparison->counts[i] ? count : "", "");
    }
    if (!out[0]) snprintf(out, WORDS_LINE, "no case on either side");
}

/* Whether a row counts: with `common_only` a case that only one side has does not. */
static bool is_asked(const struct comparison_row *row, bool common_only)
{
    return !common_only || (row->verdict != VERDICT_NEW && row->verdict != VERDICT_MISSING);
}

static const char *most_frequent(const struct comparison *comparison, bool common_only)
{
    const char *most = "";
    int most_rows = 0;
    for (int i = 0; i < comparison->count; i++) {
        const char *reason = comparison->rows[i].reason;
        int rows = 0;
        if (!is_asked(&comparison->rows[i], common_only)) continue;
        if (!reason[0] || !strcmp(reason, most)) continue;
        for (int j = i; j < comparison->count; j++)
            rows += is_asked(&comparison->rows[j], common_only) &&
                    !strcmp(reason, comparison->rows[j].reason);
        if (rows > most_rows) most = reason;
        if (rows > most_rows) most_rows = rows;
    }
    return most;
}

const char *reason_of_most(const struct comparison *comparison)
{
    return most_frequent(comparison, false);
}

void nothing_text(const struct comparison *comparison, char out[WORDS_LINE])
{
    bool stranger = !comparison_has_common_case(comparison);
    out[0] = '\0';
    if (comparison->count == 0)
        part(out, "", "neither side has a case", "");
    else if (stranger)
        part(out, "", "the sides have no case in common", "");
    else
        part(out, "", most_frequent(comparison, true), "");
    if (stranger) part(out, "and they were not measured alike: ", comparison->difference, "");
}

const char *metric_text(const struct comparison *comparison)
{
    bool is_ratio = comparison->metric && strcmp(comparison->metric, "speedup") == 0;
    return is_ratio ? "time/baseline, of base's" : "time, of the base's";
}

void why_text(const struct comparison_row *row, char out[WORDS_LINE])
{
    char tags[128];
    out[0] = '\0';
    part(out, "", row->reason, "");
    tags_text(row->tags, tags, sizeof tags);
    part(out, "", tags, "");
}
