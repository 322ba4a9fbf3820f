/*
 * test.h - cmocka, and the headers that it wants before it; and tests that need no list:
 *
 *   TEST(what_holds)
 *   {
 *       assert_true(holds);
 *   }
 *
 * The linker gathers them, as it does kernels (assay.h), and they run in the order of their lines.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct unit_test {
    struct CMUnitTest test;
    int line;
};

#define TEST_WITH(name, setup, teardown)                                                           \
    static void name(void **state);                                                                \
    static const struct unit_test unit_##name = {{#name, name, setup, teardown, NULL}, __LINE__};  \
    static const struct unit_test *const unit_entry_##name                                         \
        __attribute__((used, section("unit_tests"))) = &unit_##name;                               \
    static void name(void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

extern const struct unit_test *const __start_unit_tests[] __attribute__((weak));
extern const struct unit_test *const __stop_unit_tests[] __attribute__((weak));

/* All of them, within what sets up and tears down the whole; how many failed. A program without a
 * main has one that runs them without either (main.c). */
int test_main(CMFixtureFunction setup, CMFixtureFunction teardown);

/* Whether a test is left out because the CUDA toolkit is not `there`, which is said once per
 * program. It fails instead where ASSAY_TEST_CUDA is "required", as CI has it. */
bool test_without_cuda(bool there);
