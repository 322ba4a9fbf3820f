/* plot_fixture.h - a run of two operations and some sizes, to be plotted. */
#pragma once

#include "tests/view_fixture.h"

static inline void sized(const char *operation, const char *rest, long n, const char *variant,
                         double time_ns)
{
    char shape[128];
    snprintf(shape, sizeof shape, "n=%ld %s", n, rest);
    struct case_result *result = fake_case(&fake, 0, operation, shape, variant, time_ns);
    result->work.read_bytes = 4.0 * (double)n;
    result->work.write_bytes = (double)n;
}

/* Three sizes in fp32, two in bf16, one of another operation. */
static inline void make_run(void)
{
    fake_begin(&fake, 1);
    sized("int8_quantize", "input=bf16", 1000000, "fast", 1000);
    sized("int8_quantize", "input=bf16", 2000000, "fast", 2000);
    for (long n = 1000000; n <= 4000000; n *= 2) {
        sized("int8_quantize", "input=fp32", n, "slow", 3e-3 * (double)n);
        sized("int8_quantize", "input=fp32", n, "fast", 1e-3 * (double)n);
        sized("int8_quantize", "input=fp32", n, "copy", 2e-3 * (double)n);
        fake.cases[fake.run.case_count - 1].result.id.kind = ASSAY_BASELINE;
    }
    sized("other", "input=fp32", 1000000, "only", 5000);
}
