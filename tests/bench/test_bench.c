/* test_bench.c - descriptions of kernels: what they become, and what is wrong with them. */
#include <math.h>
#include <stdbool.h>

#include "tests/test.h"
#include "bench/bench.h"
#include "case/registry.h"
#include "case/shape.h"
#include "device/device.h"
#include "object/object.h"
#include "suite/suite.h"
#include "tests/bench/bench_fixture.h"
#include "tests/shared_object.h"

static const struct bench *load(const char *name, const char *text)
{
    char file[64];
    snprintf(file, sizeof file, "%s.bench.ini", name);
    if (bench_load(fixture_write(file, text), file)) fail_msg("%s", assay_last_error());
    return bench_of(registry_operation(name));
}

TEST(a_description_is_an_operation)
{
    const struct bench *bench = load("whole", "[bench whole]\n"
                                              "summary = y = factor x\n"
                                              "file = k.ptx\n"
                                              "kernel = scale\n"
                                              "size n = 1000, 5Mi\n"
                                              "arg x = in f32[n] uniform -1 1 constant\n"
                                              "arg y = out f32[n]\n"
                                              "arg n = i32 n\n"
                                              "arg factor = f32 0.5\n"
                                              "grid = ceil(n/256)\n"
                                              "block = 256\n"
                                              "flops = bf16 2*n, max(n, 7)\n"
                                              "temperature = hot\n");
    const struct assay_operation *operation = &bench->operation;
    struct assay_shape shape = shape_default(operation);
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    assert_string_equal(operation->summary, "y = factor x");
    assert_int_equal(shape.value[0], 1000);
    assert_int_equal(operation->buffers(&shape, buffer), 2);
    assert_string_equal(buffer[0].name, "x");
    assert_int_equal(buffer[0].count, 1000);
    assert_int_equal(buffer[0].role, ASSAY_IN);
    assert_int_equal(buffer[0].fill.kind, ASSAY_FILL_UNIFORM);
    assert_true(buffer[0].fill.a == -1 && buffer[0].fill.b == 1 && buffer[0].constant);
    assert_int_equal(buffer[1].role, ASSAY_OUT);
    struct assay_work work = operation->work(&shape);
    assert_true(work.read_bytes == 4000 && work.write_bytes == 4000);
    assert_true(work.ops[ASSAY_BF16_OPS] == 2000 && work.ops[ASSAY_FP32] == 1000);
    assert_null(operation->reference);
    assert_null(operation->supports(&shape));
    shape.value[0] = INT64_C(1) << 40;
    assert_non_null(strstr(operation->supports(&shape), "does not fit into i32"));
    const struct assay_variant *variants[4];
    assert_int_equal(registry_variants("whole", variants, 4), 2); /* one of them for the host */
    assert_string_equal(variants[0]->name, "scale");
    shape.value[0] = 1000;
    for (int i = 0; i < 2; i++) {
        const char *why = variants[i]->supports(&shape);
        if (variants[i]->place == ASSAY_HOST) assert_string_equal(why, "it is a kernel for a GPU");
        if (variants[i]->place == ASSAY_CUDA) assert_null(why);
    }
}

TEST(a_description_is_its_own_suite)
{
    struct suite suite;
    load("sized", "[bench sized]\nfile = k.ptx\nkernel = plain\nsize n = 1Ki..4Ki*2\n"
                  "arg y = out f32[n]\ngrid = n\nblock = 1\ntemperature = hot\nbudget = 0.1\n");
    if (suite_read(&suite, fixture_path("sized.bench.ini"))) fail_msg("%s", assay_last_error());
    assert_int_equal(suite.group_count, 1);
    const char *expected[][2] = {
        {"operation", "sized"}, {"n", "1Ki..4Ki*2"}, {"temperature", "hot"}, {"budget", "0.1"}};
    assert_int_equal(suite.groups[0].key_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(suite.groups[0].keys[i].name, expected[i][0]);
        assert_string_equal(suite.groups[0].keys[i].value, expected[i][1]);
    }
    suite_release(&suite);
}

TEST(kernels_take_what_they_do_not_say_from_their_bench)
{
    const struct bench *bench = load("several", "[bench several]\n"
                                                "file = k.ptx\n"
                                                "size n = 64\n"
                                                "arg y = out f32[n]\n"
                                                "grid = n, 2\n"
                                                "block = 32\n"
                                                "bytes = 100\n"
                                                "tolerance = 1e-3, 0\n"
                                                "[kernel one]\n"
                                                "kernel = plain\n"
                                                "kind = baseline\n"
                                                "[kernel two]\n"
                                                "kernel = plain\n"
                                                "block = 64, 2\n"
                                                "shared = 1Ki\n");
    const struct assay_shape n = {&bench->operation, {64}};
    struct kernel_launch launch;
    assert_int_equal(bench->kernel_count, 2);
    assert_int_equal(bench->kernel[0].variant.kind, ASSAY_BASELINE);
    assert_string_equal(bench->operation.baselines[0], "one");
    assert_int_equal(bench_launch_of(&bench->kernel[1], &n, &launch), 0);
    assert_int_equal(launch.grid[0], 64);
    assert_int_equal(launch.grid[1], 2);
    assert_int_equal(launch.block[0], 64);
    assert_int_equal(launch.block[1], 2);
    assert_int_equal(launch.shared_bytes, 1024);
    struct assay_shape shape = shape_default(&bench->operation);
    struct assay_work work = bench->operation.work(&shape);
    assert_true(work.write_bytes == 100 && work.read_bytes == 0); /* as much as was said */
    assert_true(bench->operation.tolerance.abs == 1e-3 && bench->operation.tolerance.rel == 0);
}

TEST(a_shared_object_says_what_is_right)
{
    char path[128], text[512];
    static const char source[] =
        "int judged_reference(const void *shape, const void *const in[], int buffer,\n"
        "                     long begin, long end, double *expected, double *bound)\n"
        "{ for (long i = begin; i < end; i++) expected[i - begin] = 3; return 0; }\n"
        "double judged_reference_cost(const void *shape) { return 12; }\n";
    assert_int_equal(shared_object_make(source, path, sizeof path), 0);
    snprintf(text, sizeof text,
             "[bench judged]\nfile = k.ptx\nkernel = two\nsize n = 8\narg y = out bf16[n]\n"
             "arg z = out i32[n]\ngrid = 1\nblock = 8\nexpect = %s\n",
             path);
    const struct bench *bench = load("judged", text);
    shared_object_remove(path);
    double expected[8], bound[8] = {NAN, NAN, 1, NAN, NAN, NAN, NAN, NAN};
    struct assay_shape shape = shape_default(&bench->operation);
    assert_int_equal(bench->operation.reference(&shape, NULL, 0, 0, 8, expected, bound), 0);
    assert_true(expected[7] == 3);
    assert_true(bench->operation.reference_cost(&shape) == 12);
    assert_true(bound[7] == 1.6e-2 * (1 + 3)); /* of bf16 */
    assert_true(bound[2] == 1);                /* it said so itself */
    bound[7] = NAN;
    assert_int_equal(bench->operation.reference(&shape, NULL, 1, 0, 8, expected, bound), 0);
    assert_true(bound[7] == 0); /* of whole numbers, whatever another output may have */
    assert_null(bench->kernel[0].variant.check);
}

/* What Triton leaves: a cubin, which here is PTX in its clothes, and a text beside it. */
TEST(triton_wants_no_memory_of_its_own)
{
    static const char text[] = "[bench wants]\nfile = w.cubin\nsize n = 64\narg x = in f32[n]\n"
                               "arg y = out f32[n]\narg n = i32 n\narg f = f32 1\ngrid = n\n";
    fixture_write("w.cubin", fixture_ptx);
    fixture_write("w.json",
                  "{\"num_warps\": 4, \"num_ctas\": 4, \"shared\": 0, \"name\": \"scale\","
                  " \"profile_scratch_size\": 64}");
    const char *path = fixture_write("wants.bench.ini", text);
    assert_int_equal(bench_load(path, "wants.bench.ini"), -1);
    assert_non_null(strstr(assay_last_error(), "wants 64 bytes of Triton's own memory"));
    fixture_write("w.json",
                  "{\"num_warps\": 4, \"num_ctas\": 4, \"shared\": 0, \"name\": \"scale\"}");
    assert_string_equal(load("wants", text)->kernel[0].cluster, "4, 1, 1");
}

TEST(triton_says_the_rest)
{
    fixture_write("t.cubin", fixture_ptx);
    fixture_write("t.json",
                  "{\"hash\": \"ab\", \"num_warps\": 4, \"num_ctas\": 2, \"shared\": 2048,"
                  " \"cluster_dims\": [2, 1, 1], \"global_scratch_size\": 0,"
                  " \"name\": \"scale\"}");
    const struct bench *bench = load("of_triton", "[bench of_triton]\n"
                                                  "file = t.cubin\n"
                                                  "size n = 64\n"
                                                  "arg x = in f32[n]\n"
                                                  "arg y = out f32[n]\n"
                                                  "arg n = i32 n\n"
                                                  "grid = n\n"
                                                  "arg f = f32 1\n");
    const struct assay_shape n = {&bench->operation, {64}};
    struct kernel_launch launch;
    assert_string_equal(bench->kernel[0].kernel, "scale");
    assert_int_equal(bench_launch_of(&bench->kernel[0], &n, &launch), 0);
    assert_int_equal(launch.block[0], 128);
    assert_int_equal(launch.shared_bytes, 2048);
    assert_int_equal(launch.cluster[0], 2);
    /* Two pointers of Triton's own may stand behind the arguments, and only there. */
    struct kernel_entry entry = {
        .plain = "scale", .parameters = 6, .parameter_bytes = {8, 8, 4, 4, 8, 8}};
    assert_int_equal(bench_check_parameters(bench, &entry, bench->kernel[0].nulls), 0);
    entry.parameters = 7;
    assert_int_equal(bench_check_parameters(bench, &entry, bench->kernel[0].nulls), -1);
    entry.parameters = 3;
    assert_int_equal(bench_check_parameters(bench, &entry, bench->kernel[0].nulls), -1);
}

/* ---------------------------------------------------------------- mistakes -- */

/* One more key, or another one, in a text that is right without: what is said of it. */
static const struct {
    const char *text, *why;
} mistakes[] = {
    {"kernel = scal\n", "k.ptx: it has no kernel 'scal' (did you mean 'scale'?)"},
    {"kernel = plain\n", "the kernel plain takes 1 argument, and 4 are given"},
    {"kernel = five\n", "the kernel five takes 1 argument, and 4 are given"},
    {"file = none.ptx\n", "none.ptx: cannot be read"},
    {"file = k.o\n", "a file ends in .cu, .cubin or .ptx"},
    {"file = text.cubin\n", "it is neither a cubin nor PTX"},
    {"grid = 0*n\n", "grid: x is 0, and must be 1 to 2147483647"},
    {"grid = -n\n", "grid: x is -1000, and must be"},
    {"grid = n, 65536\n", "grid: y is 65536, and must be 1 to 65535"},
    {"grid = n*1Gi\n", "grid: x is 1073741824000"},
    {"grid = n/3\n", "no whole number"},
    {"grid = m\n", "there is no size 'm'"},
    {"grid = 1,1,1,1\n", "more than 3 numbers"},
    {"block = 1025\n", "block: x is 1025, and must be 1 to 1024"},
    {"block = 64, 32\n", "block: 2048 threads, and 1024 are possible"},
    {"shared = -1\n", "shared: -1 bytes"},
    {"shared = 228Ki\n", "shared: 233472 bytes, and 0 to 232448 are possible"},
    {"cluster = 3\n", "grid: x is 4, no multiple of the cluster's 3"},
    {"cluster = 4, 8\n", "cluster: 32 blocks, and 16 are possible"},
    {"bytes = -n\n", "bytes: -1000 is below 0"},
    {"flops = n - 2k\n", "flops: -1000 is below 0"},
    {"flops = fp6 n\n", "there is no size 'fp6'"},
    {"tolerance = 1\n", "it is ABSOLUTE, RELATIVE"},
    {"tolerance = -1, 0\n", "a tolerance is not below 0"},
    {"expect = none.so\n", "expect = none.so: cannot be read: No such file"},
    {"expect = k.so\n", "expect = k.so: cannot be loaded: "},
    {"expect = none\n", "it is FILE.so, FILE.py, FILE.cu:KERNEL or the name of a [kernel]"},
    {"expect = none.py\n", "expect = none.py: cannot be read: No such file"},
    {"expect = k.ptx:scal\n", "it has no kernel 'scal'"},
    {"expect = k.ptx:five\n", "the kernel five takes 1 argument"},
    {"arg y = scratch f32[n]\nexpect = k.ptx:scale\n", "no argument is 'out', so nothing"},
    {"kind = bound\n", "a kernel is 'kernel', 'baseline' or 'reference'"},
    {"operation = gelu\n", "[bench] has no key 'operation'"},
    {"gird = n\n", "[bench] has no key 'gird' (did you mean 'grid'?)"},
    {"size ceil = 3\n", "a size cannot be called ceil"},
    {"size Large = 3\n", "a name is made of a-z"},
    {"size k = huge\n", "'huge' is not a size"},
    {"size k = 0\n", "out of its range"},
    {"size grow = 8Ti\n", "out of its range"},
    {"arg y = inout f32[n]\n", "what it changes in place is another input each time"},
    {"arg y = out f33[n]\n", "no type is called 'f33' (did you mean 'f32'?)"},
    {"arg y = out u64[n]\n", "a buffer cannot be of u64; i64 has as many bytes"},
    {"arg y = out f32\n", "a buffer is TYPE[COUNT]"},
    {"arg y = f32[n]\n", "a buffer begins with in, out or scratch"},
    {"arg y = out f32[n] normal\n", "only an input is filled"},
    {"arg y = out f32[n - 1000]\n", "y: 0 elements, and 1 to 2^40 are possible"},
    {"arg y = out f32[n*1Gi*1Mi]\n", "1 to 2^40 are possible"},
    {"arg y = out f32[n*8Ti*8Ti]\n", "does not fit into 64 bits"},
    {"arg y = out f32[n/(n - 1000)]\n", "it divides by zero"},
    {"arg y = null\n", "no argument is 'out' or 'scratch'"},
    {"arg n = i64 n\n", "argument 3 of the kernel scale has 4 bytes, and n (i64 n) has 8"},
    {"arg n = u8 n\n", "'n' is 1000, which does not fit into u8"},
    {"arg factor = f32 1e39\n", "'1e39' is 1e+39, which does not fit into f32"},
    {"arg factor = in f32[n]\n",
     "argument 4 of the kernel scale has 4 bytes, and factor (in f32[n]) has 8"},
    {"arg n = i32\n", "a number has its value behind its type"},
    {"arg n = n\n", "no type is called 'n'"},
    {"arg n =\n", "it is empty"},
    {"arg x = in i32[n]\n", "an input of i32 says its range"},
    {"arg x = in u8[n] integer 0 256\n", "0 to 256 do not fit into u8"},
    {"arg x = in f16[n] value 65520\n", "65520 to 65520 do not fit into f16"},
    {"arg x = in e4m3[n] uniform -448 449\n", "-448 to 449 do not fit into e4m3"},
    {"arg x = in e5m2[n] value 57345\n", "57345 to 57345 do not fit into e5m2"},
    {"arg x = in i32[n] uniform\n", "an input of i32 says its range"},
    {"arg x = in i32[n] integer 5 1\n", "the smaller number comes first"},
    {"arg x = in i32[n] normal\n", "normal is of floats"},
    {"arg x = in f32[n] normla\n", "did you mean 'normal'?"},
    {"arg x = in f32[n] normal uniform\n", "it is filled already"},
    {"arg x = in f32[n] integer 5\n", "integer wants 2 numbers"},
    {"[kernel other]\nkernel = plain\n[kernel other]\n", "there is a [kernel other] already"},
    {"[kernel other]\ncolour = red\n", "[kernel] has no key 'colour'"},
};

/* The text that is right, with the keys of `text` in the place of its own. */
static const char *with(const char *text)
{
    static const char *const right[] = {
        "file = k.ptx\n",       "kernel = scale\n",     "size n = 1000\n",
        "arg x = in f32[n]\n",  "arg y = out f32[n]\n", "arg n = i32 n\n",
        "arg factor = f32 1\n", "grid = ceil(n/256)\n", "block = 256\n"};
    static char all[1024];
    bool is_used = text[0] == '[';
    strcpy(all, "[bench mistaken]\n");
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        size_t key = strcspn(right[i], "=");
        bool is_same = !strncmp(right[i], text, key);
        strcat(all, is_same ? text : right[i]);
        is_used |= is_same;
    }
    if (!is_used || text[0] == '[') strcat(all, text);
    return all;
}

TEST(every_mistake_is_said)
{
    fixture_write("text.cubin", "hello");
    fixture_write("k.so", "hello");
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const char *path = fixture_write("mistaken.bench.ini", with(mistakes[i].text));
        if (bench_load(path, "mistaken.bench.ini") == 0) fail_msg("taken: %s", mistakes[i].text);
        if (!strstr(assay_last_error(), mistakes[i].why))
            fail_msg("of %s: %s", mistakes[i].text, assay_last_error());
        if (strchr(assay_last_error(), '\n')) fail_msg("two lines: %s", assay_last_error());
        assert_null(registry_operation("mistaken"));
    }
    fixture_write("mistaken.bench.ini", "[bench whole]\n");
    assert_int_equal(bench_load(fixture_path("mistaken.bench.ini"), "m"), -1);
    fixture_write("mistaken.bench.ini", "[suite]\ntitle = t\n");
    assert_int_equal(bench_load(fixture_path("mistaken.bench.ini"), "m"), -1);
    assert_non_null(strstr(assay_last_error(), "m: there is no [bench NAME] in it"));
}

TEST(a_name_that_is_taken_is_refused)
{
    const char *text = "[bench taken]\nfile = k.ptx\nkernel = plain\narg y = out f32[8]\n"
                       "grid = 1\nblock = 8\n";
    load("taken", text);
    assert_int_equal(bench_load(fixture_write("again.bench.ini", text), "again.bench.ini"), -1);
    assert_non_null(strstr(assay_last_error(), "taken.bench.ini has it"));
}

TEST(a_kernel_that_changes_is_another)
{
    char path[256];
    const struct object *objects;
    fixture_write("edited.ptx", fixture_ptx);
    fixture_write("edited.py", "def reference(): return [1] * 8\n");
    strcpy(path, fixture_write("edited.bench.ini",
                               "[bench edited]\nfile = edited.ptx\nkernel = plain\n"
                               "arg y = out f32[8]\ngrid = 1\nblock = 8\nexpect = edited.py\n"));
    const char *const paths[] = {path};
    objects_describe(BENCH_ENDING, bench_load, bench_digest);
    if (objects_load(paths, 1)) fail_msg("%s", assay_last_error());
    assert_int_equal(objects_loaded(&objects), 1);
    assert_int_equal(strlen(objects[0].info.sha256), SHA256_TEXT - 1);
    assert_int_equal(objects_unchanged(), 0);
    fixture_write("edited.py", "def reference(): return [2] * 8\n");
    assert_int_equal(objects_unchanged(), -1);
    fixture_write("edited.py", "def reference(): return [1] * 8\n");
    assert_int_equal(objects_unchanged(), 0);
    fixture_write("edited.ptx", strchr(fixture_ptx, '\n')); /* without its version */
    assert_int_equal(objects_unchanged(), -1);
    assert_non_null(strstr(assay_last_error(), "edited.bench.ini: the file changed after"));
    unlink(fixture_path("edited.ptx"));
    assert_int_equal(objects_unchanged(), -1);
    assert_non_null(strstr(assay_last_error(), "edited.ptx: cannot be read"));
}

int main(void)
{
    return test_main(fixture_make, fixture_remove);
}
