/* test_doctor_facts.c - where the doctor's facts come from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/made_root.h"
#include "doctor/doctor.h"

/* Asks no device, so no worker is started. */
static struct doctor_facts gather(const char *database)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, database);
    struct doctor_options options = {.gpu_spec = "cuda:0", .database = path, .root = root};
    struct doctor_facts facts;
    doctor_gather(&facts, &options);
    return facts;
}

ROOT_TEST(what_is_nowhere_to_be_found_is_unknown)
{
    struct doctor_facts facts = gather("/results/assay.sqlite");
    assert_string_equal(facts.driver, "");
    assert_string_equal(facts.governor, "");
    assert_false(facts.has_device_node);
    assert_false(facts.has_nvml);
    assert_int_equal(facts.turbo, -1);
    assert_int_equal(facts.persistence, -1);
    assert_int_equal(facts.gpu_processes, -1);
    assert_true(isnan(facts.quota_cores) && isnan(facts.load) && isnan(facts.state.sm_mhz));
    assert_false(facts.host.is_asked || facts.gpu.is_asked);
}

ROOT_TEST(facts_are_read_from_the_kernels_files)
{
    put("/proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n"
        "GCC version:  gcc version 12.3.0\n");
    put("/proc/loadavg", "1.25 0.80 0.50 2/300 4242\n");
    put("/dev/nvidiactl", "");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
    put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    put("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    struct doctor_facts facts = gather("/assay.sqlite");
    assert_string_equal(facts.driver, "580.95.05");
    assert_true(facts.has_device_node);
    assert_true(facts.load == 1.25);
    assert_string_equal(facts.governor, "schedutil");
    assert_int_equal(facts.turbo, 0);
    assert_true(facts.quota_cores == 1.5);
}

ROOT_TEST(a_machine_without_limits_is_read_as_such)
{
    put("/sys/devices/system/cpu/cpufreq/boost", "1\n");
    put("/sys/fs/cgroup/cpu.max", "max 100000\n");
    struct doctor_facts facts = gather("/assay.sqlite");
    assert_int_equal(facts.turbo, 1);
    assert_true(isnan(facts.quota_cores));
}

ROOT_TEST(looking_at_a_database_that_is_not_there_makes_nothing)
{
    struct doctor_facts facts = gather("/results/assay.sqlite");
    assert_string_equal(facts.database_error, "");
    assert_false(facts.database_exists);
    /* As store_open has it, which makes one folder. */
    assert_non_null(strstr(gather("/results/deep/assay.sqlite").database_error, "not those above"));
    assert_true(facts.free_bytes > 0);
    char folder[128];
    struct stat info;
    snprintf(folder, sizeof folder, "%s/results", root);
    assert_int_equal(stat(folder, &info), -1);
}

ROOT_TEST(a_database_below_a_file_cannot_be_made)
{
    put("/file", "");
    struct doctor_facts facts = gather("/file/deep/assay.sqlite");
    assert_non_null(strstr(facts.database_error, "Not a directory"));
    assert_true(isnan(facts.free_bytes));
}

ROOT_TEST(a_file_that_is_no_database_is_told)
{
    put("/notes.txt", "these are some notes, and long enough to be taken for a header of a file\n");
    struct doctor_facts facts = gather("/notes.txt");
    assert_true(facts.database_exists);
    assert_string_not_equal(facts.database_error, "");
}
