/* comparison_words.c - see comparison_words.h. */
#include <string.h>

#include "comparison_words.h"

/* Adds a part with ", " between; nothing for an empty text. */
static void part(char out[WORDS_LINE], const char *before, const char *text, const char *after)
{
    size_t used = strlen(out);
    if (!text[0] || used + 1 >= WORDS_LINE) return;
    snprintf(out + used, WORDS_LINE - used, "%s%s%s%s", used ? ", " : "", before, text, after);
}

void side_text(const struct comparison_side *side, char out[WORDS_LINE])
{
    char version[2 * RESULT_MAX_PROPERTY], launches[32], id[9];
    snprintf(version, sizeof version, "%s (%.8s%s)", side->version, side->commit,
             side->diff_hash[0] ? ", changed" : "");
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

const char *reason_of_most(const struct comparison *comparison)
{
    const char *most = "";
    int most_rows = 0;
    for (int i = 0; i < comparison->count; i++) {
        const char *reason = comparison->rows[i].reason;
        int rows = 0;
        if (!reason[0] || !strcmp(reason, most)) continue;
        for (int j = i; j < comparison->count; j++)
            rows += !strcmp(reason, comparison->rows[j].reason);
        if (rows > most_rows) most = reason;
        if (rows > most_rows) most_rows = rows;
    }
    return most;
}

void why_text(const struct comparison_row *row, char out[WORDS_LINE])
{
    char tags[128];
    out[0] = '\0';
    part(out, "", row->reason, "");
    tags_text(row->tags, tags, sizeof tags);
    part(out, "", tags, "");
}
