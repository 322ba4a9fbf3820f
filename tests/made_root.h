/* made_root.h - a folder in the place of the root of the file system, with files made in it. */
#pragma once

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/test.h"

static char root[PATH_MAX / 2];

static inline int make_root(void **state)
{
    const char *parent = getenv("TMP") ? getenv("TMP") : "/tmp";
    snprintf(root, sizeof root, "%s/assay-root.XXXXXX", parent);
    return mkdtemp(root) ? 0 : -1;
}

static inline int remove_root(void **state)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

#define ROOT_TEST(name) TEST_WITH(name, make_root, remove_root)

/* A file below the root, with the folders on its way. */
static inline void put_bytes(const char *path, const char *bytes, size_t length)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static inline void put(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}
