/* comparison_ci.c - a comparison as JUnit XML and as GitHub annotations. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/markup.h"
#include "base/text.h"
#include "show/comparison_formats.h"

/* GitHub shows ten annotations of each kind per step and drops the others silently. */
enum { MOST_ANNOTATIONS = 10 };

enum outcome { OUTCOME_GOOD, OUTCOME_FAILURE, OUTCOME_ERROR, OUTCOME_SKIPPED, OUTCOMES };

static enum outcome outcome_of(const struct comparison_row *row)
{
    if (row->tags & TAG_ACK) return OUTCOME_SKIPPED;
    if (row->verdict == VERDICT_REGRESSED) return OUTCOME_FAILURE;
    if (row->verdict < VERDICT_REGRESSED) return OUTCOME_ERROR;
    return row->verdict < VERDICT_IMPROVED ? OUTCOME_SKIPPED : OUTCOME_GOOD;
}

/* "REGRESSED +3.4 % [+2.1, +4.7], 5.28 us to 5.46 us: why; finds 3.1 %". */
static void message_text(const struct comparison_words *words, const struct comparison_row *row,
                         char out[WORDS_LINE])
{
    snprintf(out, WORDS_LINE, "%s", words->verdict);
    if (!isnan(row->ratio.mid))
        text_add(out, WORDS_LINE, "", " %s, %s to %s", words->ratio, words->base, words->candidate);
    text_part(out, WORDS_LINE, ": ", "%.300s", words->why);
    if (!isnan(row->mde)) text_add(out, WORDS_LINE, "; ", "finds %s", words->finds);
}

static void testcase(FILE *out, const struct comparison_row *row)
{
    static const char *const element[OUTCOMES] = {NULL, "failure", "error", "skipped"};
    struct comparison_words words;
    char message[WORDS_LINE];
    comparison_words(&words, row);
    message_text(&words, row, message);
    xml_print(out, "  <testcase classname=\"%s\" name=\"%s\"", row->id.operation,
              words.name + strlen(row->id.operation) + 1);
    if (row->candidate_ns > 0) fprintf(out, " time=\"%.9f\"", row->candidate_ns * 1e-9);
    enum outcome outcome = outcome_of(row);
    if (outcome == OUTCOME_GOOD)
        fputs("/>\n", out);
    else
        xml_print(out, "><%s message=\"%s\"/></testcase>\n", element[outcome], message);
}

/* Needed because most readers of JUnit show a suite of skipped tests, or of none, as passed. */
static bool is_unjudged(const struct comparison *comparison, char message[WORDS_LINE])
{
    if (comparison->lost[0])
        snprintf(message, WORDS_LINE, "%s", comparison->lost);
    else if (comparison->exit == EXIT_NOTHING)
        unjudged_text(comparison, message);
    else
        return false;
    return true;
}

int comparison_junit(FILE *out, const struct comparison *comparison)
{
    char why[WORDS_LINE];
    int count[OUTCOMES] = {0};
    for (int i = 0; i < comparison->count; i++)
        count[outcome_of(&comparison->rows[i])]++;
    bool unjudged = is_unjudged(comparison, why);
    xml_print(out,
              "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"assay %s\" "
              "tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n",
              comparison->candidate.suite, comparison->count + unjudged, count[OUTCOME_FAILURE],
              count[OUTCOME_ERROR] + unjudged, count[OUTCOME_SKIPPED]);
    for (int i = 0; i < comparison->count; i++)
        testcase(out, &comparison->rows[i]);
    if (unjudged)
        xml_print(out,
                  "  <testcase classname=\"assay\" name=\"%s\">"
                  "<error message=\"%s\"/></testcase>\n",
                  comparison->lost[0] ? "every node" : "enough of the cases", why);
    fputs("</testsuite>\n", out);
    return ferror(out) ? assay_error("cannot write the report: %s", strerror(errno)) : 0;
}

static void annotation(FILE *out, const char *kind, const char *title, const char *message)
{
    fprintf(out, "::%s title=", kind);
    markup_command(out, title, 1);
    fputs("::", out);
    markup_command(out, message, 0);
    fputc('\n', out);
}

static bool is_of_kind(const struct comparison_row *row, bool severe)
{
    enum outcome outcome = outcome_of(row);
    return severe ? outcome == OUTCOME_FAILURE || outcome == OUTCOME_ERROR
                  : outcome == OUTCOME_SKIPPED;
}

/* Write at most `most` annotations; the last one says how many were left out. */
static void annotations_of(FILE *out, const struct comparison *comparison, const char *kind,
                           bool severe, int most)
{
    struct comparison_words words;
    char message[WORDS_LINE];
    int total = 0, written = 0;
    for (int i = 0; i < comparison->count; i++)
        total += is_of_kind(&comparison->rows[i], severe);
    for (int i = 0; i < comparison->count; i++) {
        if (!is_of_kind(&comparison->rows[i], severe)) continue;
        if (total > most && written == most - 1) {
            snprintf(message, sizeof message, "%d more are in the report", total - written);
            annotation(out, kind, "assay", message);
            return;
        }
        comparison_words(&words, &comparison->rows[i]);
        message_text(&words, &comparison->rows[i], message);
        annotation(out, kind, words.name, message);
        written++;
    }
}

int comparison_annotations(FILE *out, const struct comparison *comparison)
{
    char why[WORDS_LINE];
    /* First, so that it is among those that GitHub shows. */
    bool unjudged = is_unjudged(comparison, why);
    if (unjudged) annotation(out, "error", "assay", why);
    annotations_of(out, comparison, "error", true, MOST_ANNOTATIONS - unjudged);
    annotations_of(out, comparison, "warning", false, MOST_ANNOTATIONS);
    return ferror(out) ? assay_error("cannot write the annotations: %s", strerror(errno)) : 0;
}
