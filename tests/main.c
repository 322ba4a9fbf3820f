/* main.c - runs the tests of a program in the order of their lines; its main, where it has no own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

int test_main(CMFixtureFunction setup, CMFixtureFunction teardown)
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

bool test_without_cuda(bool there)
{
    static bool said;
    const char *wanted = getenv("ASSAY_TEST_CUDA");
    if (there) return false;
    if (wanted && strcmp(wanted, "required") == 0)
        fail_msg("the CUDA toolkit is not there (ASSAY_TEST_CUDA=required)");
    if (!said) puts("# skipped: what needs the CUDA toolkit: it is not there");
    said = true;
    return true;
}

__attribute__((weak)) int main(void)
{
    return test_main(NULL, NULL);
}
