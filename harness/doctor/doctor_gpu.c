/* doctor_gpu.c - the doctor's rules about the GPU, its driver and its libraries. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "device/nvml.h"
#include "doctor/doctor.h"

/* The oldest driver that runs programs built with this major version of CUDA (NVIDIA, CUDA
 * Compatibility, "Minor Version Compatibility"). */
static const struct {
    int cuda, driver;
} oldest_drivers[] = {{11, 450}, {12, 525}, {13, 580}};

/* The leading number of "V13.0.48" or "580.95.05"; 0 when there is none. */
static int major_of(const char *version)
{
    return (int)strtol(version + strcspn(version, "0123456789"), NULL, 10);
}

/* 0: unknown. */
static int oldest_driver(const char *nvcc)
{
    for (size_t i = 0; i < sizeof oldest_drivers / sizeof *oldest_drivers; i++)
        if (oldest_drivers[i].cuda == major_of(nvcc)) return oldest_drivers[i].driver;
    return 0;
}

static void judge_build(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (facts->nvcc[0])
        doctor_find(finding, DOCTOR_OK, "built with nvcc %s", facts->nvcc);
    else
        doctor_find(finding, DOCTOR_MISSING, "built without nvcc");
}

static void judge_driver(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    int oldest = oldest_driver(facts->nvcc);
    const char *driver = facts->driver[0] ? facts->driver : facts->gpu.info.driver;
    if (facts->gpu.is_open) {
        doctor_find(finding, DOCTOR_OK, "%s", driver[0] ? driver : "works");
    } else if (!driver[0]) {
        doctor_find(finding, DOCTOR_MISSING, "NVIDIA's driver is not loaded");
    } else if (oldest && major_of(driver) < oldest) {
        doctor_find(finding, DOCTOR_MISSING, "%s is too old", driver);
        doctor_advise(finding, "programs of the CUDA that this was built with do not run",
                      "install a driver of at least %d, or build with an older CUDA toolkit",
                      oldest);
    } else {
        doctor_find(finding, DOCTOR_OK, "%s is loaded", driver);
    }
}

static void judge_gpu(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    const struct device_info *info = &facts->gpu.info;
    char memory[UNITS_MAX];
    units_bytes(memory, (double)info->memory_bytes);
    if (facts->gpu.is_open)
        doctor_find(finding, DOCTOR_OK,
                    "%s (%s), compute capability %d.%d, %d multiprocessors, memory %s", info->name,
                    info->spec, info->compute_capability / 10, info->compute_capability % 10,
                    info->multiprocessors, memory);
    else
        doctor_find(finding, DOCTOR_MISSING, "%s", facts->gpu.error);
    if (facts->driver[0] && !facts->has_device_node)
        doctor_advise(finding, NULL,
                      "the driver is loaded but /dev/nvidiactl is missing: start the container "
                      "with --gpus all, or run nvidia-modprobe");
    else if (!facts->driver[0])
        doctor_advise(finding, NULL, "see the driver, above");
}

/* ------------------------------------------------------------ measuring -- */

/* A remedy, chosen by a word in the device's message about what is lost; the last one,
 * without a word, is the default. */
struct loss {
    const char *word, *remedy;
};

static const char be_permitted[] =
    "run as root, or set the driver's option NVreg_RestrictProfilingToAdminUsers=0 (in "
    "/etc/modprobe.d) and load it again; in a container add the capability SYS_ADMIN";
static const char see_versions[] =
    "see which CUDA toolkit and driver are installed: CUPTI must suit both";

static const struct loss timestamp_losses[] = {
    {"another profiler", "run outside the profiler, debugger or sanitizer"},
    {"NVreg_RestrictProfilingToAdminUsers", be_permitted},
    {"cannot be loaded", "install CUPTI (cuda-cupti of the CUDA packages), or name its file in "
                         "ASSAY_CUPTI"},
    {"headers", "install CUPTI's headers (cuda-cupti-dev) and build again"},
    {"", see_versions},
};

static const struct loss counter_losses[] = {
    {"kernel records", "see the kernel timestamps, above"},
    {"NVreg_RestrictProfilingToAdminUsers", be_permitted},
    {"another process", "stop the other profiler (for DCGM: dcgmi profile --pause)"},
    {"CUDA 12.6", "build again with CUDA 12.6 or later"},
    {"no function", "install CUPTI of CUDA 12.6 or later, or name its file in ASSAY_CUPTI"},
    {"virtual GPU", "ask whoever runs the host to allow profiling of its virtual GPUs"},
    {"", see_versions},
};

/* The line of `lost` about `what`; false and "" when it was not lost. */
static bool lost_line(const char *lost, const char *what, char *out, size_t size)
{
    for (const char *line = lost; *line; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        snprintf(out, size, "%.*s", (int)length, line);
        if (strncmp(out, what, strlen(what)) == 0) return true;
        line += length;
    }
    out[0] = '\0';
    return false;
}

static const char *remedy_of(const struct loss *loss, const char *line)
{
    while (loss->word[0] && !strstr(line, loss->word))
        loss++;
    return loss->remedy;
}

static void judge_timestamps(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    const struct device_info *info = &facts->gpu.info;
    char floor[UNITS_MAX], line[DOCTOR_TEXT], means[DOCTOR_TEXT];
    if (info->clock == CLOCK_CUPTI) {
        doctor_find(finding, DOCTOR_OK, "by CUPTI; an empty kernel takes %s",
                    units_time(floor, info->kernel_floor_ns));
        return;
    }
    lost_line(info->lost, "kernel timestamps", line, sizeof line);
    units_time(floor, info->event_floor_ns);
    snprintf(means, sizeof means,
             "times come from event pairs, which include launch overhead (%s for an empty "
             "kernel); short kernels look slower than they are",
             floor);
    doctor_find(finding, DOCTOR_LIMITED, "%s", line[0] ? line : "no kernel timestamps");
    doctor_advise(finding, means, "%s", remedy_of(timestamp_losses, line));
}

/* The device was opened with try_counters, so counters that `lost` does not name can be read. */
static void judge_counters(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    static const char what[] = "hardware counters";
    char line[DOCTOR_TEXT];
    if (!lost_line(facts->gpu.info.lost, what, line, sizeof line)) {
        doctor_find(finding, DOCTOR_OK, "can be read (assay profile)");
        return;
    }
    const char *why = line + strlen(what);
    doctor_find(finding, DOCTOR_LIMITED, "%s", why + strspn(why, ": "));
    doctor_advise(finding, NULL, "%s", remedy_of(counter_losses, line));
}

static void judge_state(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (!facts->has_nvml) {
        doctor_find(finding, DOCTOR_MISSING, "%s", facts->nvml_error);
    } else if (isnan(facts->state.energy_mj)) {
        doctor_find(finding, DOCTOR_LIMITED, "NVML has no energy counter on this card");
        doctor_advise(finding, "energy per launch is not recorded", "nothing: the card lacks it");
    } else {
        doctor_find(finding, DOCTOR_OK, "by NVML: %.0f C, %.0f W, energy counter",
                    facts->state.temperature_c, facts->state.power_w);
    }
}

static void judge_clocks(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    const struct device_state *state = &facts->state;
    if (!facts->has_nvml || isnan(state->sm_mhz)) return;
    char reasons[128];
    nvml_reasons_text(state->clock_reasons, reasons, sizeof reasons);
    doctor_find(finding, nvml_is_slowdown(state->clock_reasons) ? DOCTOR_LIMITED : DOCTOR_OK,
                "SM at %.0f of %.0f MHz now%s%s", state->sm_mhz, facts->gpu.info.sm_mhz_max,
                reasons[0] ? ": " : "", reasons);
}

static void judge_sharing(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    int count = facts->gpu_processes;
    if (count > 0)
        doctor_find(finding, DOCTOR_LIMITED, "processes of others on the GPU: %d", count);
    if (count == 0) doctor_find(finding, DOCTOR_OK, "nobody else is on the GPU");
}

static void judge_cublas(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    const char *library = facts->gpu.info.library, *why = facts->gpu.library_error;
    if (strstr(library, "cuBLAS"))
        doctor_find(finding, DOCTOR_OK, "%s", library);
    else
        doctor_find(finding, DOCTOR_LIMITED, "%s", why[0] ? why : "not found");
}

const struct doctor_check doctor_gpu_checks[] = {
    {"CUDA build", NEEDS_GPU_ASKED, judge_build,
     "no GPU can be measured, whatever this machine has",
     "install the CUDA toolkit, put nvcc on the PATH, and run make again"},
    {"driver", NEEDS_GPU_BUILT, judge_driver, "no GPU can be measured",
     "install the driver that suits the card, and restart"},
    {"GPU", NEEDS_GPU_BUILT, judge_gpu, "only the host device can be measured",
     "look at what nvidia-smi says, and at the kernel's log for 'NVRM'"},
    {"kernel timestamps", NEEDS_GPU_OPEN, judge_timestamps, "", ""},
    {"hardware counters", NEEDS_GPU_OPEN, judge_counters,
     "assay profile shows kernels and their times, but not what limits them; times do not need "
     "counters",
     ""},
    {"card state", NEEDS_GPU_OPEN, judge_state,
     "clocks, temperature, power and energy are not recorded, and samples of a throttled card are "
     "not marked",
     "libnvidia-ml.so.1 comes with the driver; in a container add 'utility' to "
     "NVIDIA_DRIVER_CAPABILITIES"},
    {"clocks", NEEDS_GPU_OPEN, judge_clocks,
     "the card protects itself; its samples will be marked and left out",
     "see to its cooling and power, or wait until it is cool"},
    {"ECC", NEEDS_GPU_OPEN, NULL,
     "not comparable with cards that have it on; a flipped bit goes unseen",
     "as root: nvidia-smi -e 1, and restart", offsetof(struct doctor_facts, gpu.info.ecc), true},
    {"MIG", NEEDS_GPU_OPEN, NULL,
     "only a slice of the card is measured, and other slices affect it",
     "as root: nvidia-smi -mig 0, when nobody uses the other slices",
     offsetof(struct doctor_facts, gpu.info.mig), false},
    {"persistence", NEEDS_GPU_OPEN, NULL,
     "the card is set up anew for every launch: slower starts, no effect on kernel times",
     "as root: nvidia-smi -pm 1", offsetof(struct doctor_facts, persistence), true},
    {"GPU sharing", NEEDS_GPU_OPEN, judge_sharing,
     "they share the GPU with the measurement: times grow and scatter",
     "wait for them or end them (nvidia-smi lists them), or pick another GPU with --device"},
    {"cuBLAS", NEEDS_GPU_OPEN, judge_cublas,
     "matrix products have no vendor baseline to compare with",
     "install cuBLAS of the same CUDA version (libcublas of the CUDA packages)"},
    {.name = NULL},
};
