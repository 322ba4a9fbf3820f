/*
 * doctor_facts.c - collects the facts that the doctor judges. A fact that cannot be found is
 * unknown, never an error.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system_file.h"
#include "case/run_record.h"
#include "case/registry.h"
#include "device/nvml.h"
#include "device/nvtx.h"
#include "doctor/doctor.h"
#include "object/object.h"
#include "plot/plot_gnuplot.h"
#include "store/store_central.h"

/* Read a file that contains one integer; -1 if it does not. */
static long read_number(const char *root, const char *path)
{
    char text[SYSTEM_FILE_START], *end;
    system_file_read(root, path, text, sizeof text);
    long value = strtol(text, &end, 10);
    return end == text ? -1 : value;
}

/* ---------------------------------------------------------------- devices -- */

/* If a device opens only without try_counters, only its counters are lost. */
static void probe(struct doctor_device *device, bool is_asked, const char *spec)
{
    struct device_info *info = &device->info;
    device->is_asked = is_asked;
    if (!is_asked) return;
    assay_clear_error();
    device->is_open = devices_probe(spec, true, info) == 0;
    if (device->is_open) return;
    snprintf(device->error, sizeof device->error, "%s", assay_last_error());
    device->is_open = devices_probe(spec, false, info) == 0;
    if (!device->is_open) return;
    size_t used = strlen(info->lost);
    snprintf(info->lost + used, sizeof info->lost - used, "%shardware counters: %s",
             used ? "\n" : "", device->error);
    device->error[0] = '\0';
}

/* The worker measured nothing, so it has not loaded the vendor libraries. */
static void find_libraries(struct doctor_device *device)
{
    enum assay_place place = device->info.place;
    if (!device->is_open) return;
    registry_load_libraries(place, device->library_error, sizeof device->library_error);
    registry_libraries(place, device->info.library, sizeof device->info.library);
}

/* "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release":
 * the first word that is a number of three digits and a dot. */
static void find_driver(struct doctor_facts *facts, const char *root)
{
    char text[SYSTEM_FILE_START], *rest;
    snprintf(text, sizeof text, "%s/dev/nvidiactl", root);
    facts->has_device_node = access(text, F_OK) == 0;
    system_file_read(root, "/proc/driver/nvidia/version", text, sizeof text);
    for (char *word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        char *end;
        if (strtol(word, &end, 10) < 100 || *end != '.') continue;
        snprintf(facts->driver, sizeof facts->driver, "%s", word);
        return;
    }
}

static void find_card_state(struct doctor_facts *facts)
{
    facts->persistence = facts->gpu_processes = -1;
    device_state_init(&facts->state);
    if (!facts->gpu.is_open) return;
    facts->has_nvml = nvml_open(facts->gpu.info.uuid) == 0;
    if (!facts->has_nvml) {
        snprintf(facts->nvml_error, sizeof facts->nvml_error, "%s", assay_last_error());
        return;
    }
    nvml_state(&facts->state);
    facts->persistence = nvml_persistence();
    facts->gpu_processes = nvml_processes();
    nvml_close();
}

/* ------------------------------------------------------------------- host -- */

/* cgroup version 2: "QUOTA PERIOD" in microseconds, or "max PERIOD". */
static double find_quota(const char *root)
{
    char text[SYSTEM_FILE_START];
    double quota, period;
    system_file_read(root, "/sys/fs/cgroup/cpu.max", text, sizeof text);
    if (sscanf(text, "%lf %lf", &quota, &period) != 2 || period <= 0) return NAN;
    return quota / period;
}

/* Intel's driver has a file for off, the generic one a file for on. */
static int find_turbo(const char *root)
{
    long off = read_number(root, "/sys/devices/system/cpu/intel_pstate/no_turbo");
    if (off >= 0) return off == 0;
    long on = read_number(root, "/sys/devices/system/cpu/cpufreq/boost");
    return on < 0 ? -1 : on != 0;
}

static void find_host(struct doctor_facts *facts, const char *root)
{
    char text[SYSTEM_FILE_START];
    struct host_info host;
    host_describe(&host, root);
    snprintf(facts->container, sizeof facts->container, "%s", host.container);

    system_file_read(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", text,
                     sizeof text);
    snprintf(facts->governor, sizeof facts->governor, "%.*s", (int)strcspn(text, "\n"), text);
    facts->turbo = find_turbo(root);
    facts->quota_cores = find_quota(root);

    facts->cores = host.cores;
    if (!system_file_read(root, "/proc/loadavg", text, sizeof text) ||
        sscanf(text, "%lf", &facts->load) != 1)
        facts->load = NAN;
}

/* --------------------------------------------------------------- database -- */

/* The folder of `path`, or the nearest existing one above it: how many are missing. -1 with errno
 * when that is not a folder. */
static int existing_folder(const char *path, char folder[PATH_MAX])
{
    struct stat info = {0};
    int missing = -1;
    snprintf(folder, PATH_MAX, "%s", path);
    do {
        char *slash = strrchr(folder, '/');
        if (!slash)
            strcpy(folder, ".");
        else if (slash == folder)
            folder[1] = '\0';
        else
            *slash = '\0';
        missing++;
    } while (stat(folder, &info) && strcmp(folder, ".") && strcmp(folder, "/"));
    if (S_ISDIR(info.st_mode)) return missing;
    errno = ENOTDIR;
    return -1;
}

static void find_disk(struct doctor_facts *facts, const char *folder)
{
    struct statvfs space;
    if (statvfs(folder, &space) == 0)
        facts->free_bytes = (double)space.f_bavail * (double)space.f_frsize;
    const char *shared = system_disk_shared(folder);
    snprintf(facts->shared_disk, sizeof facts->shared_disk, "%s", shared ? shared : "");
}

/* Not opened for writing, which would create it: the doctor changes nothing. */
static void find_database(struct doctor_facts *facts, const char *path)
{
    char folder[PATH_MAX], *error = facts->database_error;
    struct store *store = NULL;
    if (store_is_url(path)) {
        store_shown(path, facts->database);
        snprintf(error, DOCTOR_TEXT, "%.200s is a central store, which nothing is measured into",
                 facts->database);
        return;
    }
    snprintf(facts->database, sizeof facts->database, "%s", path);
    facts->database_exists = access(path, F_OK) == 0;
    facts->free_bytes = NAN;
    int missing = existing_folder(path, folder);
    bool is_writable = missing >= 0 && access(folder, W_OK) == 0;
    if (path[0] == '\0')
        snprintf(error, DOCTOR_TEXT, "its path is empty");
    else if (!is_writable)
        snprintf(error, DOCTOR_TEXT, "%.200s: %s", folder, strerror(errno));
    else if (missing > 1)
        snprintf(error, DOCTOR_TEXT, "%.200s: its folder would be made, and not those above it",
                 path);
    else if (facts->database_exists && access(path, R_OK | W_OK))
        snprintf(error, DOCTOR_TEXT, "%.200s: %s", path, strerror(errno));
    else if (facts->database_exists && store_open(&store, path, STORE_READ))
        snprintf(error, DOCTOR_TEXT, "%s", assay_last_error());
    store_close(store);
    if (is_writable) find_disk(facts, folder);
}

/* ---------------------------------------------------------------- program -- */

static void find_gnuplot(struct doctor_facts *facts)
{
    char line[RESULT_MAX_PROPERTY];
    const char *name = gnuplot_version(line, sizeof line) ? strstr(line, "gnuplot ") : NULL;
    if (name) snprintf(facts->gnuplot, sizeof facts->gnuplot, "%s", name + strlen("gnuplot "));
}

static void find_program(struct doctor_facts *facts)
{
    struct program_info program;
    provenance_program(&program);
    snprintf(facts->version, sizeof facts->version, "%s", program.version);
    snprintf(facts->nvcc, sizeof facts->nvcc, "%s", program.nvcc);
    facts->has_nvtx = nvtx_is_built();
}

/* Last, since what is loaded would be in the workers that open the devices. */
static void find_objects(struct doctor_facts *facts)
{
    const struct object *loaded;
    if (objects_load_folder() != 0)
        snprintf(facts->objects_error, DOCTOR_TEXT, "%s", assay_last_error());
    facts->objects = objects_loaded(&loaded);
}

void doctor_gather(struct doctor_facts *facts, const struct doctor_options *options)
{
    memset(facts, 0, sizeof *facts);
    find_program(facts);
    find_host(facts, options->root);
    find_driver(facts, options->root);
    find_database(facts, options->database);
    find_gnuplot(facts);
    probe(&facts->host, options->host, "host");
    probe(&facts->gpu, options->gpu, options->gpu_spec);
    find_card_state(facts);
    find_libraries(&facts->host);
    find_libraries(&facts->gpu);
    find_objects(facts);
}
