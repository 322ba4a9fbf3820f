/* test_code_read.c - the machine code of two programs, by the tools that are there. cuobjdump is a
 * script here, which hands out two cubins: of their two kernels one differs. */
#define _GNU_SOURCE /* memmem */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/test.h"
#include "base/error.h"
#include "base/temp_folder.h"
#include "device/code_read.h"
#include "synthetic_cubin.h"

static struct temp_folder folder;
static char path[2 * PATH_MAX];

static const char *in_folder(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", folder.path, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t size, const char *more)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    if (more) assert_int_equal(fwrite(more, 1, strlen(more) + 1, file), strlen(more) + 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(in_folder(name), 0755), 0);
}

/* A program of this machine, with a section for kernels; or one that only names it. */
static void write_program(const char *name, bool has_kernels)
{
    static unsigned char bytes[1 << 20];
    FILE *file = fopen("/bin/true", "r");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    /* The names of sections come last. */
    static const char usual[] = ".init_array", section[sizeof usual] = ".nv_fatbin";
    unsigned char *at = NULL, *next = bytes;
    while ((next = memmem(next, size - (size_t)(next - bytes), usual, sizeof usual)) != NULL)
        at = next++;
    assert_non_null(at);
    if (has_kernels) memcpy(at, section, sizeof section);
    write_file(name, bytes, size, has_kernels ? NULL : section);
}

static const char cuobjdump[] =
    "#!/bin/sh\n"
    "here=$(dirname \"$0\")\n"
    "case $1 in\n"
    "-xelf) cp \"$here/$(basename \"$3\").cubin\" only.sm_90.cubin ;;\n"
    "-sass) cmp -s \"$4\" \"$here/base.cubin\" && what=FFMA || what=FADD\n"
    "    printf '\\tcode for sm_90\\n\\t\\tFunction : %s\\n  /*0000*/  %s R1, R2, R3 ; /* 0x1 "
    "*/\\n' "
    "\"$3\" $what ;;\n"
    "-res-usage) cmp -s \"$4\" \"$here/base.cubin\" && registers=10 || registers=20\n"
    "    printf ' Function %s:\\n  REG:%s STACK:0 SHARED:0 LOCAL:0\\n' \"$3\" $registers ;;\n"
    "esac\n";

static int begin(void **state)
{
    static const unsigned char code[16] = {1, 2, 3}, other[16] = {1, 2, 4};
    const struct synthetic_function base[] = {{"fill", code, 16}, {"copy", code, 16}};
    const struct synthetic_function candidate[] = {{"fill", code, 16}, {"copy", other, 16}};
    unsigned char cubin[SYNTHETIC_MAX];
    if (temp_folder_make(&folder, "code_read") != 0) return -1;
    write_file("base.cubin", cubin, synthetic_cubin(cubin, base, 2), NULL);
    write_file("candidate.cubin", cubin, synthetic_cubin(cubin, candidate, 2), NULL);
    write_file("cuobjdump", cuobjdump, sizeof cuobjdump - 1, NULL);
    write_program("plain", false);
    write_program("base", true);
    write_program("candidate", true);
    return 0;
}

static int end(void **state)
{
    temp_folder_remove(&folder);
    return 0;
}

static int read_two(struct code_difference *difference, const char *base, const char *candidate)
{
    char first[sizeof path];
    snprintf(first, sizeof first, "%s", in_folder(base));
    return code_difference_read(difference, first, in_folder(candidate));
}

static void use_tools(const char *folders)
{
    char tools[2 * sizeof path];
    snprintf(tools, sizeof tools, "%s%s%s", folder.path, folders[0] ? ":" : "", folders);
    assert_int_equal(setenv("PATH", tools, 1), 0);
}

TEST(a_program_is_what_it_is)
{
    struct code_difference difference;
    use_tools("/usr/bin:/bin");
    assert_int_equal(read_two(&difference, "plain", "plain"), 0);
    assert_int_equal(difference.changes.count, 0);
    assert_string_equal(difference.lacks, "");
    code_difference_release(&difference);
}

TEST(the_kernel_that_differs_is_read)
{
    struct code_difference difference;
    use_tools("/usr/bin:/bin");
    assert_int_equal(read_two(&difference, "base", "candidate"), 0);
    assert_int_equal(difference.changes.count, 1);
    const struct code_change *change = &difference.changes.list[0];
    assert_string_equal(change->base->name, "copy");
    assert_int_equal(change->base->arch, 90);
    assert_int_equal(change->base->registers, 10);
    assert_int_equal(change->candidate->registers, 20);
    assert_string_equal(change->base->lines[0].text, "FFMA R1, R2, R3");
    assert_string_equal(change->candidate->lines[0].text, "FADD R1, R2, R3");
    code_difference_release(&difference);
}

TEST(kernels_of_one_side_are_new)
{
    struct code_difference difference;
    use_tools("/usr/bin:/bin");
    assert_int_equal(read_two(&difference, "plain", "candidate"), 0);
    assert_int_equal(difference.changes.count, 2);
    assert_null(difference.changes.list[0].base);
    code_difference_release(&difference);
}

TEST(a_tool_that_lacks_is_named)
{
    struct code_difference difference;
    use_tools("");
    assert_int_equal(read_two(&difference, "plain", "plain"), 0);
    assert_non_null(strstr(difference.lacks, "there is no objdump"));
    code_difference_release(&difference);
}

TEST(what_has_no_code_is_refused)
{
    struct code_difference difference;
    assert_int_equal(read_two(&difference, "cuobjdump", "plain"), -1);
    assert_non_null(strstr(assay_last_error(), "it is no machine code"));
    assert_int_equal(read_two(&difference, "plain", "nothing"), -1);
}

int main(void)
{
    return test_main(begin, end);
}
