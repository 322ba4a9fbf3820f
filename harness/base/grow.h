/*
 * grow.h - arrays that grow by one element at a time. The capacity is the next power of
 * two of the count, so it need not be stored, and appending n elements copies O(n).
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "assay.h"

/* Make space for element number `count` in an array that only this function has grown.
 * Returns the array, which may have moved; NULL when out of memory, and then the old
 * array is still valid. */
static inline void *grow_by_one(void *array, int count, size_t size)
{
    if (count & (count - 1)) return array;
    return realloc(array, (count ? 2 * (size_t)count : 1) * size);
}

/* Append an element of zeros. `list` points to the array's pointer, *count is one more then.
 * Returns the element; NULL with assay_error("out of memory for WHAT"), and then nothing has
 * changed. */
static inline void *grow_add(void *list, int *count, size_t size, const char *what)
{
    void *array;
    memcpy(&array, list, sizeof array);
    array = grow_by_one(array, *count, size);
    if (!array) {
        assay_error("out of memory for %s", what);
        return NULL;
    }
    memcpy(list, &array, sizeof array);
    return memset((char *)array + (size_t)(*count)++ * size, 0, size);
}

/* The same of a copy of the `size` bytes of `element`. 0, or -1 with assay_error. */
static inline int grow_keep(void *list, int *count, const void *element, size_t size,
                            const char *what)
{
    void *added = grow_add(list, count, size, what);
    if (added) memcpy(added, element, size);
    return added ? 0 : -1;
}
