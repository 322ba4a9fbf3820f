/* test_host_info.c - the machine as its files describe it, from made files. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "case/run_record.h"

static char root[PATH_MAX / 2];

static int make_root(void **state)
{
    const char *parent = getenv("TMP") ? getenv("TMP") : "/tmp";
    snprintf(root, sizeof root, "%s/host_info.XXXXXX", parent);
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

/* A file below the root, with the folders on its way. */
static void put_bytes(const char *path, const char *bytes, size_t length)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void put(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

static struct host_info described(void)
{
    struct host_info info;
    host_describe_below(&info, root);
    return info;
}

TEST_WITH(cpu_is_the_model_name_of_the_first_core, make_root, remove_root)
{
    put("/proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Example CPU @ 2.00GHz\nflags\t\t: fpu sse\n\n"
        "processor\t: 1\nmodel name\t: Another\n");
    assert_string_equal(described().cpu, "Example CPU @ 2.00GHz");
}

TEST_WITH(cpu_without_a_model_name_is_the_architecture, make_root, remove_root)
{
    put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n");
    assert_int_not_equal(strlen(described().cpu), 0);
    assert_null(strstr(described().cpu, "0x41"));
}

TEST_WITH(memory_is_in_bytes, make_root, remove_root)
{
    put("/proc/meminfo", "MemTotal:       16384256 kB\nMemFree:         1000000 kB\n");
    assert_int_equal(described().memory_bytes, 16384256LL * 1024);
}

TEST_WITH(os_is_the_pretty_name_without_its_quotes, make_root, remove_root)
{
    put("/etc/os-release",
        "NAME=\"Example\"\nPRETTY_NAME=\"Example Linux 12 (box)\"\nID=example\n");
    assert_string_equal(described().os, "Example Linux 12 (box)");
}

TEST_WITH(os_release_may_be_below_usr_lib, make_root, remove_root)
{
    put("/usr/lib/os-release", "PRETTY_NAME=Plain\n");
    assert_string_equal(described().os, "Plain");
}

TEST_WITH(missing_files_leave_unknown_and_not_zero, make_root, remove_root)
{
    struct host_info info = described();
    assert_string_equal(info.os, "");
    assert_string_equal(info.container, "");
    assert_int_equal(info.memory_bytes, -1);
}

TEST_WITH(bare_metal_has_no_container, make_root, remove_root)
{
    put("/proc/cpuinfo", "model name\t: Example\nflags\t\t: fpu sse\n");
    put("/proc/1/cgroup", "0::/init.scope\n");
    put("/sys/class/dmi/id/sys_vendor", "Example Computers\n");
    assert_string_equal(described().container, "");
}

TEST_WITH(systemd_names_the_container, make_root, remove_root)
{
    put("/run/systemd/container", "systemd-nspawn\n");
    put("/.dockerenv", "");
    assert_string_equal(described().container, "systemd-nspawn");
}

TEST_WITH(environment_of_init_names_the_container, make_root, remove_root)
{
    static const char environ[] = "PATH=/bin\0container=lxc\0HOME=/root";
    put_bytes("/proc/1/environ", environ, sizeof environ);
    assert_string_equal(described().container, "lxc");
}

TEST_WITH(an_empty_dockerenv_is_docker, make_root, remove_root)
{
    put("/.dockerenv", "");
    assert_string_equal(described().container, "docker");
}

TEST_WITH(firecracker_is_known_by_its_acpi_table, make_root, remove_root)
{
    static const char facp[] = "FACP\x14\x01\0\0\x06\x66"
                               "FIRECKFCVMFADT\0\0\0\0FCAT";
    put_bytes("/sys/firmware/acpi/tables/FACP", facp, sizeof facp);
    assert_string_equal(described().container, "firecracker");
}

TEST_WITH(a_container_in_a_virtual_machine_names_both, make_root, remove_root)
{
    put("/.dockerenv", "");
    put("/sys/class/dmi/id/sys_vendor", "QEMU\n");
    assert_string_equal(described().container, "docker, qemu");
}

TEST_WITH(an_unnamed_hypervisor_is_a_virtual_machine, make_root, remove_root)
{
    put("/proc/cpuinfo", "model name\t: Example\nflags\t\t: fpu hypervisor sse\n");
    assert_string_equal(described().container, "virtual machine");
}

TEST_WITH(a_text_longer_than_its_field_is_cut, make_root, remove_root)
{
    char text[600];
    memset(text, 'x', sizeof text);
    memcpy(text, "PRETTY_NAME=", 12);
    text[sizeof text - 1] = '\0';
    put("/etc/os-release", text);
    struct host_info info = described();
    assert_int_equal(strlen(info.os), sizeof info.os - 1);
}

TEST(this_machine_has_cores_memory_and_a_kernel)
{
    struct host_info info;
    host_describe(&info);
    assert_true(info.cores >= 1);
    assert_true(info.cores <= sysconf(_SC_NPROCESSORS_CONF));
    assert_true(info.memory_bytes > 0);
    assert_int_equal(strncmp(info.kernel, "Linux ", 6), 0);
    assert_int_not_equal(strlen(info.hostname), 0);
}

int main(void)
{
    return test_main(NULL, NULL);
}
