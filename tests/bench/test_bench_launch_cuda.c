/* test_bench_launch_cuda.c - what the driver gets of a described kernel: from a driver that is made
 * on the spot, and runs the one kernel it knows on the host. */
#include <dlfcn.h>
#include <stdbool.h>

#include "tests/test.h"
#include "base/library.h"
#include "bench/bench.h"
#include "case/registry.h"
#include "case/shape.h"
#include "tests/bench/bench_fixture.h"
#include "tests/shared_object.h"

/* Every kernel scales: it takes (x, y, n, factor). `bad` has a factor of one less, `near` another
 * last bit in what it writes first. */
static const char driver_source[] =
    "#include <stddef.h>\n"
    "#include <stdlib.h>\n"
    "#include <string.h>\n"
    "struct attribute { int id; char pad[4]; union { char pad[64]; unsigned cluster[3]; } value; "
    "};\n"
    "struct config { unsigned grid[3], block[3], shared; void *stream;\n"
    "                struct attribute *attributes; unsigned count; };\n"
    "struct config last;\n"
    "unsigned last_cluster[3];\n"
    "int loads, unloads, launches, shared_asked, allocations, minor;\n"
    "int cuGetErrorString(int code, const char **text)\n"
    "{ (void)code; *text = \"a made error\"; return 0; }\n"
    "int cuCtxGetDevice(int *device) { *device = 0; return 0; }\n"
    "int cuDeviceGetAttribute(int *value, int what, int device)\n"
    "{ (void)device; *value = what == 75 ? 9 : minor; return 0; }\n"
    "int cuModuleLoadDataEx(void **module, const char *image, unsigned count, int *option,\n"
    "                       void **value)\n"
    "{\n"
    "    *module = &loads;\n"
    "    loads++;\n"
    "    if (count != 2 || option[0] != 5 || option[1] != 6 || (size_t)value[1] < 64) return 1;\n"
    "    if (!strstr(image, \"broken\")) return 0;\n"
    "    strcpy(value[0], \"line 3: it is broken\\nmore\");\n"
    "    return 218;\n"
    "}\n"
    "int cuModuleUnload(void *module) { (void)module; unloads++; return 0; }\n"
    "int cuModuleGetFunction(void **function, void *module, const char *name)\n"
    "{\n"
    "    *function = strstr(name, \"bad\") ? &unloads : strstr(name, \"near\") ? &launches : "
    "&loads;\n"
    "    return module != &loads;\n"
    "}\n"
    "int cuFuncSetAttribute(void *function, int what, int value)\n"
    "{ (void)function; if (what == 8) shared_asked = value; return 0; }\n"
    "int cuLaunchKernelEx(const struct config *config, void *function, void **parameter,\n"
    "                     void **extra)\n"
    "{\n"
    "    const float *x = *(const float **)parameter[0];\n"
    "    float *y = *(float **)parameter[1];\n"
    "    float factor = *(float *)parameter[3] - (function == &unloads);\n"
    "    last = *config;\n"
    "    memset(last_cluster, 0, sizeof last_cluster);\n"
    "    if (config->count == 1 && config->attributes->id == 4)\n"
    "        memcpy(last_cluster, config->attributes->value.cluster, sizeof last_cluster);\n"
    "    launches++;\n"
    "    for (int i = 0; i < *(int *)parameter[2]; i++) y[i] = factor * x[i];\n"
    "    if (function == &launches) *(char *)y ^= 1;\n"
    "    return extra != NULL;\n"
    "}\n"
    "int cuMemAlloc_v2(unsigned long long *memory, size_t bytes)\n"
    "{ *memory = (size_t)malloc(bytes); allocations++; return 0; }\n"
    "int cuMemFree_v2(unsigned long long memory)\n"
    "{ free((void *)(size_t)memory); allocations--; return 0; }\n"
    "int cuMemcpyDtoH_v2(void *host, unsigned long long memory, size_t bytes)\n"
    "{ memcpy(host, (void *)(size_t)memory, bytes); return 0; }\n"
    "int cuStreamSynchronize(void *stream) { (void)stream; return 0; }\n";

/* The beginning of a CUlaunchConfig. */
struct config {
    unsigned grid[3], block[3], shared;
    void *stream;
};

static struct {
    const struct config *last;
    const unsigned *last_cluster;
    int *loads, *unloads, *launches, *shared_asked, *allocations, *minor;
} driver;

#define SYMBOL(name)                                                                               \
    {                                                                                              \
#name, NULL, offsetof(__typeof__(driver), name), false                                     \
    }
static const struct library_symbol symbols[] = {
    SYMBOL(last),     SYMBOL(last_cluster), SYMBOL(loads),       SYMBOL(unloads),
    SYMBOL(launches), SYMBOL(shared_asked), SYMBOL(allocations), SYMBOL(minor)};

/* What is asked for by the driver's name from now on is the library that has it. */
static int make_driver(void **state)
{
    char path[128];
    if (shared_object_compile("-Wl,-soname,libcuda.so.1", driver_source, path, sizeof path))
        return -1;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    shared_object_remove(path);
    if (!library || library_bind(library, symbols, sizeof symbols / sizeof *symbols, &driver))
        return -1;
    return fixture_make(state);
}

enum { N = 1000 };

static const char sizes_and_arguments[] = "size n = 1000\n"
                                          "arg x = in f32[n]\n"
                                          "arg y = out f32[n]\n"
                                          "arg n = i32 n\n"
                                          "arg factor = f32 1 + 1.5\n"
                                          "grid = ceil(n/128), 2\n"
                                          "block = 64, 2\n";

/* Register a bench of this name from `text`, which is between its first line and what all have. */
static const struct bench *load_with(const char *name, const char *arguments, const char *text)
{
    char all[2048], file[64];
    snprintf(all, sizeof all, "[bench %s]\n%s%s", name, arguments, text);
    snprintf(file, sizeof file, "%s.bench.ini", name);
    if (bench_load(fixture_write(file, all), file)) fail_msg("%s", assay_last_error());
    return bench_of(registry_operation(name));
}

static const struct bench *load(const char *name, const char *text)
{
    return load_with(name, sizes_and_arguments, text);
}

struct run {
    float x[N], y[N];
    struct assay_shape shape;
    struct assay_call call;
    const struct assay_variant *variant;
};

static void begin(struct run *run, const struct bench *bench, int kernel)
{
    *run = (struct run){.shape = shape_default(&bench->operation),
                        .variant = &bench->kernel[kernel].variant};
    for (int i = 0; i < N; i++)
        run->x[i] = (float)i;
    run->call = (struct assay_call){
        .shape = &run->shape, .buffer = {run->x, run->y}, .stream = run, .variant = run->variant};
}

static void launch(struct run *run, const struct bench *bench, int kernel)
{
    begin(run, bench, kernel);
    if (run->variant->setup(&run->call)) fail_msg("%s", assay_last_error());
    assert_int_equal(run->variant->launch(&run->call), 0);
}

TEST(a_launch_has_the_grid_and_the_arguments)
{
    struct run run;
    const struct bench *bench = load("plain", "file = k.ptx\nkernel = scale\n");
    int unloads = *driver.unloads;
    launch(&run, bench, 0);
    for (int i = 0; i < N; i++)
        assert_true(run.y[i] == 2.5f * (float)i);
    const unsigned grid[] = {8, 2, 1}, block[] = {64, 2, 1};
    assert_memory_equal(driver.last->grid, grid, sizeof grid);
    assert_memory_equal(driver.last->block, block, sizeof block);
    assert_int_equal(driver.last->shared, 0);
    assert_ptr_equal(driver.last->stream, &run);
    assert_int_equal(driver.last_cluster[0], 0);
    assert_non_null(strstr(run.call.note, "k.ptx, sha256 "));
    assert_null(run.variant->check);
    run.variant->teardown(&run.call);
    assert_int_equal(*driver.unloads, unloads + 1);
    assert_null(run.call.state);
}

TEST(large_shared_memory_and_clusters_are_asked_for)
{
    struct run run;
    const struct bench *bench = load("clustered", "file = k.ptx\n"
                                                  "kernel = scale\n"
                                                  "shared = 100*1Ki\n"
                                                  "cluster = 4, 2\n");
    launch(&run, bench, 0);
    const unsigned cluster[] = {4, 2, 1};
    assert_memory_equal(driver.last_cluster, cluster, sizeof cluster);
    assert_int_equal(driver.last->shared, 100 << 10);
    assert_int_equal(*driver.shared_asked, 100 << 10);
    assert_int_equal(run.variant->shared_bytes(&run.shape), 100 << 10);
    run.variant->teardown(&run.call);
}

TEST(another_kernel_says_what_is_right)
{
    struct run run;
    const struct bench *bench = load("held", "file = k.ptx\nexpect = slow\n"
                                             "[kernel slow]\nkernel = scale\n"
                                             "[kernel fast]\nkernel = scale\nblock = 128\n"
                                             "[kernel wrong]\nkernel = bad\n");
    assert_null(bench->kernel[0].variant.check); /* nothing says it of the oracle itself */
    for (int kernel = 1; kernel < 3; kernel++) {
        launch(&run, bench, kernel);
        int failed = run.variant->check(&run.call);
        assert_int_equal(failed, kernel == 2 ? -1 : 0);
        if (failed)
            assert_string_equal(assay_last_error(),
                                "y[1] is 1.5, the kernel slow says 2.5 (999 of 1000 wrong)");
        run.y[7] += 1;
        assert_int_equal(run.variant->check(&run.call), -1);
        assert_true(run.x[7] == 7); /* the oracle writes elsewhere */
        run.variant->teardown(&run.call);
        assert_int_equal(*driver.allocations, 0);
    }
}

TEST(large_whole_numbers_are_told_apart)
{
    struct run run;
    const struct bench *bench = load_with(
        "whole",
        "size n = 1000\narg x = in i64[n/2] integer 0 1\narg y = out i64[n/2]\narg n = i32 n\n"
        "arg factor = f32 1\ngrid = 1\nblock = 64\n",
        "file = k.ptx\nkernel = near\nexpect = k.ptx:scale\n");
    launch(&run, bench, 0); /* x[0] is the bits of 0.0f and 1.0f */
    assert_int_equal(run.variant->check(&run.call), -1);
    assert_non_null(strstr(assay_last_error(), "(1 of 500 wrong)"));
    run.variant->teardown(&run.call);
}

TEST(small_outputs_are_not_right_because_they_are_small)
{
    struct run run;
    const struct bench *bench =
        load_with("small",
                  "size n = 1000\narg x = in f32[n]\narg y = out f32[n]\narg n = i32 n\n"
                  "arg factor = f32 1e-9\ngrid = 1\nblock = 64\n",
                  "file = k.ptx\nkernel = scale\nexpect = k.ptx:scale\n");
    launch(&run, bench, 0);
    assert_int_equal(run.variant->check(&run.call), 0);
    run.y[7] += 1e-12f;
    assert_int_equal(run.variant->check(&run.call), 0);
    run.y[7] = 0;
    assert_int_equal(run.variant->check(&run.call), -1);
    run.variant->teardown(&run.call);
}

TEST(a_file_names_what_is_right_too)
{
    struct run run;
    const struct bench *bench =
        load("of_file", "file = k.ptx\nkernel = bad\nexpect = k.ptx:scale\n");
    launch(&run, bench, 0);
    assert_int_equal(run.variant->check(&run.call), -1);
    assert_non_null(strstr(assay_last_error(), "the kernel k.ptx:scale says"));
    run.variant->teardown(&run.call);
}

TEST(what_the_driver_refuses_is_told)
{
    struct run run;
    char text[sizeof fixture_ptx + 16];
    snprintf(text, sizeof text, "%s// broken\n", fixture_ptx);
    fixture_write("broken.ptx", text);
    const struct bench *bench = load("broken", "file = broken.ptx\nkernel = scale\n");
    begin(&run, bench, 0);
    assert_int_equal(run.variant->setup(&run.call), -1);
    assert_string_equal(assay_last_error(),
                        "the driver does not load it: a made error (line 3: it is broken)");
    run.variant->teardown(&run.call); /* as after any setup */
}

TEST(ptx_of_a_later_card_is_skipped)
{
    struct run run;
    char text[sizeof fixture_ptx];
    strcpy(text, fixture_ptx);
    memcpy(strstr(text, "sm_80"), "sm_95", 5);
    fixture_write("later.ptx", text);
    const struct bench *bench = load("later", "file = later.ptx\nkernel = scale\n");
    begin(&run, bench, 0);
    assert_int_equal(run.variant->setup(&run.call), ASSAY_SKIP);
    assert_non_null(strstr(assay_last_error(), "is PTX for sm_95, and the card is sm_90"));
    run.variant->teardown(&run.call);
}

int main(void)
{
    return test_main(make_driver, fixture_remove);
}
