/* comparison_ci.c - a comparison as JUnit XML and as GitHub annotations. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/exit_code.h"
#include "base/markup.h"
#include "base/units.h"
#include "show/comparison_formats.h"
#include "show/comparison_words.h"

/* GitHub shows ten annotations of each kind per step and drops the others silently. */
enum { MOST_ANNOTATIONS = 10 };

enum outcome { OUTCOME_GOOD, OUTCOME_FAILURE, OUTCOME_ERROR, OUTCOME_SKIPPED, OUTCOMES };

static enum outcome outcome_of(const struct comparison_row *row)
{
    if (row->tags & TAG_ACK) return OUTCOME_SKIPPED;
    switch (row->verdict) {
    case VERDICT_ERROR:
    case VERDICT_MISSING:
        return OUTCOME_ERROR;
    case VERDICT_REGRESSED:
        return OUTCOME_FAILURE;
    case VERDICT_PASS:
    case VERDICT_IMPROVED:
    case VERDICT_NEW:
        return OUTCOME_GOOD;
    default:
        return OUTCOME_SKIPPED;
    }
}

/* "REGRESSED 1.034x [1.021, 1.047]: why; finds 3.1 %". */
static void message_text(const struct comparison_row *row, char out[WORDS_LINE])
{
    char ratio[64], why[WORDS_LINE], finds[UNITS_MAX];
    bool is_measured = !isnan(row->ratio.mid);
    comparison_ratio_text(row, ratio, sizeof ratio);
    why_text(row, why);
    units_percent(finds, row->mde);
    snprintf(out, WORDS_LINE, "%s%s%s%s%.300s%s%s", verdict_name(row->verdict),
             is_measured ? " " : "", is_measured ? ratio : "", why[0] ? ": " : "", why,
             isnan(row->mde) ? "" : "; finds ", isnan(row->mde) ? "" : finds);
}

static void testcase(FILE *out, const struct comparison_row *row)
{
    static const char *const element[OUTCOMES] = {NULL, "failure", "error", "skipped"};
    char name[CASE_TEXT], message[WORDS_LINE];
    comparison_row_text(row, name);
    fputs("  <testcase classname=\"", out);
    markup_xml(out, row->id.operation);
    fputs("\" name=\"", out);
    markup_xml(out, name + strlen(row->id.operation) + 1);
    fputs("\"", out);
    if (row->candidate_ns > 0) fprintf(out, " time=\"%.9f\"", row->candidate_ns * 1e-9);
    message_text(row, message);
    enum outcome outcome = outcome_of(row);
    if (outcome == OUTCOME_GOOD) {
        fputs("/>\n", out);
        return;
    }
    fprintf(out, "><%s message=\"", element[outcome]);
    markup_xml(out, message);
    fputs("\"/></testcase>\n", out);
}

/* "nothing was compared: the driver differs"; false if something was. Needed because most
 * readers of JUnit show a suite of skipped tests, or of none, as passed. */
static bool nothing_was_compared(const struct comparison *comparison, char message[WORDS_LINE])
{
    char why[WORDS_LINE];
    if (comparison->exit != EXIT_NOTHING) return false;
    nothing_text(comparison, why);
    snprintf(message, WORDS_LINE, "nothing was compared: %.480s", why);
    return true;
}

int comparison_junit(FILE *out, const struct comparison *comparison)
{
    char why[WORDS_LINE];
    int count[OUTCOMES] = {0};
    for (int i = 0; i < comparison->count; i++)
        count[outcome_of(&comparison->rows[i])]++;
    bool nothing = nothing_was_compared(comparison, why);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"assay ", out);
    markup_xml(out, comparison->candidate.suite);
    fprintf(out, "\" tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n",
            comparison->count + nothing, count[OUTCOME_FAILURE], count[OUTCOME_ERROR] + nothing,
            count[OUTCOME_SKIPPED]);
    for (int i = 0; i < comparison->count; i++)
        testcase(out, &comparison->rows[i]);
    if (nothing) {
        fputs("  <testcase classname=\"assay\" name=\"anything at all\"><error message=\"", out);
        markup_xml(out, why);
        fputs("\"/></testcase>\n", out);
    }
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

/* Write at most `most` annotations; the last one says how many were left out. */
static void annotations_of(FILE *out, const struct comparison *comparison, const char *kind,
                           bool severe, int most)
{
    int total = 0, written = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < comparison->count; i++) {
            const struct comparison_row *row = &comparison->rows[i];
            enum outcome outcome = outcome_of(row);
            bool is_severe = outcome == OUTCOME_FAILURE || outcome == OUTCOME_ERROR;
            if (outcome == OUTCOME_GOOD || is_severe != severe) continue;
            total += pass == 0;
            if (pass == 0) continue;
            char name[WORDS_LINE], message[WORDS_LINE];
            if (total > most && written == most - 1) {
                snprintf(message, sizeof message, "%d more are in the report", total - written);
                annotation(out, kind, "assay", message);
                return;
            }
            comparison_row_text(row, name);
            message_text(row, message);
            annotation(out, kind, name, message);
            written++;
        }
    }
}

int comparison_annotations(FILE *out, const struct comparison *comparison)
{
    char why[WORDS_LINE];
    /* First, so that it is among those that GitHub shows. */
    bool nothing = nothing_was_compared(comparison, why);
    if (nothing) annotation(out, "error", "assay", why);
    annotations_of(out, comparison, "error", true, MOST_ANNOTATIONS - nothing);
    annotations_of(out, comparison, "warning", false, MOST_ANNOTATIONS);
    return ferror(out) ? assay_error("cannot write the annotations: %s", strerror(errno)) : 0;
}
