/* comparison_words.c - the texts that the formats of a comparison share. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "show/comparison_formats.h"

static void part(char out[WORDS_LINE], const char *format, const char *text)
{
    text_part(out, WORDS_LINE, ", ", format, text);
}

void side_text(const struct comparison_side *side, char out[WORDS_LINE])
{
    char source[64] = "", version[2 * RESULT_MAX_PROPERTY], launches[32], id[9];
    if (side->commit[0]) text_add(source, sizeof source, "", "%.8s", side->commit);
    if (side->diff_hash[0]) text_add(source, sizeof source, ", ", "changed");
    snprintf(version, sizeof version, source[0] ? "%s (%s)" : "%s", side->version, source);
    snprintf(launches, sizeof launches, "%d launch%s", side->launches,
             side->launches == 1 ? "" : "es");
    snprintf(id, sizeof id, "%s", side->id); /* the beginning is enough */
    out[0] = '\0';
    part(out, "%s", side->simulated ? "SIMULATED" : "");
    part(out, "assay %s", side->version[0] ? version : "");
    part(out, "%s", side->program);
    part(out, "%s", side->objects);
    part(out, "%s", side->device);
    part(out, "driver %s", side->driver);
    part(out, "suite %s", side->suite);
    part(out, "%s", launches);
    part(out, "run %s", id);
    part(out, "\"%s\"", side->label);
}

void counts_text(const struct comparison *comparison, char out[WORDS_LINE])
{
    int acknowledged[VERDICTS] = {0};
    out[0] = '\0';
    for (int i = 0; i < comparison->count; i++)
        acknowledged[comparison->rows[i].verdict] += (comparison->rows[i].tags & TAG_ACK) != 0;
    for (int i = 0; i < VERDICTS; i++) {
        if (!comparison->tally.counts[i]) continue;
        text_add(out, WORDS_LINE, ", ", "%d %s", comparison->tally.counts[i], verdict_name(i));
        if (acknowledged[i]) text_add(out, WORDS_LINE, " ", "(%d acknowledged)", acknowledged[i]);
    }
    if (!out[0]) snprintf(out, WORDS_LINE, "no case on either side");
}

/* Whether a row counts: with `common_only` a case that only one side has does not. */
static bool is_asked(const struct comparison_row *row, bool common_only)
{
    return !common_only || (row->verdict != VERDICT_NEW && row->verdict != VERDICT_MISSING);
}

const char *reason_of_most(const struct comparison *comparison, bool common_only)
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

void nothing_text(const struct comparison *comparison, char out[WORDS_LINE])
{
    bool stranger = !comparison_has_common_case(comparison);
    out[0] = '\0';
    if (comparison->count == 0)
        part(out, "%s", "neither side has a case");
    else if (stranger)
        part(out, "%s", "the sides have no case in common");
    else
        part(out, "%s", reason_of_most(comparison, true));
    if (stranger) part(out, "and they were not measured alike: %s", comparison->difference);
}

/* "3 cases by the candidate's doing, one: copy/b n=10 cold: the definition of its work differs". */
static void redefined_text(const struct comparison *comparison, char out[WORDS_LINE])
{
    char name[CASE_TEXT];
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (!(row->tags & TAG_REDEFINED) || (row->tags & TAG_ACK)) continue;
        comparison_row_text(row, name);
        snprintf(out, WORDS_LINE,
                 "%d of %d cases cannot be compared by the candidate's doing, %s: %s",
                 comparison->tally.redefined, comparison->tally.cases, name, row->reason);
        return;
    }
}

void unjudged_text(const struct comparison *comparison, char out[WORDS_LINE])
{
    const struct verdict_tally *tally = &comparison->tally;
    char why[WORDS_LINE], judged[32] = "none";
    if (verdict_nothing_compared(tally)) {
        nothing_text(comparison, why);
        snprintf(out, WORDS_LINE, "nothing could be compared: %.480s", why);
    } else if (verdict_too_few_judged(tally)) {
        if (tally->judged > 0) snprintf(judged, sizeof judged, "only %d", tally->judged);
        snprintf(out, WORDS_LINE,
                 "%s of %d cases %s judged, and %.3g %% must be (--least-judged); of the others "
                 "most: %.300s",
                 judged, tally->cases, tally->judged == 1 ? "was" : "were",
                 100 * tally->least_judged, reason_of_most(comparison, true));
    } else {
        redefined_text(comparison, out);
    }
}

const char *metric_text(const struct comparison *comparison)
{
    const char *metric = comparison->metric ? comparison->metric : "time";
    if (strcmp(metric, "limits") == 0) return "change of time/limit";
    if (strcmp(metric, "counters") == 0) return "change of instructions";
    return strcmp(metric, "speedup") == 0 ? "change of time/baseline" : "change of time";
}

/* A time; between two models a speed-up or a share of the ceiling. */
static void side_value(char out[UNITS_MAX], const struct comparison_row *row, double time_ns,
                       double value)
{
    if (isnan(value))
        units_time(out, time_ns);
    else if (strcmp(row->metric, "share") == 0)
        units_percent(out, value);
    else
        units_ratio(out, value);
}

void comparison_words(struct comparison_words *words, const struct comparison_row *row)
{
    char tags[128];
    words->verdict = verdict_name(row->verdict);
    comparison_row_text(row, words->name);
    side_value(words->base, row, row->base_ns, row->base_value);
    side_value(words->candidate, row, row->candidate_ns, row->candidate_value);
    comparison_change_text(row->ratio.mid, comparison_decimals(row), words->change);
    comparison_ratio_text(row, words->ratio, sizeof words->ratio);
    units_percent(words->floor, isnan(row->ratio.mid) ? NAN : row->floor);
    units_percent(words->finds, row->mde);
    words->why[0] = '\0';
    part(words->why, "%s", row->reason);
    tags_text(row->tags, tags, sizeof tags);
    part(words->why, "%s", tags);
}

enum mood verdict_mood(enum verdict verdict)
{
    if (verdict <= VERDICT_REGRESSED) return MOOD_BAD;
    if (verdict <= VERDICT_INCOMPARABLE) return MOOD_OPEN;
    return verdict == VERDICT_IMPROVED ? MOOD_GOOD : MOOD_PLAIN;
}
