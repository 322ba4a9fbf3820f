/*
 * suite_folder.h - a folder of its own for the suite files that a test writes.
 * The test runs inside it, so that files are named as in "x.ini:3: ...".
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char suite_folder[64];

static int enter_suite_folder(void **state)
{
    snprintf(suite_folder, sizeof suite_folder, "/tmp/assay_test_XXXXXX");
    if (!mkdtemp(suite_folder) || chdir(suite_folder)) return -1;
    return setenv("ASSAY_SUITES", suite_folder, 1);
}

static int leave_suite_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", suite_folder);
    return chdir("/") || system(command);
}

static void write_bytes(const char *name, const char *text, size_t count)
{
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, count, out), count);
    assert_int_equal(fclose(out), 0);
}

static void write_suite(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}
