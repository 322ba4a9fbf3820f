/*
 * test_family_load_openblas.c - OpenBLAS as it is loaded: missing, of another kind, and there.
 * In this order, for a library that was loaded stays.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "baselines/load_openblas.h"
#include "case/registry.h"
#include "tests/shared_object.h"

static const char nowhere[] = "/nowhere/libopenblas.so.0";

static int choose_nowhere(void **state)
{
    return setenv("ASSAY_OPENBLAS", nowhere, 1);
}

static void expect_skip(int status, const char *reason)
{
    assert_int_equal(status, ASSAY_SKIP);
    assert_non_null(strstr(assay_last_error(), "OpenBLAS cannot be loaded: "));
    assert_non_null(strstr(assay_last_error(), reason));
}

TEST_WITH(a_missing_library_is_a_reason_to_skip_with_its_name, choose_nowhere, NULL)
{
    expect_skip(openblas_load(), nowhere);
    expect_skip(openblas_load(), nowhere);
}

/* Each of them, ahead of anything that needs its inputs: the call has none. */
TEST_WITH(every_variant_is_skipped_where_it_is_missing, choose_nowhere, NULL)
{
    static const char *const of[][2] = {
        {"gemm", "openblas"},
        {"linear", "openblas"},
        {"mlp", "openblas"},
        {"gpt_forward", "openblas"},
        {"gpt_block", "openblas"},
        {"gpt_decode", "openblas"},
        {"lut_matmul", "openblas"},
        {"lut_matmul_onesided", "openblas"},
        {"quantized_linear", "openblas"},
        {"conv3d", "host_im2col_openblas"},
        {"vq_search", "host_gemm_argmin"},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const struct assay_variant *list[REGISTRY_MAX_VARIANTS];
        int count = registry_variants(of[i][0], list, REGISTRY_MAX_VARIANTS), found = 0;
        for (int at = 0; at < count; at++) {
            if (list[at]->place != ASSAY_HOST || strcmp(list[at]->name, of[i][1])) continue;
            struct assay_shape shape = {.operation = registry_operation(of[i][0])};
            struct assay_call call = {.shape = &shape};
            assay_clear_error();
            assert_non_null(list[at]->setup);
            expect_skip(list[at]->setup(&call), nowhere);
            if (list[at]->teardown) list[at]->teardown(&call);
            found++;
        }
        assert_int_equal(found, 1);
    }
}

TEST_WITH(a_library_without_its_functions_is_a_reason_to_skip, choose_nowhere, NULL)
{
    char path[64];
    assert_int_equal(shared_object_make("void cblas_sgemm(void) {}", path, sizeof path), 0);
    setenv("ASSAY_OPENBLAS", path, 1);
    expect_skip(openblas_load(), "no function cblas_sdot");
    shared_object_remove(path);
}

TEST_WITH(one_who_asks_what_there_is_is_told_why_it_is_not, choose_nowhere, NULL)
{
    char why[256], text[64];
    registry_load_libraries(ASSAY_HOST, why, sizeof why);
    assert_non_null(strstr(why, nowhere));
    registry_libraries(ASSAY_HOST, text, sizeof text);
    assert_string_equal(text, "");
}

TEST_WITH(a_variable_that_is_empty_names_none, choose_nowhere, NULL)
{
    char text[64];
    setenv("ASSAY_OPENBLAS", "", 1);
    registry_libraries(ASSAY_HOST, text, sizeof text);
    assert_string_equal(text, ""); /* asking what is loaded loads nothing */
    assert_int_equal(openblas_load(), 0);
    registry_libraries(ASSAY_HOST, text, sizeof text);
    assert_int_equal(strncmp(text, "OpenBLAS 0.", 11), 0);
    assert_null(strchr(text + 11, ' '));
}

TEST_WITH(what_is_loaded_stays_whatever_is_named_later, choose_nowhere, NULL)
{
    char why[256];
    const float a[] = {1, 2, 3}, b[] = {4, 5, 6};
    float c = 0;
    assert_int_equal(openblas_load(), 0);
    registry_load_libraries(ASSAY_HOST, why, sizeof why);
    assert_string_equal(why, "");
    openblas_api()->sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, 1, 1, 3, 1.0f, a, 3, b, 3, 0.0f,
                          &c, 1);
    assert_true(c == 32 && openblas_api()->sdot(3, a, 1, b, 1) == 32);
}
