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

static void cpu_is_the_model_name_of_the_first_core(void **state)
{
    put("/proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Example CPU @ 2.00GHz\nflags\t\t: fpu sse\n\n"
        "processor\t: 1\nmodel name\t: Another\n");
    assert_string_equal(described().cpu, "Example CPU @ 2.00GHz");
}

static void cpu_without_a_model_name_is_the_architecture(void **state)
{
    put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n");
    assert_int_not_equal(strlen(described().cpu), 0);
    assert_null(strstr(described().cpu, "0x41"));
}

static void memory_is_in_bytes(void **state)
{
    put("/proc/meminfo", "MemTotal:       16384256 kB\nMemFree:         1000000 kB\n");
    assert_int_equal(described().memory_bytes, 16384256LL * 1024);
}

static void os_is_the_pretty_name_without_its_quotes(void **state)
{
    put("/etc/os-release",
        "NAME=\"Example\"\nPRETTY_NAME=\"Example Linux 12 (box)\"\nID=example\n");
    assert_string_equal(described().os, "Example Linux 12 (box)");
}

static void os_release_may_be_below_usr_lib(void **state)
{
    put("/usr/lib/os-release", "PRETTY_NAME=Plain\n");
    assert_string_equal(described().os, "Plain");
}

static void missing_files_leave_unknown_and_not_zero(void **state)
{
    struct host_info info = described();
    assert_string_equal(info.os, "");
    assert_string_equal(info.container, "");
    assert_int_equal(info.memory_bytes, -1);
}

static void bare_metal_has_no_container(void **state)
{
    put("/proc/cpuinfo", "model name\t: Example\nflags\t\t: fpu sse\n");
    put("/proc/1/cgroup", "0::/init.scope\n");
    put("/sys/class/dmi/id/sys_vendor", "Example Computers\n");
    assert_string_equal(described().container, "");
}

static void systemd_names_the_container(void **state)
{
    put("/run/systemd/container", "systemd-nspawn\n");
    put("/.dockerenv", "");
    assert_string_equal(described().container, "systemd-nspawn");
}

static void environment_of_init_names_the_container(void **state)
{
    static const char environ[] = "PATH=/bin\0container=lxc\0HOME=/root";
    put_bytes("/proc/1/environ", environ, sizeof environ);
    assert_string_equal(described().container, "lxc");
}

static void an_empty_dockerenv_is_docker(void **state)
{
    put("/.dockerenv", "");
    assert_string_equal(described().container, "docker");
}

static void firecracker_is_known_by_its_acpi_table(void **state)
{
    static const char facp[] = "FACP\x14\x01\0\0\x06\x66"
                               "FIRECKFCVMFADT\0\0\0\0FCAT";
    put_bytes("/sys/firmware/acpi/tables/FACP", facp, sizeof facp);
    assert_string_equal(described().container, "firecracker");
}

static void a_container_in_a_virtual_machine_names_both(void **state)
{
    put("/.dockerenv", "");
    put("/sys/class/dmi/id/sys_vendor", "QEMU\n");
    assert_string_equal(described().container, "docker, qemu");
}

static void an_unnamed_hypervisor_is_a_virtual_machine(void **state)
{
    put("/proc/cpuinfo", "model name\t: Example\nflags\t\t: fpu hypervisor sse\n");
    assert_string_equal(described().container, "virtual machine");
}

static void a_text_longer_than_its_field_is_cut(void **state)
{
    char text[600];
    memset(text, 'x', sizeof text);
    memcpy(text, "PRETTY_NAME=", 12);
    text[sizeof text - 1] = '\0';
    put("/etc/os-release", text);
    struct host_info info = described();
    assert_int_equal(strlen(info.os), sizeof info.os - 1);
}

static void this_machine_has_cores_memory_and_a_kernel(void **state)
{
    struct host_info info;
    host_describe(&info);
    assert_true(info.cores >= 1);
    assert_true(info.cores <= sysconf(_SC_NPROCESSORS_CONF));
    assert_true(info.memory_bytes > 0);
    assert_int_equal(strncmp(info.kernel, "Linux ", 6), 0);
    assert_int_not_equal(strlen(info.hostname), 0);
}

#define with_root(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_root(cpu_is_the_model_name_of_the_first_core),
        with_root(cpu_without_a_model_name_is_the_architecture),
        with_root(memory_is_in_bytes),
        with_root(os_is_the_pretty_name_without_its_quotes),
        with_root(os_release_may_be_below_usr_lib),
        with_root(missing_files_leave_unknown_and_not_zero),
        with_root(bare_metal_has_no_container),
        with_root(systemd_names_the_container),
        with_root(environment_of_init_names_the_container),
        with_root(an_empty_dockerenv_is_docker),
        with_root(firecracker_is_known_by_its_acpi_table),
        with_root(a_container_in_a_virtual_machine_names_both),
        with_root(an_unnamed_hypervisor_is_a_virtual_machine),
        with_root(a_text_longer_than_its_field_is_cut),
        cmocka_unit_test(this_machine_has_cores_memory_and_a_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
