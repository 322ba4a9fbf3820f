/* comparison_place.c - names the place (host or cuda) of variants that ran at both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/comparison.h"

static int by_variant(const void *a, const void *b)
{
    const struct case_id *x = &(*(struct comparison_row *const *)a)->id;
    const struct case_id *y = &(*(struct comparison_row *const *)b)->id;
    int order = strcmp(x->operation, y->operation);
    return order ? order : strcmp(x->variant, y->variant);
}

/* `rows` are all rows of one variant. */
static void mark(struct comparison_row **rows, int count)
{
    bool differ = false;
    for (int i = 1; i < count; i++)
        differ |= rows[i]->id.place != rows[0]->id.place;
    for (int i = 0; i < count; i++)
        rows[i]->names_place = differ;
}

int comparison_mark_places(struct comparison *comparison)
{
    struct comparison_row **rows = calloc((size_t)comparison->count + 1, sizeof(*rows));
    if (!rows) return assay_error("out of memory for the rows");
    for (int i = 0; i < comparison->count; i++)
        rows[i] = &comparison->rows[i];
    qsort(rows, (size_t)comparison->count, sizeof(*rows), by_variant);
    for (int begin = 0, end; begin < comparison->count; begin = end) {
        end = begin + 1;
        while (end < comparison->count && by_variant(&rows[begin], &rows[end]) == 0)
            end++;
        mark(rows + begin, end - begin);
    }
    free(rows);
    return 0;
}

void comparison_row_text(const struct comparison_row *row, char *out, size_t size)
{
    comparison_case_text(&row->id, out, size);
    size_t used = strlen(out);
    if (row->names_place && used < size)
        snprintf(out + used, size - used, ", %s", place_name((enum assay_place)row->id.place));
}
