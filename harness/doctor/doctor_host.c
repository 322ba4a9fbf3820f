/* doctor_host.c - the doctor's rules about the host, the disk and the program. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "doctor/doctor.h"

/* A launch of a large suite with every sample is some tens of megabytes. */
static const double LOW_DISK_BYTES = 1024.0 * 1024 * 1024;
static const double NO_DISK_BYTES = 64.0 * 1024 * 1024;

enum { OLDEST_GNUPLOT = 5 };

/* Load per core above which the worker may have to share a core. */
static const double BUSY_LOAD = 0.5;

static void judge_host(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (facts->host.is_open)
        doctor_find(finding, DOCTOR_OK, "%s", facts->host.info.name);
    else
        doctor_find(finding, DOCTOR_MISSING, "%s", facts->host.error);
}

static void judge_openblas(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    const char *library = facts->host.info.library, *why = facts->host.library_error;
    if (library[0])
        doctor_find(finding, DOCTOR_OK, "%s", library);
    else
        doctor_find(finding, DOCTOR_LIMITED, "%s", why[0] ? why : "not built in");
    if (!why[0]) doctor_advise(finding, NULL, "install libopenblas-dev and build again");
}

static void judge_cores(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (facts->cores < 1) return;
    if (facts->quota_cores < facts->cores) { /* false for NAN */
        doctor_find(finding, DOCTOR_LIMITED, "%d, limited by a quota to %.3g", facts->cores,
                    facts->quota_cores);
        doctor_advise(finding,
                      "the kernel stops this process whenever its share is used up, in the middle "
                      "of a sample",
                      "give the container whole cores (--cpuset-cpus) instead of a quota");
    } else {
        doctor_find(finding, facts->cores < 2 ? DOCTOR_LIMITED : DOCTOR_OK, "%d", facts->cores);
    }
}

static void judge_load(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (isnan(facts->load) || facts->cores < 1) return;
    doctor_find(finding, facts->load > BUSY_LOAD * facts->cores ? DOCTOR_LIMITED : DOCTOR_OK,
                "%.2f running on %d cores in the last minute", facts->load, facts->cores);
}

static void judge_governor(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    const char *governor = facts->governor, *container = facts->container;
    if (governor[0]) {
        doctor_find(finding, strcmp(governor, "performance") ? DOCTOR_LIMITED : DOCTOR_OK, "%s",
                    governor);
        return;
    }
    doctor_find(finding, DOCTOR_LIMITED, "the processor's clock cannot be seen%s%s%s",
                container[0] ? " (" : "", container, container[0] ? ")" : "");
    doctor_advise(finding, "times on the host may drift with a clock that is not recorded",
                  "compare over several launches (--launches), or measure on bare metal");
}

static void judge_database(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (facts->database_error[0]) {
        doctor_find(finding, DOCTOR_MISSING, "%s", facts->database_error);
    } else if (facts->shared_disk[0]) {
        doctor_find(finding, DOCTOR_LIMITED, "%.200s is on %s, which hosts may share",
                    facts->database, facts->shared_disk);
        doctor_advise(finding, "its locks are not reliable: two runs at once may damage the file",
                      "keep the database on a local disk (--db or ASSAY_DB); move runs by export "
                      "and import");
    } else {
        doctor_find(finding, DOCTOR_OK, "%.200s %s", facts->database,
                    facts->database_exists ? "can be written" : "can be created");
    }
}

static void judge_disk(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (isnan(facts->free_bytes)) return;
    char free_text[UNITS_MAX];
    enum doctor_state state = facts->free_bytes < NO_DISK_BYTES    ? DOCTOR_MISSING
                              : facts->free_bytes < LOW_DISK_BYTES ? DOCTOR_LIMITED
                                                                   : DOCTOR_OK;
    doctor_find(finding, state, "%s free", units_bytes(free_text, facts->free_bytes));
}

static void judge_gnuplot(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (!facts->gnuplot[0]) {
        doctor_find(finding, DOCTOR_MISSING, "not found");
    } else if (strtol(facts->gnuplot, NULL, 10) < OLDEST_GNUPLOT) {
        doctor_find(finding, DOCTOR_LIMITED, "%s is old", facts->gnuplot);
        doctor_advise(finding, "plots may fail or look different", "install gnuplot 5 or newer");
    } else {
        doctor_find(finding, DOCTOR_OK, "%s", facts->gnuplot);
    }
}

static void judge_nvtx(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    doctor_find(finding, facts->has_nvtx ? DOCTOR_OK : DOCTOR_LIMITED, "%s",
                facts->has_nvtx ? "built in" : "not built in");
}

static void judge_objects(const struct doctor_facts *facts, struct doctor_finding *finding)
{
    if (facts->objects_error[0])
        doctor_find(finding, DOCTOR_MISSING, "%s", facts->objects_error);
    else if (facts->objects > 0)
        doctor_find(finding, DOCTOR_OK, "%d loaded from your folder", facts->objects);
}

const struct doctor_check doctor_host_checks[] = {
    {"host", NEEDS_HOST_ASKED, judge_host, "nothing can be measured on the processor",
     "the message says what failed; no special hardware is needed"},
    {"OpenBLAS", NEEDS_HOST_OPEN, judge_openblas,
     "matrix products on the host have no baseline to be compared with",
     "install OpenBLAS (the package libopenblas0), or name its file in ASSAY_OPENBLAS"},
    {"cores", NEEDS_NOTHING, judge_cores,
     "the program that measures and the one that records share a core",
     "use a machine, or a container, with two cores or more"},
    {"load", NEEDS_NOTHING, judge_load,
     "other work disturbs times on the host, and launches from it", "measure on a quiet machine"},
    {"governor", NEEDS_HOST_ASKED, judge_governor,
     "the processor's clock follows its load: times on the host scatter",
     "as root: cpupower frequency-set -g performance"},
    {"turbo", NEEDS_HOST_ASKED, NULL,
     "the processor's clock depends on its heat and on how many cores work",
     "as root: write 1 to /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to "
     "/sys/devices/system/cpu/cpufreq/boost",
     offsetof(struct doctor_facts, turbo), false},
    {"database", NEEDS_NOTHING, judge_database,
     "a run has nowhere to keep its samples, and will not start",
     "name another file with --db or in ASSAY_DB"},
    {"disk", NEEDS_NOTHING, judge_disk, "a run may end when the disk is full; what it stored stays",
     "free some space, or name a file elsewhere with --db or in ASSAY_DB"},
    {"gnuplot", NEEDS_NOTHING, judge_gnuplot, "nothing can be drawn; measuring does not need it",
     "install gnuplot (the package gnuplot-nox)"},
    {"objects", NEEDS_NOTHING, judge_objects, "no command that measures or lists will start",
     "take it out of $XDG_DATA_HOME/assay/variants (~/.local/share), or mend what the message "
     "says"},
    {"NVTX", NEEDS_NOTHING, judge_nvtx, "profilers do not see which group and case is running",
     "install NVTX 3 (cuda-nvtx, or libnvtx3-dev) and build again"},
    {.name = NULL},
};
