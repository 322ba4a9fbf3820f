/* golden.h - figures of other programs (tests/golden). */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

enum { GOLDEN_FIELDS = 9 };

/* Calls `check` with each line of that kind, split at its tabs; how many there are. */
static inline int golden_lines(const char *path, const char *kind,
                               void (*check)(char **field, const char *line))
{
    FILE *file = fopen(path, "r"); /* tests run in the root */
    char *line = NULL;
    size_t size = 0;
    int count = 0;
    assert_non_null(file);
    while (getline(&line, &size, file) > 0) {
        char *copy = strdup(line), *rest = copy, *field[GOLDEN_FIELDS];
        for (int i = 0; i < GOLDEN_FIELDS; i++)
            field[i] = rest ? strsep(&rest, "\t\n") : "";
        if (strcmp(field[0], kind) == 0) {
            check(field, line);
            count++;
        }
        free(copy);
    }
    free(line);
    fclose(file);
    return count;
}
