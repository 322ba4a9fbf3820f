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

static bool is_built(const struct doctor_facts *facts)
{
    return facts->nvcc[0] != '\0';
}

static bool judge_build(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (!facts->gpu.is_asked) return false;
    if (is_built(facts)) {
        doctor_find(finding, DOCTOR_OK, "built with nvcc %s", facts->nvcc);
    } else {
        doctor_find(finding, DOCTOR_MISSING, "built without nvcc");
        doctor_advise(finding, "no GPU can be measured, whatever this machine has",
                      "install the CUDA toolkit, put nvcc on the PATH, and run make again");
    }
    return true;
}

static bool judge_driver(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (!facts->gpu.is_asked || !is_built(facts)) return false;
    int oldest = oldest_driver(facts->nvcc);
    const char *driver = facts->driver[0] ? facts->driver : facts->gpu.info.driver;
    if (facts->gpu.is_open) {
        doctor_find(finding, DOCTOR_OK, "%s", driver[0] ? driver : "works");
    } else if (!driver[0]) {
        doctor_find(finding, DOCTOR_MISSING, "NVIDIA's driver is not loaded");
        doctor_advise(finding, "no GPU can be measured",
                      "install the driver that suits the card, and restart");
    } else if (oldest && major_of(driver) < oldest) {
        doctor_find(finding, DOCTOR_MISSING, "%s is too old", driver);
        doctor_advise(finding, "programs of the CUDA that this was built with do not run", "");
        snprintf(finding->remedy, sizeof finding->remedy,
                 "install a driver of at least %d, or build with an older CUDA toolkit", oldest);
    } else {
        doctor_find(finding, DOCTOR_OK, "%s is loaded", driver);
    }
    return true;
}

static void advise_about_gpu(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    const char *remedy = "look at what nvidia-smi says, and at the kernel's log for 'NVRM'";
    if (facts->driver[0] && !facts->has_device_node)
        remedy = "the driver is loaded but /dev/nvidiactl is missing: start the container with "
                 "--gpus all, or run nvidia-modprobe";
    else if (!facts->driver[0])
        remedy = "see the driver, above";
    doctor_advise(finding, "only the host device can be measured", remedy);
}

static bool judge_gpu(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (!facts->gpu.is_asked || !is_built(facts)) return false;
    const struct device_info *info = &facts->gpu.info;
    if (!facts->gpu.is_open) {
        doctor_find(finding, DOCTOR_MISSING, "%s", facts->gpu.error);
        advise_about_gpu(facts, finding);
        return true;
    }
    char memory[UNITS_MAX];
    units_bytes(memory, (double)info->memory_bytes);
    doctor_find(finding, DOCTOR_OK,
                "%s (%s), compute capability %d.%d, %d multiprocessors, memory %s", info->name,
                info->spec, info->compute_capability / 10, info->compute_capability % 10,
                info->multiprocessors, memory);
    return true;
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

static bool judge_timestamps(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (!facts->gpu.is_open) return false;
    const struct device_info *info = &facts->gpu.info;
    char floor[UNITS_MAX];
    if (info->clock == CLOCK_CUPTI) {
        units_time(floor, info->kernel_floor_ns);
        doctor_find(finding, DOCTOR_OK, "by CUPTI; an empty kernel takes %s", floor);
        return true;
    }
    char line[DOCTOR_TEXT];
    lost_line(info->lost, "kernel timestamps", line, sizeof line);
    doctor_find(finding, DOCTOR_LIMITED, "%s", line[0] ? line : "no kernel timestamps");
    units_time(floor, info->event_floor_ns);
    doctor_advise(finding, "", remedy_of(timestamp_losses, line));
    snprintf(finding->means, sizeof finding->means,
             "times come from event pairs, which include launch overhead (%s for an empty "
             "kernel); short kernels look slower than they are",
             floor);
    return true;
}

/* The device was opened with try_counters, so counters that `lost` does not name can be read. */
static bool judge_counters(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    static const char what[] = "hardware counters";
    char line[DOCTOR_TEXT];
    if (!facts->gpu.is_open) return false;
    if (!lost_line(facts->gpu.info.lost, what, line, sizeof line)) {
        doctor_find(finding, DOCTOR_OK, "can be read (assay profile)");
        return true;
    }
    const char *why = line + strlen(what);
    doctor_find(finding, DOCTOR_LIMITED, "%s", why + strspn(why, ": "));
    doctor_advise(finding,
                  "assay profile shows kernels and their times, but not what limits them; times "
                  "do not need counters",
                  remedy_of(counter_losses, line));
    return true;
}

static bool judge_state(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (!facts->gpu.is_open) return false;
    if (!facts->has_nvml) {
        doctor_find(finding, DOCTOR_MISSING, "%s", facts->nvml_error);
        doctor_advise(finding,
                      "clocks, temperature, power and energy are not recorded, and samples of a "
                      "throttled card are not marked",
                      "libnvidia-ml.so.1 comes with the driver; in a container add 'utility' to "
                      "NVIDIA_DRIVER_CAPABILITIES");
    } else if (isnan(facts->state.energy_mj)) {
        doctor_find(finding, DOCTOR_LIMITED, "NVML has no energy counter on this card");
        doctor_advise(finding, "energy per launch is not recorded", "nothing: the card lacks it");
    } else {
        doctor_find(finding, DOCTOR_OK, "by NVML: %.0f C, %.0f W, energy counter",
                    facts->state.temperature_c, facts->state.power_w);
    }
    return true;
}

static bool judge_clocks(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    const struct device_state *state = &facts->state;
    if (!facts->gpu.is_open || !facts->has_nvml || isnan(state->sm_mhz)) return false;
    char reasons[128];
    nvml_reasons_text(state->clock_reasons, reasons, sizeof reasons);
    bool is_slow = nvml_is_slowdown(state->clock_reasons);
    doctor_find(finding, is_slow ? DOCTOR_LIMITED : DOCTOR_OK, "SM at %.0f of %.0f MHz now%s%s",
                state->sm_mhz, facts->gpu.info.sm_mhz_max, reasons[0] ? ": " : "", reasons);
    if (is_slow)
        doctor_advise(finding, "the card protects itself; its samples will be marked and left out",
                      "see to its cooling and power, or wait until it is cool");
    return true;
}

/* ---------------------------------------------------------- how it is set -- */

static bool judge_ecc(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    int ecc = facts->gpu.info.ecc;
    if (!facts->gpu.is_open || ecc < 0) return false;
    doctor_find(finding, ecc ? DOCTOR_OK : DOCTOR_LIMITED, "%s", ecc ? "on" : "off");
    if (!ecc)
        doctor_advise(finding,
                      "not comparable with cards that have it on; a flipped bit goes unseen",
                      "as root: nvidia-smi -e 1, and restart");
    return true;
}

static bool judge_mig(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    int mig = facts->gpu.info.mig;
    if (!facts->gpu.is_open || mig < 0) return false;
    doctor_find(finding, mig ? DOCTOR_LIMITED : DOCTOR_OK, "%s", mig ? "on" : "off");
    if (mig)
        doctor_advise(finding, "only a slice of the card is measured, and other slices affect it",
                      "as root: nvidia-smi -mig 0, when nobody uses the other slices");
    return true;
}

static bool judge_persistence(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (!facts->gpu.is_open || facts->persistence < 0) return false;
    doctor_find(finding, facts->persistence ? DOCTOR_OK : DOCTOR_LIMITED, "%s",
                facts->persistence ? "on" : "off");
    if (!facts->persistence)
        doctor_advise(finding,
                      "the card is set up anew for every launch: slower starts, no effect "
                      "on kernel times",
                      "as root: nvidia-smi -pm 1");
    return true;
}

static bool judge_sharing(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    int count = facts->gpu_processes;
    if (!facts->gpu.is_open || count < 0) return false;
    doctor_find(finding, count ? DOCTOR_LIMITED : DOCTOR_OK,
                count ? "processes of others on the GPU: %d" : "nobody else is on the GPU", count);
    if (count)
        doctor_advise(finding, "they share the GPU with the measurement: times grow and scatter",
                      "wait for them or end them (nvidia-smi lists them), or pick another GPU with "
                      "--device");
    return true;
}

static bool judge_cublas(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (!facts->gpu.is_open) return false;
    const char *library = facts->gpu.info.library;
    if (library[0]) {
        doctor_find(finding, DOCTOR_OK, "%s", library);
    } else {
        const char *why = facts->gpu.library_error;
        doctor_find(finding, DOCTOR_LIMITED, "%s", why[0] ? why : "not found");
        doctor_advise(finding, "matrix products have no vendor baseline to compare with",
                      "install cuBLAS of the same CUDA version (libcublas of the CUDA packages)");
    }
    return true;
}

const struct doctor_check doctor_gpu_checks[] = {
    {"CUDA build", judge_build},
    {"driver", judge_driver},
    {"GPU", judge_gpu},
    {"kernel timestamps", judge_timestamps},
    {"hardware counters", judge_counters},
    {"card state", judge_state},
    {"clocks", judge_clocks},
    {"ECC", judge_ecc},
    {"MIG", judge_mig},
    {"persistence", judge_persistence},
    {"GPU sharing", judge_sharing},
    {"cuBLAS", judge_cublas},
    {NULL, NULL},
};
