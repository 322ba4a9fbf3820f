#include "judge/comparison.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "judge/timings.h"

const char *evidence_name(enum evidence evidence)
{
    static const char *const names[EVIDENCES] = {"none", "samples", "range", "launches", "turns"};
    return names[evidence];
}

enum verdict row_decide(struct comparison_row *row, enum verdict verdict, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(row->reason, sizeof row->reason, format, arguments);
    va_end(arguments);
    return row->verdict = verdict;
}

void comparison_row_doubt(struct comparison_row *row)
{
    bool found_none = row->verdict == VERDICT_PASS || row->verdict == VERDICT_INCONCLUSIVE;
    if (verdict_is_change(row->verdict) && (row->tags & TAG_CLOCK))
        row_decide(row, VERDICT_UNSTABLE, "the clock differed, the cycles did not");
    else if (found_none && row->noisy[0])
        row_decide(row, VERDICT_UNSTABLE, "noisy: %s", row->noisy);
}

struct comparison_row *comparison_add_row(struct comparison *comparison, const struct case_id *id)
{
    struct comparison_row *row = &comparison->rows[comparison->count++];
    *row = (struct comparison_row){.id = *id, .metric = comparison->metric};
    row->ratio = (struct interval){NAN, NAN, NAN};
    row->base_ns = row->candidate_ns = row->threshold = row->floor = NAN;
    row->noise = row->quantum = row->mde = row->fence = row->p_slower = row->p_faster =
        row->p_least = row->base_value = row->candidate_value = NAN;
    return row;
}

void comparison_note(struct comparison *comparison, const char *format, ...)
{
    char text[COMPARISON_NOTE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (int i = 0; i < comparison->note_count; i++)
        if (strcmp(comparison->note[i], text) == 0) return;
    if (comparison->note_count < COMPARISON_NOTES)
        strcpy(comparison->note[comparison->note_count++], text);
}

void comparison_side_of(struct comparison_side *side, const struct stored_run *run)
{
    text_copy(side->id, sizeof side->id, run->run.id);
    text_copy(side->suite, sizeof side->suite, run->run.suite);
    text_copy(side->label, sizeof side->label, run->run.label);
    text_copy(side->version, sizeof side->version, run->program.version);
    text_copy(side->commit, sizeof side->commit, run->program.commit);
    text_copy(side->diff_hash, sizeof side->diff_hash, run->program.diff_hash);
    for (int i = 0; i < run->run.object_count; i++)
        text_add(side->objects, sizeof side->objects, ", ", "%s %.8s", run->run.objects[i].name,
                 run->run.objects[i].sha256);
    text_copy(side->command, sizeof side->command, run->run.command);
    text_copy(side->started_at, sizeof side->started_at, run->started_at);
    side->launches = stored_run_rounds(run); /* of each case */
    side->simulated = run->run.simulated;
    if (run->launch_count == 0) return;
    const struct device_info *device = &run->launches[0].device;
    text_copy(side->spec, sizeof side->spec, device->spec);
    text_copy(side->device, sizeof side->device, device->name);
    text_copy(side->uuid, sizeof side->uuid, device->uuid);
    text_copy(side->driver, sizeof side->driver, device->driver);
}

/* ---------------------------------------------------------------- order -- */

enum comparison_section comparison_section(const struct comparison_row *row)
{
    static const enum comparison_section sections[VERDICTS] = {
        [VERDICT_ERROR] = SECTION_SLOWER,      [VERDICT_MISSING] = SECTION_SLOWER,
        [VERDICT_REGRESSED] = SECTION_SLOWER,  [VERDICT_SUSPECT] = SECTION_SLOWER,
        [VERDICT_UNSTABLE] = SECTION_OPEN,     [VERDICT_INCONCLUSIVE] = SECTION_OPEN,
        [VERDICT_INCOMPARABLE] = SECTION_OPEN, [VERDICT_IMPROVED] = SECTION_FASTER,
        [VERDICT_NEW] = SECTION_OPEN,          [VERDICT_PASS] = SECTION_SAME,
        [VERDICT_UNCHANGED] = SECTION_SAME,
    };
    bool looks_faster = row->verdict == VERDICT_SUSPECT && (row->tags & TAG_FASTER);
    return looks_faster ? SECTION_FASTER : sections[row->verdict];
}

static double size_of_change(const struct comparison_row *row)
{
    return isnan(row->ratio.mid) ? 0 : fabs(log(row->ratio.mid));
}

static int by_section(const void *a, const void *b)
{
    const struct comparison_row *x = a, *y = b;
    enum comparison_section section = comparison_section(x), other = comparison_section(y);
    if (section != other) return section < other ? -1 : 1;
    if (x->verdict != y->verdict) /* IMPROVED before SUSPECT */
        return (x->verdict < y->verdict) != (section == SECTION_FASTER) ? -1 : 1;
    int reasons = section == SECTION_OPEN ? strcmp(x->reason, y->reason) : 0;
    if (reasons != 0) return reasons;
    double change_x = size_of_change(x), change_y = size_of_change(y);
    if (change_x != change_y) return change_x > change_y ? -1 : 1;
    return case_id_order(&x->id, &y->id);
}

static int by_variant(const void *a, const void *b)
{
    const struct comparison_row *x = a, *y = b;
    int order = strcmp(x->id.operation, y->id.operation);
    return order ? order : strcmp(x->id.variant, y->id.variant);
}

/* The words of a case behind its name. */
static void words_of(const struct comparison_row *row, char out[CASE_TEXT])
{
    struct case_id nameless = row->id;
    nameless.operation[0] = nameless.variant[0] = '\0';
    case_text(&nameless, out);
    memmove(out, out + 2, strlen(out + 2) + 1); /* "/ n=1 cold" */
}

/* Keep those of `words` that `others` has; with `drop` those that it has not. */
static void keep_words(char *words, const char *others, bool drop)
{
    char copy[CASE_TEXT], padded[CASE_TEXT + 2], *rest = copy;
    strcpy(copy, words);
    words[0] = '\0';
    snprintf(padded, sizeof padded, " %s ", others);
    for (char *word; (word = strsep(&rest, " "));) {
        char wanted[CASE_TEXT + 2];
        snprintf(wanted, sizeof wanted, " %s ", word);
        if ((strstr(padded, wanted) != NULL) != drop) text_add(words, CASE_TEXT, " ", "%s", word);
    }
}

/* Ratios of shares and of speed-ups have no mean in common. */
static bool is_share(const struct comparison_row *row)
{
    return row->metric && strcmp(row->metric, "share") == 0;
}

/* Of the rows of one operation, which are `count` from here; until the end `ratio` holds the sum
 * of logarithms. */
static void fill_family(struct comparison_family *family, const struct comparison_row *rows,
                        int count)
{
    char words[CASE_TEXT];
    memset(family, 0, sizeof *family);
    strcpy(family->operation, rows->id.operation);
    words_of(rows, family->common);
    for (int i = 0; i < count; i++) {
        words_of(&rows[i], words);
        if (family->common[0]) keep_words(family->common, words, false);
        if (isnan(rows[i].ratio.mid) || is_share(&rows[i])) continue;
        family->ratio += log(rows[i].ratio.mid);
        family->cases++;
    }
    family->ratio = exp(family->ratio / family->cases);
}

/* One for each operation that has a ratio, of rows that are ordered by operation. */
static int make_families(struct comparison *comparison)
{
    const struct comparison_row *rows = comparison->rows;
    struct comparison_family *family = calloc((size_t)comparison->count + 1, sizeof *family);
    int count = 0;
    free(comparison->families);
    comparison->families = family;
    comparison->family_count = 0;
    if (!family) return assay_error("out of memory for the families");
    for (int begin = 0, end = 0; begin < comparison->count; begin = end) {
        while (end < comparison->count &&
               strcmp(rows[begin].id.operation, rows[end].id.operation) == 0)
            end++;
        fill_family(&family[count], &rows[begin], end - begin);
        count += family[count].cases > 0;
    }
    comparison->family_count = count;
    return 0;
}

/* Set names_place of every row, whether its variant ran on host and on CUDA; they are ordered by
 * variant. */
static void mark_places(struct comparison_row *rows, int count)
{
    for (int begin = 0, end = 0; begin < count;) {
        bool differ = false;
        for (; end < count && by_variant(&rows[begin], &rows[end]) == 0; end++)
            differ |= rows[end].id.place != rows[begin].id.place;
        while (begin < end)
            rows[begin++].names_place = differ;
    }
}

bool comparison_has_common_case(const struct comparison *comparison)
{
    for (int i = 0; i < comparison->count; i++)
        if (comparison->rows[i].verdict != VERDICT_NEW &&
            comparison->rows[i].verdict != VERDICT_MISSING)
            return true;
    return false;
}

static void tally_row(struct verdict_tally *tally, const struct comparison_row *row)
{
    bool acknowledged = row->tags & TAG_ACK;
    bool blocks = !acknowledged;
    if (row->verdict == VERDICT_SUSPECT && (row->tags & TAG_FASTER)) blocks = false;
    tally->counts[row->verdict]++;
    tally->blocking[row->verdict] += blocks;
    tally->redefined += (row->tags & TAG_REDEFINED) && blocks;
    if (row->verdict == VERDICT_NEW) return;
    tally->cases++;
    tally->judged += verdict_is_judged(row->verdict) || acknowledged;
}

int comparison_finish(struct comparison *comparison, unsigned fail_on)
{
    comparison->tally = (struct verdict_tally){.least_judged = comparison->tally.least_judged};
    for (int i = 0; i < comparison->count; i++)
        tally_row(&comparison->tally, &comparison->rows[i]);
    comparison->exit = verdict_exit(&comparison->tally, fail_on);
    size_t count = (size_t)comparison->count;
    if (count) qsort(comparison->rows, count, sizeof *comparison->rows, by_variant);
    mark_places(comparison->rows, comparison->count);
    if (make_families(comparison) != 0) return -1;
    if (count) qsort(comparison->rows, count, sizeof *comparison->rows, by_section);
    return 0;
}

void comparison_release(struct comparison *comparison)
{
    free(comparison->rows);
    free(comparison->families);
    comparison->rows = NULL;
    comparison->families = NULL;
    comparison->count = comparison->family_count = 0;
}

/* ---------------------------------------------------------------- words -- */

void comparison_change_text(double ratio, int decimals, char out[UNITS_MAX])
{
    double scale = pow(10, decimals), change = round(100 * scale * (ratio - 1)) / scale;
    if (isnan(change))
        strcpy(out, "-");
    else if (change == 0)
        snprintf(out, UNITS_MAX, "%.*f %%", decimals, 0.0); /* never "-0.0 %" */
    else if (fabs(change) < 1e6)
        snprintf(out, UNITS_MAX, "%+.*f %%", decimals, change);
    else
        snprintf(out, UNITS_MAX, "%+.3g %%", change);
}

int comparison_decimals(const struct comparison_row *row)
{
    return row->floor < 0.0025 ? 3 : 1;
}

void comparison_ratio_text(const struct comparison_row *row, char *out, size_t size)
{
    char mid[UNITS_MAX], lo[UNITS_MAX], hi[UNITS_MAX];
    int decimals = comparison_decimals(row);
    comparison_change_text(row->ratio.mid, decimals, mid);
    comparison_change_text(row->ratio.lo, decimals, lo);
    comparison_change_text(row->ratio.hi, decimals, hi);
    /* The unit once, behind the change. */
    if (isnan(row->ratio.mid) || isnan(row->ratio.lo))
        snprintf(out, size, "%s", mid);
    else
        snprintf(out, size, "%s [%.*s, %.*s]", mid, (int)strcspn(lo, " "), lo,
                 (int)strcspn(hi, " "), hi);
}

static void add_place(const struct comparison_row *row, char out[CASE_TEXT])
{
    if (row->names_place)
        text_add(out, CASE_TEXT, " ", "%s", place_name((enum assay_place)row->id.place));
}

void comparison_row_text(const struct comparison_row *row, char out[CASE_TEXT])
{
    case_text(&row->id, out);
    add_place(row, out);
}

void comparison_short_text(const struct comparison *comparison, const struct comparison_row *row,
                           char out[CASE_TEXT])
{
    char words[CASE_TEXT];
    words_of(row, words);
    for (int i = 0; i < comparison->family_count; i++)
        if (strcmp(comparison->families[i].operation, row->id.operation) == 0)
            keep_words(words, comparison->families[i].common, true);
    snprintf(out, CASE_TEXT, "%s/%s", row->id.operation, row->id.variant);
    text_part(out, CASE_TEXT, " ", "%s", words);
    add_place(row, out);
}
