/*
 * test_cupti_cuda.c - recording what the device did, against a library made on the
 * spot (fake_cupti.h).
 */
#include <stdbool.h>

#include "tests/test.h"
#include "base/error.h"
#include "device/cuda/cupti.h"
#include "tests/shared_object.h"
#include "synthetic_cubin.h"

#if __has_include(<cupti_activity.h>)

#include "fake_cupti.h"

/* The library's other side: what the tests make it do. */
static struct {
    char path[128];
    void *library;
    void (*kernel)(uint64_t start, uint64_t end, uint32_t correlation, const char *name);
    void (*copy)(uint64_t start, uint64_t end, uint32_t correlation);
    void (*set)(uint64_t start, uint64_t end, uint32_t correlation);
    void (*unfinished)(void);
    void (*dropped)(size_t count);
    void (*results)(int subscribe, int enable);
    int (*kinds)(void);
    int (*dirty)(void);
    void (*module)(const char *cubin, size_t bytes);
    int (*call)(const char *name, int site, const void *parameters, const char *symbol);
} fake;

static int make_library(void **state)
{
    if (shared_object_make(library_source, fake.path, sizeof fake.path)) return -1;
    fake.library = dlopen(fake.path, RTLD_NOW | RTLD_LOCAL);
    if (!fake.library) return -1;
    shared_object_find(fake.library, "fake_kernel", &fake.kernel);
    shared_object_find(fake.library, "fake_copy", &fake.copy);
    shared_object_find(fake.library, "fake_set", &fake.set);
    shared_object_find(fake.library, "fake_unfinished", &fake.unfinished);
    shared_object_find(fake.library, "fake_dropped", &fake.dropped);
    shared_object_find(fake.library, "fake_results", &fake.results);
    shared_object_find(fake.library, "fake_kinds", &fake.kinds);
    shared_object_find(fake.library, "fake_dirty", &fake.dirty);
    shared_object_find(fake.library, "fake_module", &fake.module);
    shared_object_find(fake.library, "fake_call", &fake.call);
    return 0;
}

static int remove_library(void **state)
{
    dlclose(fake.library);
    shared_object_remove(fake.path);
    return 0;
}

static int open_session(void **state)
{
    unsetenv("CUDA_INJECTION64_PATH");
    setenv("ASSAY_CUPTI", fake.path, 1);
    fake.results(0, 0);
    return cupti_open();
}

static int close_session(void **state)
{
    cupti_close();
    unsetenv("CUDA_INJECTION64_PATH");
    return 0;
}

static const struct cupti_record *records;
static int count, lost;

static void collect(int expected_count, int expected_lost)
{
    assert_int_equal(cupti_collect(&records, &count, &lost), 0);
    assert_int_equal(count, expected_count);
    assert_int_equal(lost, expected_lost);
}

/* Must come first: afterwards the library stays loaded. */
TEST_WITH(a_missing_library_is_an_error_with_its_path, NULL, close_session)
{
    setenv("ASSAY_CUPTI", "/nowhere/libcupti.so", 1);
    assert_int_equal(cupti_open(), -1);
    assert_non_null(strstr(assay_last_error(), "/nowhere/libcupti.so"));
    assert_int_equal(cupti_record(false), -1);
}

TEST_WITH(a_profiler_in_the_environment_has_the_device, NULL, close_session)
{
    setenv("CUDA_INJECTION64_PATH", "/opt/tool/injection.so", 1);
    assert_int_equal(cupti_open(), -1);
    assert_non_null(strstr(assay_last_error(), "another profiler"));
}

TEST_WITH(a_second_subscriber_is_told_that_it_is_taken, NULL, close_session)
{
    setenv("ASSAY_CUPTI", fake.path, 1);
    fake.results(39, 0);
    assert_int_equal(cupti_open(), -1);
    assert_non_null(strstr(assay_last_error(), "another profiler"));
    assert_int_equal(cupti_record(false), -1);
}

TEST_WITH(a_refusal_to_record_leaves_nothing_enabled, NULL, close_session)
{
    setenv("ASSAY_CUPTI", fake.path, 1);
    fake.results(0, 35);
    assert_int_equal(cupti_open(), -1);
    assert_non_null(strstr(assay_last_error(), "NVreg_RestrictProfilingToAdminUsers"));
    assert_int_equal(fake.kinds(), 0);
    fake.results(0, 999);
    assert_int_equal(cupti_open(), -1);
    assert_non_null(strstr(assay_last_error(), "WORDS (999)"));
}

TEST_WITH(a_kernel_is_recorded_with_its_resources, open_session, close_session)
{
    char name[] = "_Z4fillPf";
    fake.kernel(1000, 3500, 11, name);
    collect(1, 0);
    name[0] = 'x'; /* the name is a copy by now */
    assert_int_equal(records[0].kind, CUPTI_KERNEL);
    assert_int_equal(records[0].start_ns, 1000);
    assert_int_equal(records[0].end_ns, 3500);
    assert_int_equal(records[0].correlation, 11);
    assert_int_equal(records[0].stream, 7);
    assert_int_equal(records[0].device, 3);
    assert_int_equal(records[0].registers, 40);
    assert_int_equal(records[0].shared_bytes, 1536);
    assert_int_equal(records[0].local_bytes, 16);
    assert_string_equal(records[0].name, "_Z4fillPf");
}

TEST_WITH(copies_and_sets_are_recorded_without_resources, open_session, close_session)
{
    fake.set(30, 40, 3);
    fake.copy(10, 20, 2);
    collect(2, 0);
    assert_int_equal(records[0].kind, CUPTI_COPY);
    assert_int_equal(records[0].correlation, 2);
    assert_int_equal(records[0].stream, 7);
    assert_int_equal(records[1].kind, CUPTI_SET);
    assert_int_equal(records[1].start_ns, 30);
    assert_int_equal(records[1].correlation, 3);
    assert_string_equal(records[1].name, "");
    assert_int_equal(records[1].registers, -1);
}

TEST_WITH(records_are_sorted_by_start_then_end_then_correlation, open_session, close_session)
{
    static const uint32_t order[] = {4, 5, 2, 1};
    fake.kernel(30, 40, 1, "a");
    fake.kernel(10, 30, 2, "a");
    fake.kernel(10, 20, 5, "a");
    fake.kernel(10, 20, 4, "a");
    collect(4, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(records[i].correlation, order[i]);
}

TEST_WITH(a_collect_takes_what_came_since_the_last, open_session, close_session)
{
    fake.kernel(10, 20, 1, "a");
    collect(1, 0);
    collect(0, 0);
    fake.kernel(30, 40, 2, "b");
    collect(1, 0);
    assert_int_equal(records[0].correlation, 2);
}

TEST_WITH(many_kernels_fill_many_buffers_and_none_is_lost, open_session, close_session)
{
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 1; i <= 20000; i++)
            fake.kernel(i * 10, i * 10 + 5, i, i % 2 ? "odd" : "even");
        collect(20000, 0);
        for (uint32_t i = 0; i < 20000; i++)
            assert_int_equal(records[i].correlation, i + 1);
        assert_ptr_equal(records[0].name, records[2].name);
    }
    assert_false(fake.dirty());
}

TEST_WITH(what_is_lost_is_counted, open_session, close_session)
{
    fake.kernel(10, 20, 1, "a");
    fake.kernel(0, 0, 2, "a"); /* without times, and with times that cannot be */
    fake.kernel(5, 0, 3, "a");
    fake.kernel(5, 4, 4, "a");
    fake.unfinished();
    fake.dropped(5);
    collect(1, 3 + 1 + 5);
    collect(0, 0);
}

TEST_WITH(the_code_of_a_loaded_kernel_has_a_hash, open_session, close_session)
{
    static const char code[] = "machine code", other[] = "other code";
    const struct synthetic_function function = {"_Z4fillPf", code, sizeof code};
    const struct synthetic_function changed = {"_Z4fillPf", other, sizeof other};
    _Alignas(8) unsigned char cubin[SYNTHETIC_MAX];
    char hash[RESULT_MAX_HASH];
    cupti_code_hash("_Z4fillPf", hash);
    assert_string_equal(hash, "");

    fake.module((char *)cubin, synthetic_cubin(cubin, &function, 1));
    cupti_code_hash("_Z4fillPf", hash);
    assert_int_equal(strlen(hash), 32);
    assert_int_equal(strspn(hash, "0123456789abcdef"), 32);

    /* Two kernels of one name: which one ran cannot be said. */
    fake.module((char *)cubin, synthetic_cubin(cubin, &changed, 1));
    cupti_code_hash("_Z4fillPf", hash);
    assert_string_equal(hash, "");
}

TEST_WITH(a_module_that_cannot_be_read_is_passed_over, open_session, close_session)
{
    char hash[RESULT_MAX_HASH];
    fake.module("not a cubin", 11);
    fake.module(NULL, 0);
    cupti_code_hash("not", hash);
    assert_string_equal(hash, "");
    fake.kernel(10, 20, 1, "a");
    collect(1, 0);
}

/* What a watcher was told, as text. */
static char told[256];

static void hear_module(void *context, const void *cubin, size_t size)
{
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s module %zu;", (char *)context,
             size);
}

/* Asks for something itself, of which it is not told. */
static void hear_call(void *context, const char *name, bool has_ended, const void *parameters,
                      const char *kernel)
{
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s %s %s %s %d;", (char *)context,
             has_ended ? "after" : "before", name, kernel ? kernel : "-", *(const int *)parameters);
    fake.call("cuPointerGetAttributes", 0, parameters, NULL);
}

TEST_WITH(who_watches_is_told, open_session, close_session)
{
    static char me[] = "me";
    int parameters = 7;
    assert_int_equal(fake.call("cuInit", 0, &parameters, NULL), 0); /* nobody does */
    cupti_close();
    cupti_watch(&(struct cupti_watcher){hear_module, hear_call, me});
    assert_int_equal(cupti_open(), 0);
    told[0] = '\0';
    fake.call("cuLaunchKernel", 0, &parameters, "_Z4fillPf");
    fake.module("not a cubin", 11);
    fake.call("cuLaunchKernel", 1, &parameters, NULL);
    assert_string_equal(told, "me before cuLaunchKernel _Z4fillPf 7;me module 11;"
                              "me after cuLaunchKernel - 7;");
    cupti_watch(NULL);
}

TEST_WITH(a_closed_session_records_nothing_and_opens_again, open_session, close_session)
{
    assert_int_not_equal(fake.kinds(), 0);
    cupti_close();
    assert_int_equal(fake.kinds(), 0);
    assert_int_equal(cupti_record(false), -1);
    assert_int_equal(cupti_collect(&records, &count, &lost), -1);
    assert_int_equal(cupti_open(), 0);
    fake.kernel(10, 20, 1, "a");
    collect(1, 0);
}

int main(void)
{
    return test_main(make_library, remove_library);
}

#else

TEST(a_build_without_cupti_says_so)
{
    assert_int_equal(cupti_open(), -1);
    assert_non_null(strstr(assay_last_error(), "CUPTI's headers"));
}

#endif
