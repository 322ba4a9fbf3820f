/* fuzz_expression.c - arithmetic over sizes, and arguments of kernels, which have some in them. */
#include <math.h>

#include "bench/argument.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct assay_operation operation = {
        .dims = {{.name = "n"}, {.name = "large"}, {.name = "small"}, {.name = "zero"}}};
    static const struct assay_shape sizes = {&operation, {1000, INT64_MAX, INT64_MIN + 1, 0}};
    char *text = fuzz_text(data, size);
    int64_t whole;
    double real;
    int is_whole = expression_whole(text, &sizes, &whole) == 0;
    int is_real = expression_real(text, &sizes, &real) == 0;
    fuzz_check(!is_real || isfinite(real), "a number is finite");
    fuzz_check(!is_whole || (is_real && real == (double)whole), "both are the same number");
    struct argument argument = {0};
    union argument_value value;
    if (argument_parse(&argument, text) == 0) {
        int bytes = argument_bytes(&argument);
        fuzz_check(bytes >= 1 && bytes <= 8, "an argument has 1 to 8 bytes");
        if (argument.kind == ARGUMENT_NUMBER) argument_number(&argument, &sizes, &value);
    }
    free(text);
    return 0;
}
