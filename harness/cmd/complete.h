/*
 * complete.h - what may stand at the end of a half-typed command line: commands
 * and options from their table, and the names that suites, the registry and the
 * database know. The shells' scripts (completions/) only ask and show.
 */
#ifndef COMPLETE_H
#define COMPLETE_H

#include <stdio.h>

#include "cmd/commands.h"

/* Write, one a line, what may stand for the last of `words` ("" when it is still to
 * come); words[0] is the program. The line ":files" stands for the names of files.
 * Names that cannot be had (no database yet) are left out in silence. */
void complete_line(FILE *out, char *const *words, int count);

#endif
