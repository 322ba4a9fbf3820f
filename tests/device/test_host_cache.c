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

TEST_WITH(a_cache_that_two_processors_share_counts_once, make_root, remove_root)
{
    for (int p = 0; p < 2; p++) {
        put_cache(p, 0, "1", "Data", "48K", p ? "1" : "0");
        put_cache(p, 1, "1", "Instruction", "32K", p ? "1" : "0");
        put_cache(p, 2, "2", "Unified", "1024K", p ? "1" : "0");
        put_cache(p, 3, "3", "Unified", "32768K", "0-1");
    }
    assert_int_equal(host_cache_bytes_below(root, 2), 32 << 20);
}

TEST_WITH(caches_of_their_own_add_up, make_root, remove_root)
{
    for (int p = 0; p < 4; p++)
        put_cache(p, 0, "2", "Unified", "2M", p < 2 ? "0,1" : "2-3");
    assert_int_equal(host_cache_bytes_below(root, 4), 4 << 20);
}

TEST_WITH(a_processor_that_may_not_be_used_adds_nothing, make_root, remove_root)
{
    for (int p = 0; p < 4; p++)
        put_cache(p, 0, "2", "Unified", "2M", p < 2 ? "0,1" : "2-3");
    assert_int_equal(host_cache_bytes_below(root, 2), 2 << 20);
}

TEST_WITH(instructions_are_no_data, make_root, remove_root)
{
    put_cache(0, 0, "1", "Data", "64K", "0");
    put_cache(0, 1, "2", "Instruction", "128K", "0");
    assert_int_equal(host_cache_bytes_below(root, 1), 64 << 10);
}

TEST_WITH(without_files_it_is_unknown, make_root, remove_root)
{
    assert_int_equal(host_cache_bytes_below(root, 4), -1);
}

TEST_WITH(this_machine_has_some, make_root, remove_root)
{
    int64_t bytes = host_cache_bytes();
    assert_true(bytes == -1 || bytes >= 16 << 10);
}

int main(void)
{
    return test_main(NULL, NULL);
}
