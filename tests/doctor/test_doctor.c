/* test_doctor.c - each rule of the doctor. */
#include "base/exit_code.h"
#include "doctor_fixture.h"

/* ------------------------------------------------------------------ rules -- */

TEST(a_healthy_machine_has_nothing_but_ok)
{
    struct doctor_facts facts = healthy();
    int count = doctor_judge(&facts, all);
    assert_int_equal(count, 22);
    for (int i = 0; i < count; i++) {
        assert_int_equal(all[i].state, DOCTOR_OK);
        assert_true(all[i].found[0] && !all[i].means[0] && !all[i].remedy[0]);
    }
    assert_int_equal(doctor_exit(&facts), EXIT_FINE);
}

TEST(a_build_without_nvcc_measures_no_gpu)
{
    struct doctor_facts facts = without_gpu("no such device");
    facts.nvcc[0] = '\0';
    expect(&facts, "CUDA build", DOCTOR_MISSING, "without nvcc", "CUDA toolkit");
    assert_null(find(&facts, "GPU"));
    assert_null(find(&facts, "driver"));
}

TEST(a_driver_that_is_not_loaded_is_missing)
{
    struct doctor_facts facts = without_gpu("no usable GPU");
    facts.driver[0] = '\0';
    expect(&facts, "driver", DOCTOR_MISSING, "not loaded", "install the driver");
    expect(&facts, "GPU", DOCTOR_MISSING, "no usable GPU", "see the driver");
}

TEST(a_driver_older_than_its_cuda_needs_is_missing)
{
    const struct {
        const char *nvcc, *driver;
        enum doctor_state state;
    } cases[] = {
        {"V13.0.48", "575.57.08", DOCTOR_MISSING}, {"V13.0.48", "580.65.06", DOCTOR_OK},
        {"V12.0.140", "524.99", DOCTOR_MISSING},   {"V12.9.86", "525.60.13", DOCTOR_OK},
        {"V11.8.89", "450.80.02", DOCTOR_OK},      {"V99.0", "580.95.05", DOCTOR_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doctor_facts facts = without_gpu("no usable GPU");
        snprintf(facts.nvcc, sizeof facts.nvcc, "%s", cases[i].nvcc);
        snprintf(facts.driver, sizeof facts.driver, "%s", cases[i].driver);
        expect(&facts, "driver", cases[i].state, cases[i].driver, "");
    }
    struct doctor_facts facts = without_gpu("no usable GPU");
    strcpy(facts.driver, "535.1");
    expect(&facts, "driver", DOCTOR_MISSING, "too old", "at least 580");
}

TEST(a_driver_without_its_device_file_hints_at_the_container)
{
    struct doctor_facts facts = without_gpu("no usable GPU");
    facts.has_device_node = false;
    expect(&facts, "GPU", DOCTOR_MISSING, "no usable GPU", "--gpus all");
    facts.has_device_node = true;
    expect(&facts, "GPU", DOCTOR_MISSING, "no usable GPU", "nvidia-smi");
}

TEST(lost_timestamps_say_what_events_cost_and_what_to_do)
{
    const struct {
        const char *lost, *remedy;
    } cases[] = {
        {"kernel timestamps (CUPTI): CUPTI is taken by another profiler", "outside the profiler"},
        {"kernel timestamps (CUPTI): CUPTI cannot be loaded: no such file", "ASSAY_CUPTI"},
        {"kernel timestamps (CUPTI): CUPTI is refused to this user (the driver's option "
         "NVreg_RestrictProfilingToAdminUsers)",
         "SYS_ADMIN"},
        {"kernel timestamps (CUPTI): CUPTI's headers were not there when this was built",
         "build again"},
        {"kernel timestamps (CUPTI): CUPTI: cuptiSubscribe: CUPTI_ERROR_UNKNOWN (999)",
         "must suit both"},
        {"", "must suit both"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct doctor_facts facts = healthy();
        facts.gpu.info.clock = CLOCK_EVENT;
        snprintf(facts.gpu.info.lost, sizeof facts.gpu.info.lost, "clocks (NVML): gone\n%s",
                 cases[i].lost);
        expect(&facts, "kernel timestamps", DOCTOR_LIMITED,
               cases[i].lost[0] ? cases[i].lost : "no kernel timestamps", cases[i].remedy);
        assert_non_null(strstr(find(&facts, "kernel timestamps")->means, "3.10 us"));
    }
}

TEST(counters_can_be_read_unless_the_device_says_why_not)
{
    const struct {
        const char *why, *remedy;
    } cases[] = {
        {"CUPTI is refused to this user: load it with NVreg_RestrictProfilingToAdminUsers=0",
         "SYS_ADMIN"},
        {"the GPU's counters are taken by another process (a profiler, or DCGM)", "dcgmi"},
        {"a profile needs CUPTI's kernel records, which are not available on this machine",
         "above"},
        {"built without CUPTI's range profiler (CUDA 12.6 or later)", "build again"},
        {"it has no function cuptiRangeProfilerEnable", "ASSAY_CUPTI"},
        {"CUPTI does not work on this virtual GPU", "virtual GPUs"},
        {"CUPTI: cuptiRangeProfilerEnable: CUPTI_ERROR_UNKNOWN (999)", "must suit both"},
    };
    struct doctor_facts facts = healthy();
    strcpy(facts.gpu.info.lost, "clocks, power, energy (NVML): gone");
    expect(&facts, "hardware counters", DOCTOR_OK, "can be read", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(facts.gpu.info.lost, sizeof facts.gpu.info.lost,
                 "clocks, power, energy (NVML): gone\nhardware counters: %s", cases[i].why);
        expect(&facts, "hardware counters", DOCTOR_LIMITED, cases[i].why, cases[i].remedy);
        assert_string_equal(find(&facts, "hardware counters")->found, cases[i].why);
    }
}

TEST(a_card_that_cannot_be_read_is_missing_its_state)
{
    struct doctor_facts facts = healthy();
    facts.has_nvml = false;
    strcpy(facts.nvml_error, "NVML cannot be loaded: no such file");
    expect(&facts, "card state", DOCTOR_MISSING, "no such file", "libnvidia-ml.so.1");
    assert_null(find(&facts, "clocks"));
    facts = healthy();
    facts.state.energy_mj = NAN;
    expect(&facts, "card state", DOCTOR_LIMITED, "no energy counter", "");
}

TEST(only_a_slowdown_of_the_hardware_limits_the_clocks)
{
    struct doctor_facts facts = healthy();
    expect(&facts, "clocks", DOCTOR_OK, "345 of 1980 MHz now: idle", "");
    facts.state.clock_reasons = 0x4;
    expect(&facts, "clocks", DOCTOR_OK, "sw power cap", "");
    facts.state.clock_reasons = 0x40;
    expect(&facts, "clocks", DOCTOR_LIMITED, "hw thermal slowdown", "cooling");
}

TEST(settings_of_the_card_are_told_when_known)
{
    struct doctor_facts facts = healthy();
    facts.gpu.info.ecc = 0;
    facts.gpu.info.mig = 1;
    facts.persistence = 0;
    expect(&facts, "ECC", DOCTOR_LIMITED, "off", "nvidia-smi -e 1");
    expect(&facts, "MIG", DOCTOR_LIMITED, "on", "nvidia-smi -mig 0");
    expect(&facts, "persistence", DOCTOR_LIMITED, "off", "nvidia-smi -pm 1");
    facts.gpu.info.ecc = facts.gpu.info.mig = facts.persistence = facts.gpu_processes = -1;
    assert_null(find(&facts, "ECC"));
    assert_null(find(&facts, "MIG"));
    assert_null(find(&facts, "persistence"));
    assert_null(find(&facts, "GPU sharing"));
}

TEST(others_on_the_gpu_are_counted)
{
    struct doctor_facts facts = healthy();
    facts.gpu_processes = 2;
    expect(&facts, "GPU sharing", DOCTOR_LIMITED, "2", "--device");
}

TEST(a_missing_vendor_library_leaves_no_baseline)
{
    struct doctor_facts facts = healthy();
    facts.gpu.info.library[0] = facts.host.info.library[0] = '\0';
    expect(&facts, "cuBLAS", DOCTOR_LIMITED, "not found", "install cuBLAS");
    expect(&facts, "OpenBLAS", DOCTOR_LIMITED, "not built in", "libopenblas-dev");
    strcpy(facts.gpu.library_error, "libcublas cannot be loaded");
    strcpy(facts.host.library_error, "OpenBLAS cannot be loaded");
    expect(&facts, "cuBLAS", DOCTOR_LIMITED, "libcublas cannot be loaded", "install cuBLAS");
    expect(&facts, "OpenBLAS", DOCTOR_LIMITED, "OpenBLAS cannot be loaded", "libopenblas0");
}

TEST(a_quota_or_a_single_core_limits)
{
    struct doctor_facts facts = healthy();
    facts.quota_cores = 1.5;
    expect(&facts, "cores", DOCTOR_LIMITED, "8, limited by a quota to 1.5", "whole cores");
    facts.quota_cores = 8;
    expect(&facts, "cores", DOCTOR_OK, "8", "");
    facts.quota_cores = NAN;
    facts.cores = 1;
    expect(&facts, "cores", DOCTOR_LIMITED, "1", "two cores");
    facts.cores = -1;
    assert_null(find(&facts, "cores"));
}

TEST(a_busy_machine_is_told_by_its_load)
{
    struct doctor_facts facts = healthy();
    facts.load = 4.0;
    expect(&facts, "load", DOCTOR_OK, "4.00", "");
    facts.load = 4.1;
    expect(&facts, "load", DOCTOR_LIMITED, "4.10", "quiet machine");
    facts.load = NAN;
    assert_null(find(&facts, "load"));
}

TEST(a_clock_that_moves_limits_the_host)
{
    struct doctor_facts facts = healthy();
    strcpy(facts.governor, "powersave");
    facts.turbo = 1;
    expect(&facts, "governor", DOCTOR_LIMITED, "powersave", "performance");
    expect(&facts, "turbo", DOCTOR_LIMITED, "on", "no_turbo");
    facts.governor[0] = '\0';
    strcpy(facts.container, "kvm");
    facts.turbo = -1;
    expect(&facts, "governor", DOCTOR_LIMITED, "cannot be seen (kvm)", "--launches");
    assert_null(find(&facts, "turbo"));
}

TEST(a_database_must_be_writable_and_local)
{
    struct doctor_facts facts = healthy();
    expect(&facts, "database", DOCTOR_OK, "can be created", "");
    facts.database_exists = true;
    expect(&facts, "database", DOCTOR_OK, "can be written", "");
    strcpy(facts.shared_disk, "NFS");
    expect(&facts, "database", DOCTOR_LIMITED, "NFS, which hosts may share", "local disk");
    strcpy(facts.database_error, "results: Permission denied");
    expect(&facts, "database", DOCTOR_MISSING, "Permission denied", "ASSAY_DB");
}

TEST(a_disk_nearly_full_is_told_by_what_is_left)
{
    struct doctor_facts facts = healthy();
    facts.free_bytes = 512.0 * 1024 * 1024;
    expect(&facts, "disk", DOCTOR_LIMITED, "512 MiB", "free some space");
    facts.free_bytes = 0;
    expect(&facts, "disk", DOCTOR_MISSING, "0 B", "free some space");
    facts.free_bytes = NAN;
    assert_null(find(&facts, "disk"));
}

TEST(gnuplot_and_nvtx_are_told_when_absent)
{
    struct doctor_facts facts = healthy();
    facts.has_nvtx = false;
    strcpy(facts.gnuplot, "4.6 patchlevel 2");
    expect(&facts, "NVTX", DOCTOR_LIMITED, "not built in", "build again");
    expect(&facts, "gnuplot", DOCTOR_LIMITED, "is old", "gnuplot 5");
    facts.gnuplot[0] = '\0';
    expect(&facts, "gnuplot", DOCTOR_MISSING, "not found", "gnuplot-nox");
}

TEST(objects_are_told_where_there_are_some)
{
    struct doctor_facts facts = healthy();
    assert_null(find(&facts, "objects"));
    facts.objects = 2;
    expect(&facts, "objects", DOCTOR_OK, "2 loaded", "");
    strcpy(facts.objects_error, "a.so: others can write to it");
    expect(&facts, "objects", DOCTOR_MISSING, "others can write", "take it out");
}

TEST(a_device_not_asked_for_is_not_judged)
{
    struct doctor_facts facts = healthy();
    memset(&facts.gpu, 0, sizeof facts.gpu);
    for (const struct doctor_check *check = doctor_gpu_checks; check->name; check++)
        assert_null(find(&facts, check->name));
    facts = healthy();
    memset(&facts.host, 0, sizeof facts.host);
    assert_null(find(&facts, "host"));
    assert_null(find(&facts, "governor"));
    assert_non_null(find(&facts, "database"));
}

TEST(the_exit_code_is_4_when_no_device_opens)
{
    struct doctor_facts facts = without_gpu("no usable GPU");
    assert_int_equal(doctor_exit(&facts), EXIT_FINE);
    facts.host.is_open = false;
    strcpy(facts.host.error, "cannot start a worker");
    expect(&facts, "host", DOCTOR_MISSING, "cannot start a worker", "");
    assert_int_equal(doctor_exit(&facts), EXIT_NOTHING);
    assert_int_equal(EXIT_NOTHING, 4);
}
