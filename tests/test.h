/*
 * test.h - cmocka, and the headers that it wants before it; and tests that need no list:
 *
 *   TEST(what_holds)
 *   {
 *       assert_true(holds);
 *   }
 *
 *   int main(void)
 *   {
 *       return test_main(NULL, NULL);
 *   }
 *
 * The linker gathers them, as it does kernels (assay.h), and they run in the order of their lines.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
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

/* All of them, within what sets up and tears down the whole; how many failed. */
static inline int test_main(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    enum { MOST = 128 };
    struct CMUnitTest tests[MOST];
    int line[MOST], count = 0;
    for (const struct unit_test *const *each = __start_unit_tests; each < __stop_unit_tests;
         each++) {
        int at = count++;
        if (count > MOST) fail_msg("more than %d tests in a file", MOST);
        for (; at > 0 && line[at - 1] > (*each)->line; at--) {
            tests[at] = tests[at - 1];
            line[at] = line[at - 1];
        }
        tests[at] = (*each)->test;
        line[at] = (*each)->line;
    }
    return _cmocka_run_group_tests("tests", tests, (size_t)count, setup, teardown);
}
