/* test_bench_python.c - a reference in a file of Python: what it is given, and what is wrong with
 * it. */
#include <math.h>

#include "tests/test.h"
#include "bench/bench.h"
#include "case/registry.h"
#include "case/shape.h"
#include "tests/bench/bench_fixture.h"

/* The bench NAME of these lines, in which NAME.py says what is right. */
static const struct bench *load(const char *name, const char *source, const char *lines)
{
    char file[64], text[512];
    snprintf(file, sizeof file, "%s.py", name);
    fixture_write(file, source);
    snprintf(text, sizeof text, "[bench %s]\nfile = k.ptx\ngrid = 1\nblock = 8\nexpect = %s.py\n%s",
             name, name, lines);
    snprintf(file, sizeof file, "%s.bench.ini", name);
    if (bench_load(fixture_write(file, text), file)) fail_msg("%s", assay_last_error());
    return bench_of(registry_operation(name));
}

TEST(inputs_are_float64_and_int64_and_sizes_go_by_name)
{
    const struct bench *bench =
        load("sums",
             "import numpy as np\n"
             "def reference(x, h, i, m):\n"
             "    assert (x.dtype, h.dtype, i.dtype) == ('f8', 'f8', 'i8')\n"
             "    return x.reshape(m, 2) + i.reshape(m, 2), np.array([h.sum()])\n",
             "kernel = wide\nsize m = 2\narg x = in e4m3[2*m]\narg h = in bf16[2]\n"
             "arg i = in i16[2*m] integer -3 3\n"
             "arg y = out bf16[2*m]\narg s = out f64[1]\n");
    struct assay_shape shape = shape_default(&bench->operation);
    uint8_t x[] = {0x30, 0x38, 0x40, 0x44}; /* 0.5, 1, 2, 3 */
    uint16_t h[] = {0x3f80, 0x4000};        /* 1, 2 */
    int16_t i[] = {-1, 0, 1, 300};
    const void *in[] = {x, h, i, NULL, NULL};
    double expected[4] = {0}, bound[4] = {NAN, NAN, NAN, NAN};
    assert_int_equal(bench->operation.reference_run(&shape), 4); /* all of the largest at once */
    if (bench->operation.reference(&shape, in, 3, 0, 4, expected, bound))
        fail_msg("%s", assay_last_error());
    assert_true(expected[0] == -0.5 && expected[1] == 1 && expected[2] == 3 && expected[3] == 303);
    assert_true(bound[3] == 1.6e-2 * (1 + 303)); /* of bf16 */
    assert_int_equal(bench->operation.reference(&shape, in, 4, 0, 1, expected, bound), 0);
    assert_true(expected[0] == 3);
}

TEST(an_input_may_be_called_as_a_file_of_ours)
{
    const struct bench *bench = load(
        "names", "def reference(what, said, expected, in_): return what + said + expected + in_\n",
        "kernel = wide\narg what = in f32[1]\narg said = in f32[1]\n"
        "arg expected = in f32[1]\narg in_ = in f32[1]\narg y = out f32[1]\n");
    struct assay_shape shape = shape_default(&bench->operation);
    float one = 1, two = 2, four = 4, eight = 8;
    const void *in[] = {&one, &two, &four, &eight, NULL};
    double expected = 0, bound;
    if (bench->operation.reference(&shape, in, 4, 0, 1, &expected, &bound))
        fail_msg("%s", assay_last_error());
    assert_true(expected == 15);
}

TEST(what_python_says_last_is_the_error)
{
    static const struct {
        const char *source, *message;
    } bad[] = {
        {"def other(x): pass\n", "bad.py: it has no function reference"},
        {"def reference(x): raise ValueError('no')\n", "bad.py: ValueError: no"},
        {"def reference(x): return x, x\n", "it returned 2 outputs, not 1"},
        {"def reference(x): return x[1:]\n", "y has 7 elements, not 8"},
        {"def reference(x:\n", "SyntaxError"},
        {"import os\ndef reference(x): os.kill(os.getpid(), 9)\n", "it ended without a word"},
    };
    float x[8] = {0};
    const void *in[] = {x, NULL};
    double expected[8], bound[8];
    const struct bench *bench =
        load("bad", "", "kernel = two\nsize n = 8\narg x = in f32[n]\narg y = out f32[n]\n");
    struct assay_shape shape = shape_default(&bench->operation);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fixture_write("bad.py", bad[i].source);
        assert_int_equal(bench->operation.reference(&shape, in, 1, 0, 8, expected, bound), -1);
        if (!strstr(assay_last_error(), bad[i].message))
            fail_msg("'%s' has no '%s'", assay_last_error(), bad[i].message);
    }
}

/* Debian's NumPy is for its own Python, which need not be the first one. */
static int find_numpy(void **state)
{
    if (system("python3 -c 'import numpy' 2>/dev/null"))
        setenv("ASSAY_PYTHON", "/usr/bin/python3", 0);
    return fixture_make(state);
}

int main(void)
{
    return test_main(find_numpy, fixture_remove);
}
