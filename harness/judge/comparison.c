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
    static const char *const names[EVIDENCES] = {"none", "samples", "range", "launches"};
    return names[evidence];
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
    text_copy(side->started_at, sizeof side->started_at, run->started_at);
    side->launches = run->launch_count;
    side->simulated = run->run.simulated;
    if (run->launch_count == 0) return;
    const struct device_info *device = &run->launches[0].device;
    text_copy(side->device, sizeof side->device, device->name);
    text_copy(side->uuid, sizeof side->uuid, device->uuid);
    text_copy(side->driver, sizeof side->driver, device->driver);
}

/* Order by verdict, then by size of the change. */
static int worst_first(const void *a, const void *b)
{
    const struct comparison_row *x = a, *y = b;
    if (x->verdict != y->verdict) return x->verdict < y->verdict ? -1 : 1;
    double change_x = isnan(x->ratio.mid) ? 0 : fabs(log(x->ratio.mid));
    double change_y = isnan(y->ratio.mid) ? 0 : fabs(log(y->ratio.mid));
    if (change_x != change_y) return change_x > change_y ? -1 : 1;
    return case_id_order(&x->id, &y->id);
}

static int by_variant(const void *a, const void *b)
{
    const struct comparison_row *x = a, *y = b;
    int order = strcmp(x->id.operation, y->id.operation);
    return order ? order : strcmp(x->id.variant, y->id.variant);
}

/* Geometric mean per operation of rows that are ordered by operation; until the end `ratio` holds
 * the sum of logarithms. */
static int make_families(struct comparison *comparison)
{
    struct comparison_family *family = calloc((size_t)comparison->count + 1, sizeof *family);
    int count = 0;
    free(comparison->families);
    comparison->families = family;
    comparison->family_count = 0;
    if (!family) return assay_error("out of memory for the families");
    for (int i = 0; i < comparison->count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        if (isnan(row->ratio.mid)) continue;
        if (count == 0 || strcmp(family[count - 1].operation, row->id.operation) != 0)
            strcpy(family[count++].operation, row->id.operation);
        family[count - 1].ratio += log(row->ratio.mid);
        family[count - 1].cases++;
    }
    for (int i = 0; i < count; i++)
        family[i].ratio = exp(family[i].ratio / family[i].cases);
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
    if (count) qsort(comparison->rows, count, sizeof *comparison->rows, worst_first);
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

void comparison_ratio_text(const struct comparison_row *row, char *out, size_t size)
{
    if (isnan(row->ratio.mid))
        snprintf(out, size, "-");
    else if (isnan(row->ratio.lo))
        snprintf(out, size, "%.3fx", row->ratio.mid);
    else
        snprintf(out, size, "%.3fx [%.3f, %.3f]", row->ratio.mid, row->ratio.lo, row->ratio.hi);
}

void comparison_row_text(const struct comparison_row *row, char out[CASE_TEXT])
{
    case_text(&row->id, out);
    size_t used = strlen(out);
    if (row->names_place)
        snprintf(out + used, CASE_TEXT - used, " %s", place_name((enum assay_place)row->id.place));
}
