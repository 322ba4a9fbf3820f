/* test_host_cache.c - the last-level cache from made files of /sys. */
#include "tests/made_root.h"
#include "device/host/host_cache.h"

static void put_cache(int processor, int index, const char *level, const char *type,
                      const char *size, const char *shared)
{
    const char *const files[][2] = {
        {"level", level}, {"type", type}, {"size", size}, {"shared_cpu_list", shared}};
    for (int i = 0; i < 4; i++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", processor,
                 index, files[i][0]);
        put(path, files[i][1]);
    }
}

ROOT_TEST(a_cache_that_two_processors_share_counts_once)
{
    for (int p = 0; p < 2; p++) {
        put_cache(p, 0, "1", "Data", "48K", p ? "1" : "0");
        put_cache(p, 1, "1", "Instruction", "32K", p ? "1" : "0");
        put_cache(p, 2, "2", "Unified", "1024K", p ? "1" : "0");
        put_cache(p, 3, "3", "Unified", "32768K", "0-1");
    }
    assert_int_equal(host_cache_bytes_below(root, 2), 32 << 20);
}

ROOT_TEST(caches_of_their_own_add_up)
{
    for (int p = 0; p < 4; p++)
        put_cache(p, 0, "2", "Unified", "2M", p < 2 ? "0,1" : "2-3");
    assert_int_equal(host_cache_bytes_below(root, 4), 4 << 20);
}

ROOT_TEST(a_processor_that_may_not_be_used_adds_nothing)
{
    for (int p = 0; p < 4; p++)
        put_cache(p, 0, "2", "Unified", "2M", p < 2 ? "0,1" : "2-3");
    assert_int_equal(host_cache_bytes_below(root, 2), 2 << 20);
}

ROOT_TEST(instructions_are_no_data)
{
    put_cache(0, 0, "1", "Data", "64K", "0");
    put_cache(0, 1, "2", "Instruction", "128K", "0");
    assert_int_equal(host_cache_bytes_below(root, 1), 64 << 10);
}

ROOT_TEST(without_files_it_is_unknown)
{
    assert_int_equal(host_cache_bytes_below(root, 4), -1);
}

ROOT_TEST(this_machine_has_some)
{
    int64_t bytes = host_cache_bytes();
    assert_true(bytes == -1 || bytes >= 16 << 10);
}
