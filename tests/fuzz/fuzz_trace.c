/* fuzz_trace.c - what a process of somebody's program left, and the cases that are made of it. */
#include "tests/fuzz/fuzz.h"
#include "trace/trace_cases.h"

static void use(const struct trace *trace)
{
    struct trace_cases cases = {0};
    static struct profile profile;
    fuzz_check(trace_cases_make(&cases, trace, "program", 0) == 0, "cases can be made");
    for (int i = 0; i < cases.count; i++) {
        const struct case_id *id = &cases.list[i].result.id;
        fuzz_check(id->variant[0] || !cases.list[i].kernel->kernel[0], "a case has a name");
        fuzz_check(text_is_printable(id->variant) && text_is_printable(id->shape),
                   "names are printable");
        trace_case_profile(&cases.list[i], &profile);
    }
    trace_cases_release(&cases);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace trace = {0};
    if (trace_add(&trace, (const char *)data, size) == 0) use(&trace);
    trace_release(&trace);
    return 0;
}
