/* fuzz_suite.c - suite files, and the plans that they make on two devices. */
#include "suite/plan.h"
#include "suite/suite.h"
#include "tests/fake_operations.h"
#include "tests/fuzz/fuzz.h"

static void plan(const struct suite *suite, const struct device_info *device)
{
    const struct plan_options options = {0};
    struct plan plan;
    if (plan_make(&plan, suite, device, &options) == 0) plan_release(&plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct suite suite;
    if (suite_read(&suite, fuzz_file(data, size)) != 0) return 0;
    plan(&suite, &fake_host);
    plan(&suite, &fake_cuda);
    suite_release(&suite);
    return 0;
}
