#include <math.h>
#include <stdio.h>

#include "measure/coverage.h"

/* The poison does not depend on what is written, so the number of elements that equal it by chance
 * has a binomial distribution, whatever the outputs. The limit is eight standard deviations above
 * the mean, plus four elements where the mean is far below one; chance passes it once in 10^9
 * outputs. */
bool coverage_is_short(const struct unwritten *left, int64_t count, size_t bytes)
{
    double mean = ldexp((double)count, -8 * (int)bytes);
    return left->words > 0 || (double)left->elements > mean + 8 * sqrt(mean) + 4;
}

int64_t coverage_missing(const struct buffers *buffers, char *reason, size_t size)
{
    for (int b = 0; b < buffers->count; b++) {
        const struct assay_buffer *spec = &buffers->spec[b];
        size_t bytes = assay_type_bytes(spec->type);
        struct element_range part = buffers->poisoned[b];
        const char *data = (const char *)buffers->data[b] + (size_t)part.begin * bytes;
        struct unwritten left;
        char where[64] = "";
        if (spec->role != ASSAY_OUT) continue;
        if (buffers->ops->unwritten(buffers->device, data, spec->type, part.count,
                                    buffers_poison_seed(buffers, b), &left) < 0)
            return -1;
        if (!coverage_is_short(&left, part.count, bytes)) continue;
        if (left.words > 0)
            snprintf(where, sizeof where, ", the first at %s[%lld]", spec->name,
                     (long long)(part.begin + left.first * (int64_t)(sizeof(uint64_t) / bytes)));
        snprintf(reason, size, "%lld of %lld elements of '%s' were not written%s",
                 (long long)left.elements, (long long)part.count, spec->name, where);
        return left.elements;
    }
    return 0;
}
