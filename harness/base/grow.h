/*
 * grow.h - arrays that grow by one element at a time: the capacity is the next power of two, so
 * nobody keeps it, and what is large is copied a few times and not once for each element.
 */
#ifndef GROW_H
#define GROW_H

#include <stdlib.h>

/* The array with room for one more behind `count`, which it was grown to by this alone; it may
 * have moved. NULL: out of memory, and it is where it was. */
static inline void *grow_by_one(void *array, int count, size_t size)
{
    if (count & (count - 1)) return array;
    return realloc(array, (count ? 2 * (size_t)count : 1) * size);
}

#endif
