/* test_provenance.c - what the program says it was built from. */
#include <stdio.h>
#include <string.h>

#include "tests/test.h"
#include "case/run_record.h"

TEST(version_is_the_one_in_the_file_VERSION)
{
    char version[64] = "";
    FILE *file = fopen("VERSION", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%63s", version), 1);
    fclose(file);

    struct program_info info;
    provenance_program(&info);
    assert_string_equal(info.version, version);
}

static bool is_hex(const char *text, size_t length)
{
    return strlen(text) == length && strspn(text, "0123456789abcdef") == length;
}

TEST(commit_is_a_whole_hash_or_unknown)
{
    struct program_info info;
    provenance_program(&info);
    if (!is_hex(info.commit, 40)) {
        assert_string_equal(info.commit, "unknown");
        assert_string_equal(info.diff_hash, "unknown");
    }
}

TEST(changes_are_a_hash_or_none_or_unknown)
{
    struct program_info info;
    provenance_program(&info);
    if (info.diff_hash[0] != '\0' && strcmp(info.diff_hash, "unknown") != 0)
        assert_true(is_hex(info.diff_hash, 32));
}

TEST(compiler_and_flags_are_the_ones_of_this_build)
{
    struct program_info info;
    provenance_program(&info);
    assert_non_null(strstr(info.compiler, __VERSION__)); /* gcc: "12.2.0" */
    assert_non_null(strstr(info.flags, "-std=c11"));
    assert_non_null(strstr(info.flags, "-ffp-contract=off"));
#ifdef ASSAY_HAVE_CUDA
    assert_int_equal(info.nvcc[0], 'V');
    assert_non_null(strstr(info.nvcc_flags, "-gencode"));
#else
    assert_string_equal(info.nvcc, "");
    assert_string_equal(info.nvcc_flags, "");
#endif
}
