/*
 * size_class.h - the names of the size classes; size_class_solve is in plan.h.
 *
 *   l2    the working set (every byte read and written once) is at most a
 *         quarter of the device's cache: hot runs hit it whatever its policy
 *   vram  it is at least eight times the cache: what stays in the cache by
 *         chance is a small share
 *
 * Factors in front scale those bytes: 2*l2 is at most half of the cache.
 */
#ifndef SIZE_CLASS_H
#define SIZE_CLASS_H

enum { SIZE_CLASSES = 2 };
extern const char *const size_class_names[SIZE_CLASSES];

#endif
