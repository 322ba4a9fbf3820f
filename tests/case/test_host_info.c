/* test_host_info.c - the machine as its files describe it, from made files. */
#include <string.h>
#include <unistd.h>

#include "tests/made_root.h"
#include "case/run_record.h"

static struct host_info described(void)
{
    struct host_info info;
    host_describe(&info, root);
    return info;
}

ROOT_TEST(cpu_is_the_model_name_of_the_first_core)
{
    put("/proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Example CPU @ 2.00GHz\nflags\t\t: fpu sse\n\n"
        "processor\t: 1\nmodel name\t: Another\n");
    assert_string_equal(described().cpu, "Example CPU @ 2.00GHz");
}

ROOT_TEST(cpu_without_a_model_name_is_the_architecture)
{
    put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\n");
    assert_int_not_equal(strlen(described().cpu), 0);
    assert_null(strstr(described().cpu, "0x41"));
}

ROOT_TEST(memory_is_in_bytes)
{
    put("/proc/meminfo", "MemTotal:       16384256 kB\nMemFree:         1000000 kB\n");
    assert_int_equal(described().memory_bytes, 16384256LL * 1024);
}

ROOT_TEST(os_is_the_pretty_name_without_its_quotes)
{
    put("/etc/os-release",
        "NAME=\"Example\"\nPRETTY_NAME=\"Example Linux 12 (box)\"\nID=example\n");
    assert_string_equal(described().os, "Example Linux 12 (box)");
}

ROOT_TEST(os_release_may_be_below_usr_lib)
{
    put("/usr/lib/os-release", "PRETTY_NAME=Plain\n");
    assert_string_equal(described().os, "Plain");
}

ROOT_TEST(missing_files_leave_unknown_and_not_zero)
{
    struct host_info info = described();
    assert_string_equal(info.os, "");
    assert_string_equal(info.container, "");
    assert_int_equal(info.memory_bytes, -1);
}

ROOT_TEST(bare_metal_has_no_container)
{
    put("/proc/cpuinfo", "model name\t: Example\nflags\t\t: fpu sse\n");
    put("/proc/1/cgroup", "0::/init.scope\n");
    put("/sys/class/dmi/id/sys_vendor", "Example Computers\n");
    assert_string_equal(described().container, "");
}

ROOT_TEST(systemd_names_the_container)
{
    put("/run/systemd/container", "systemd-nspawn\n");
    put("/.dockerenv", "");
    assert_string_equal(described().container, "systemd-nspawn");
}

ROOT_TEST(environment_of_init_names_the_container)
{
    static const char environ[] = "PATH=/bin\0container=lxc\0HOME=/root";
    put_bytes("/proc/1/environ", environ, sizeof environ);
    assert_string_equal(described().container, "lxc");
}

ROOT_TEST(an_empty_dockerenv_is_docker)
{
    put("/.dockerenv", "");
    assert_string_equal(described().container, "docker");
}

ROOT_TEST(firecracker_is_known_by_its_acpi_table)
{
    static const char facp[] = "FACP\x14\x01\0\0\x06\x66"
                               "FIRECKFCVMFADT\0\0\0\0FCAT";
    put_bytes("/sys/firmware/acpi/tables/FACP", facp, sizeof facp);
    assert_string_equal(described().container, "firecracker");
}

ROOT_TEST(a_container_in_a_virtual_machine_names_both)
{
    put("/.dockerenv", "");
    put("/sys/class/dmi/id/sys_vendor", "QEMU\n");
    assert_string_equal(described().container, "docker, qemu");
}

ROOT_TEST(an_unnamed_hypervisor_is_a_virtual_machine)
{
    put("/proc/cpuinfo", "model name\t: Example\nflags\t\t: fpu hypervisor sse\n");
    assert_string_equal(described().container, "virtual machine");
}

ROOT_TEST(a_text_longer_than_its_field_is_cut)
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
    host_describe(&info, "");
    assert_true(info.cores >= 1);
    assert_true(info.cores <= sysconf(_SC_NPROCESSORS_CONF));
    assert_true(info.memory_bytes > 0);
    assert_int_equal(strncmp(info.kernel, "Linux ", 6), 0);
    assert_int_not_equal(strlen(info.hostname), 0);
}
