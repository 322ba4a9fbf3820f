#include "host_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const int64_t RESERVE_BYTES = INT64_C(1) << 30;

/* The number that follows `key` at the beginning of a line; `key` is "" for a file that holds one
 * number. -1 where there is none, as in a limit of "max". */
static int64_t number_in(const char *root, const char *file, const char *key)
{
    char path[512], line[256];
    int64_t number = -1;
    snprintf(path, sizeof path, "%s%s", root, file);
    FILE *in = fopen(path, "r");
    if (!in) return -1;
    while (number < 0 && fgets(line, sizeof line, in))
        if (strncmp(line, key, strlen(key)) != 0 ||
            sscanf(line + strlen(key), " %" SCNd64, &number) != 1)
            number = -1;
    fclose(in);
    return number;
}

static int64_t system_left(const char *root)
{
    int64_t kib = number_in(root, "/proc/meminfo", "MemAvailable:");
    return kib < 0 ? INT64_MAX : kib * 1024;
}

static int64_t group_left(const char *root)
{
    int64_t limit = number_in(root, "/sys/fs/cgroup/memory.max", "");
    int64_t used = number_in(root, "/sys/fs/cgroup/memory.current", "");
    int64_t cached = number_in(root, "/sys/fs/cgroup/memory.stat", "inactive_file ");
    if (limit < 0 || used < 0) return INT64_MAX;
    return limit - used + (cached > 0 ? cached : 0);
}

int64_t host_memory_left(const char *root)
{
    int64_t system = system_left(root), group = group_left(root);
    return system < group ? system : group;
}

int host_memory_check(int64_t bytes, const char *what)
{
    int64_t left = host_memory_left("");
    if (left - RESERVE_BYTES >= bytes) return 0;
    assay_error("%s need %" PRId64 " bytes more of host memory, and %" PRId64 " are left", what,
                bytes, left);
    return ASSAY_SKIP;
}
