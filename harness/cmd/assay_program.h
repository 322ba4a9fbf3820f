/*
 * assay_program.h - the whole program as a function, for main() and for a process of another
 * language that holds this program as a library.
 */
#pragma once

#include "assay.h"

/*
 * Find the command in argv (argv[0] is the program's name), run it, and see that its output
 * arrived; returns the exit code. `objects` (NULL where object_count is 0) are operations and
 * variants beside those that were linked in; they stay valid until the process ends.
 *
 * `self` is the command that starts this very program again, a list ended by NULL: workers are
 * started as "SELF... worker", so what it starts must call this with the same objects. NULL: the
 * file of this process.
 */
int assay_program(const char *const *self, const struct assay_object *const *objects,
                  int object_count, int argc, char **argv);
