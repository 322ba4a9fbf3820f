/* test_host_cache.c - the last-level cache from made files of /sys. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/test.h"
#include "device/host/host_cache.h"

static char root[PATH_MAX / 2];

static int make_root(void **state)
{
    const char *parent = getenv("TMP") ? getenv("TMP") : "/tmp";
    snprintf(root, sizeof root, "%s/host_cache.XXXXXX", parent);
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void put_cache(int processor, int index, const char *level, const char *type,
                      const char *size, const char *shared)
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command,
             "d='%s/sys/devices/system/cpu/cpu%d/cache/index%d'; mkdir -p \"$d\" && cd \"$d\" &&"
             " echo %s >level && echo %s >type && echo %s >size && echo %s >shared_cpu_list",
             root, processor, index, level, type, size, shared);
    assert_int_equal(system(command), 0);
}

static void a_cache_that_two_processors_share_counts_once(void **state)
{
    for (int p = 0; p < 2; p++) {
        put_cache(p, 0, "1", "Data", "48K", p ? "1" : "0");
        put_cache(p, 1, "1", "Instruction", "32K", p ? "1" : "0");
        put_cache(p, 2, "2", "Unified", "1024K", p ? "1" : "0");
        put_cache(p, 3, "3", "Unified", "32768K", "0-1");
    }
    assert_int_equal(host_cache_bytes_below(root, 2), 32 << 20);
}

static void caches_of_their_own_add_up(void **state)
{
    for (int p = 0; p < 4; p++)
        put_cache(p, 0, "2", "Unified", "2M", p < 2 ? "0,1" : "2-3");
    assert_int_equal(host_cache_bytes_below(root, 4), 4 << 20);
}

static void a_processor_that_may_not_be_used_adds_nothing(void **state)
{
    for (int p = 0; p < 4; p++)
        put_cache(p, 0, "2", "Unified", "2M", p < 2 ? "0,1" : "2-3");
    assert_int_equal(host_cache_bytes_below(root, 2), 2 << 20);
}

static void instructions_are_no_data(void **state)
{
    put_cache(0, 0, "1", "Data", "64K", "0");
    put_cache(0, 1, "2", "Instruction", "128K", "0");
    assert_int_equal(host_cache_bytes_below(root, 1), 64 << 10);
}

static void without_files_it_is_unknown(void **state)
{
    assert_int_equal(host_cache_bytes_below(root, 4), -1);
}

static void this_machine_has_some(void **state)
{
    int64_t bytes = host_cache_bytes();
    assert_true(bytes == -1 || bytes >= 16 << 10);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        TEST(a_cache_that_two_processors_share_counts_once),
        TEST(caches_of_their_own_add_up),
        TEST(a_processor_that_may_not_be_used_adds_nothing),
        TEST(instructions_are_no_data),
        TEST(without_files_it_is_unknown),
        TEST(this_machine_has_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
