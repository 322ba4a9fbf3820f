/*
 * test_counters_cuda.c - reading hardware counters, against a library made on the spot: a
 * GPU with two kernels a launch and three metrics, which take two passes. It finds
 * the fields of CUPTI's parameters by place, and not by a header both sides share.
 */
#include <stdbool.h>
#include <math.h>

#include "tests/test.h"
#include "base/error.h"
#include "device/cuda/counters.h"
#include "tests/shared_object.h"

#if __has_include(<cupti_range_profiler.h>)

/* Every parameter struct is {size_t size; void *reserved; ...}: P(n) is the n-th word
 * after those. */
static const char library_source[] =
    "#include <stdint.h>\n"
    "#include <stddef.h>\n"
    "#include <string.h>\n"
    "#define P(n) (((uint64_t *)p)[2 + (n)])\n"
    "static int refuse, error, known, started, passes, pushed, ranges, open, host;\n"
    "static int refused(const char *call, int at) { return refuse == at ? error : 0; }\n"
    "int cuptiGetResultString(int r, const char **s) { *s = \"WORDS\"; return 0; }\n"
    "int cuptiProfilerInitialize(void *p) { open++; return 0; }\n"
    "int cuptiProfilerDeInitialize(void *p) { open--; return 0; }\n"
    "int cuptiProfilerGetCounterAvailability(void *p) {\n"
    "    if (refuse == 1) return error;\n"
    "    if (!P(2)) P(1) = 8; else *(uint64_t *)P(2) = 42;\n"
    "    return 0; }\n"
    "int cuptiDeviceGetChipName(void *p) { P(1) = (uint64_t)\"GX1\"; return P(0) == 3 ? 0 : 1; }\n"
    "int cuptiProfilerHostInitialize(void *p) {\n"
    "    if ((uint32_t)P(0) != 0 || strcmp((char *)P(1), \"GX1\") || *(uint64_t *)P(2) != 42)\n"
    "        return 1;\n"
    "    host++; known = 0; P(3) = 7; return 0; }\n"
    "int cuptiProfilerHostDeinitialize(void *p) { host--; return P(0) == 7 ? 0 : 1; }\n"
    "static int index_of(const char *name) {\n"
    "    static const char *const names[] = {\"a__x.sum\", \"b__y.pct\", \"c__z.sum\"};\n"
    "    for (int i = 0; i < 3; i++) if (!strcmp(names[i], name)) return i;\n"
    "    return -1; }\n"
    "int cuptiProfilerHostGetMetricProperties(void *p)\n"
    "{ return index_of((char *)P(1)) < 0 ? 17 : 0; }\n"
    "int cuptiProfilerHostConfigAddMetrics(void *p) { known += (int)P(2); return 0; }\n"
    "int cuptiProfilerHostGetConfigImageSize(void *p) { P(1) = 16; return 0; }\n"
    "int cuptiProfilerHostGetConfigImage(void *p)\n"
    "{ memset((void *)P(2), 5, 16); return P(1) == 16 ? 0 : 1; }\n"
    "int cuptiProfilerHostGetNumOfPasses(void *p)\n"
    "{ P(2) = 2; return *(uint8_t *)P(1) == 5 ? 0 : 1; }\n"
    "int cuptiRangeProfilerEnable(void *p) { P(1) = 9; open++; return P(0) == 77 ? 0 : 1; }\n"
    "int cuptiRangeProfilerDisable(void *p) { open--; return P(0) == 9 ? 0 : 1; }\n"
    "int cuptiRangeProfilerGetCounterDataSize(void *p)\n"
    "{ P(5) = 64; return P(2) == (uint64_t)known ? 0 : 1; }\n"
    "int cuptiRangeProfilerCounterDataImageInitialize(void *p) { return P(1) == 64 ? 0 : 1; }\n"
    "int cuptiRangeProfilerSetConfig(void *p) {\n"
    "    ranges = (int)(uint32_t)P(5); passes = started = pushed = 0;\n"
    "    return (uint32_t)(P(5) >> 32) == 3 ? 0 : 1; }\n"
    "int cuptiRangeProfilerStart(void *p)\n"
    "{ if (refuse == 2) return error; started++; return 0; }\n"
    "int cuptiRangeProfilerPushRange(void *p) { pushed += !strcmp((char *)P(1), \"launch\");\n"
    "    return 0; }\n"
    "int cuptiRangeProfilerPopRange(void *p) { return 0; }\n"
    "int cuptiRangeProfilerStop(void *p) {\n"
    "    if (refuse == 3) return error;\n"
    "    passes++; ((uint8_t *)&P(3))[0] = passes == 2; return 0; }\n"
    "int cuptiRangeProfilerDecodeData(void *p) { P(1) = refuse == 4 ? 6 : 0; return 0; }\n"
    "int cuptiRangeProfilerGetCounterDataInfo(void *p) { P(2) = pushed ? 1 : 2; return 0; }\n"
    "int cuptiProfilerHostEvaluateToGpuValues(void *p) {\n"
    "    int i = index_of(*(char **)P(4));\n"
    "    if (i == 2) return 1;\n"
    "    *(double *)P(6) = 100 * (double)P(3) + i; return 0; }\n"
    "void fake_refuse(int at, int with) { refuse = at; error = with; }\n"
    "int fake_open(void) { return open + host; }\n"
    "int fake_ranges(void) { return ranges; }\n";

/* A driver with a context. */
static const char driver_source[] =
    "int cuCtxGetCurrent(void **context) { *context = (void *)77; return 0; }\n";

static struct {
    char path[128], driver_path[128];
    void *library, *driver;
    void (*refuse)(int at, int with);
    int (*open)(void);
    int (*ranges)(void);
} fake;

/* The driver is found by its soname. */
static int make_driver(void)
{
    if (shared_object_compile("-Wl,-soname,libcuda.so.1", driver_source, fake.driver_path,
                              sizeof fake.driver_path))
        return -1;
    fake.driver = dlopen(fake.driver_path, RTLD_NOW | RTLD_LOCAL);
    return fake.driver ? 0 : -1;
}

static int make_libraries(void **state)
{
    if (shared_object_make(library_source, fake.path, sizeof fake.path) || make_driver()) return -1;
    fake.library = dlopen(fake.path, RTLD_NOW | RTLD_LOCAL);
    if (!fake.library) return -1;
    shared_object_find(fake.library, "fake_refuse", &fake.refuse);
    shared_object_find(fake.library, "fake_open", &fake.open);
    shared_object_find(fake.library, "fake_ranges", &fake.ranges);
    setenv("ASSAY_CUPTI", fake.path, 1);
    return 0;
}

static int remove_libraries(void **state)
{
    dlclose(fake.library);
    dlclose(fake.driver);
    shared_object_remove(fake.path);
    shared_object_remove(fake.driver_path);
    return 0;
}

static int allow(void **state)
{
    fake.refuse(0, 0);
    return 0;
}

static const char *const names[] = {"b__y.pct", "no__such.sum", "a__x.sum", "c__z.sum"};
enum { NAMES = 4, DEVICE = 3, MAX_RANGES = 4 };

static struct counters *opened(enum counters_range range)
{
    struct counters *counters;
    assay_clear_error();
    if (counters_open(&counters, names, NAMES, DEVICE, range, MAX_RANGES))
        fail_msg("%s", assay_last_error());
    return counters;
}

/* As many passes as asked for. */
static int run_passes(struct counters *counters)
{
    bool done = false;
    int passes = 0;
    for (; !done && passes < 10; passes++) {
        assert_int_equal(counters_begin(counters), 0);
        assert_int_equal(counters_end(counters, &done), 0);
    }
    return passes;
}

TEST_WITH(values_are_in_the_order_of_the_names_kernel_by_kernel, allow, NULL)
{
    struct counters *counters = opened(COUNTERS_EACH_KERNEL);
    double values[MAX_RANGES * NAMES];
    int ranges;
    assert_int_equal(counters_passes(counters), 2);
    assert_int_equal(run_passes(counters), 2);
    assert_int_equal(counters_read(counters, values, &ranges), 0);
    assert_int_equal(ranges, 2);
    assert_true(values[0] == 1);
    assert_true(isnan(values[1])); /* not known */
    assert_true(values[2] == 0);
    assert_true(isnan(values[3])); /* known, and not to be evaluated */
    assert_true(values[NAMES] == 101);
    assert_true(values[NAMES + 2] == 100);
    counters_close(counters);
}

TEST_WITH(what_the_gpu_does_not_know_is_named, allow, NULL)
{
    char text[64], cut[8];
    struct counters *counters = opened(COUNTERS_EACH_KERNEL);
    counters_unknown(counters, text, sizeof text);
    assert_string_equal(text, "no__such.sum");
    counters_unknown(counters, cut, sizeof cut);
    assert_string_equal(cut, "no__suc");
    counters_close(counters);
}

TEST_WITH(a_gpu_that_knows_none_of_them_is_an_error, allow, NULL)
{
    const char *const unknown[] = {"no__such.sum"};
    struct counters *counters;
    assert_int_equal(counters_open(&counters, unknown, 1, DEVICE, COUNTERS_EACH_KERNEL, MAX_RANGES),
                     -1);
    assert_non_null(strstr(assay_last_error(), "none of the counters"));
    assert_null(counters);
    assert_int_equal(fake.open(), 0);
}

TEST_WITH(a_whole_launch_is_one_range, allow, NULL)
{
    struct counters *counters = opened(COUNTERS_WHOLE_LAUNCH);
    double values[MAX_RANGES * NAMES];
    int ranges;
    assert_int_equal(fake.ranges(), 2); /* CUPTI's number of the user's ranges */
    run_passes(counters);
    assert_int_equal(counters_read(counters, values, &ranges), 0);
    assert_int_equal(ranges, 1);
    counters_close(counters);
}

TEST_WITH(a_user_without_permission_is_told_how_to_get_it, allow, NULL)
{
    struct counters *counters;
    fake.refuse(1, 35);
    assert_int_equal(
        counters_open(&counters, names, NAMES, DEVICE, COUNTERS_EACH_KERNEL, MAX_RANGES), -1);
    assert_non_null(strstr(assay_last_error(), "NVreg_RestrictProfilingToAdminUsers=0"));
    assert_non_null(strstr(assay_last_error(), "root"));
    assert_null(strchr(assay_last_error(), '\n'));
    assert_int_equal(fake.open(), 0);
}

TEST_WITH(a_refusal_on_the_way_is_an_error_with_the_call, allow, NULL)
{
    struct counters *counters = opened(COUNTERS_EACH_KERNEL);
    bool done;
    double values[MAX_RANGES * NAMES];
    int ranges;
    fake.refuse(2, 999);
    assert_int_equal(counters_begin(counters), -1);
    assert_non_null(strstr(assay_last_error(), "cuptiRangeProfilerStart: WORDS (999)"));
    fake.refuse(3, 999);
    assert_int_equal(counters_end(counters, &done), -1);
    fake.refuse(4, 0);
    assert_int_equal(counters_read(counters, values, &ranges), -1);
    assert_non_null(strstr(assay_last_error(), "dropped the counters of 6 kernels"));
    counters_close(counters);
}

TEST_WITH(closing_gives_everything_back, allow, NULL)
{
    for (int i = 0; i < 2; i++) {
        struct counters *counters = opened(COUNTERS_EACH_KERNEL);
        assert_int_equal(fake.open(), 3); /* profiler, ranges, host */
        counters_close(counters);
        assert_int_equal(fake.open(), 0);
    }
}

int main(void)
{
    return test_main(make_libraries, remove_libraries);
}

#else

TEST(a_build_without_the_range_profiler_says_so)
{
    const char *const names[] = {"gpu__time_duration.sum"};
    struct counters *counters;
    assert_int_equal(counters_open(&counters, names, 1, 0, COUNTERS_EACH_KERNEL, 1), -1);
    assert_non_null(strstr(assay_last_error(), "CUDA 12.6"));
    assert_null(counters);
}

#endif
