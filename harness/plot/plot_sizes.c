#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "plot/plot_sizes.h"

void plot_size_of(const char *shape, char out[RESULT_MAX_SHAPE])
{
    size_t used = 0;
    out[0] = '\0';
    for (; *shape; shape += strspn(shape, " ")) {
        int length = (int)strcspn(shape, " ");
        const char *value = memchr(shape, '=', (size_t)length);
        bool whole = value && value + 1 < shape + length;
        for (const char *c = value + 1; whole && c < shape + length; c++)
            whole = isdigit((unsigned char)*c);
        if (whole)
            used += (size_t)snprintf(out + used, RESULT_MAX_SHAPE - used, "%s%.*s", used ? " " : "",
                                     length, shape);
        shape += length;
    }
}

struct sized {
    char size[RESULT_MAX_SHAPE];
    double bytes; /* of the case */
    int row;
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    int order = strcmp(x->size, y->size);
    return order ? order : x->row - y->row;
}

/* The most frequent size of a sorted list. The first entry represents its size. */
static const struct sized *most(const struct sized *list, int count)
{
    const struct sized *best = NULL;
    int best_cases = 0;
    for (int from = 0, to; from < count; from = to) {
        const struct sized *first = &list[from];
        for (to = from; to < count && !strcmp(list[to].size, first->size);)
            to++;
        int cases = to - from;
        if (best && cases < best_cases) continue;
        if (best && cases == best_cases && first->bytes < best->bytes) continue;
        if (best && cases == best_cases && first->bytes == best->bytes && first->row > best->row)
            continue;
        best = first;
        best_cases = cases;
    }
    return best;
}

int plot_size_most(const struct view_row *const *rows, int count, char out[RESULT_MAX_SHAPE])
{
    struct sized *list = calloc((size_t)count + 1, sizeof *list);
    if (!list) return assay_error("out of memory for the sizes");
    for (int i = 0; i < count; i++) {
        plot_size_of(rows[i]->result.id.shape, list[i].size);
        list[i].bytes = view_bytes(&rows[i]->result.work);
        list[i].row = i;
    }
    qsort(list, (size_t)count, sizeof *list, by_size);
    const struct sized *best = most(list, count);
    snprintf(out, RESULT_MAX_SHAPE, "%s", best ? best->size : "");
    free(list);
    return 0;
}
