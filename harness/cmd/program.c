/* program.c - the program as what stands before a command: its options and its help. */
#include <string.h>

#include "base/exit_code.h"
#include "base/system_file.h"
#include "case/run_record.h"
#include "case/registry.h"
#include "cmd/help.h"
#include "plot/plot_gnuplot.h"
#include "store/store.h"

/* The driver's version as its kernel module tells it; false where it is not there. */
static bool driver_version(char *out, size_t size)
{
    if (!system_file_read("", "/sys/module/nvidia/version", out, size)) return false;
    out[strcspn(out, "\n")] = '\0';
    return out[0] != '\0';
}

static void print_cuda(FILE *out, const struct program_info *build)
{
    char driver[64];
    if (build->nvcc[0])
        fprintf(out, "CUDA runtime, linked in, and nvcc: %s", build->nvcc);
    else
        fputs("CUDA: built without", out);
    if (driver_version(driver, sizeof driver))
        fprintf(out, "; NVIDIA driver %s\n", driver);
    else
        fputs("; no NVIDIA driver is loaded\n", out);
}

/* Five lines. OpenBLAS alone is loaded: the build and the kernel module tell of the others. */
static void print_version(FILE *out)
{
    struct program_info build;
    char text[512], why[512];
    provenance_program(&build);
    /* An unpacked archive says neither its commit nor what changed since. */
    bool known = strcmp(build.commit, "unknown") != 0;
    fprintf(out, "assay %s (commit %s%s)\n", build.version, build.commit,
            known && build.diff_hash[0] ? ", modified" : "");
    fprintf(out, "SQLite %s\n", store_library());
    registry_load_libraries(ASSAY_HOST, why, sizeof why);
    registry_libraries(ASSAY_HOST, text, sizeof text);
    fprintf(out, "%s\n", text[0] ? text : why[0] ? why : "OpenBLAS: built without");
    print_cuda(out, &build);
    fprintf(out, "%s\n", gnuplot_version(text, sizeof text) ? text : "gnuplot: not found");
}

static const char exit_codes[] =
    "  0    fine\n"
    "  1    regressed, or a wrong answer\n"
    "  2    usage or configuration; one line says what\n"
    "  3    measured but undecided (only where asked for with --fail-on)\n"
    "  4    nothing measured, or nothing comparable\n"
    "  5    a case crashed, timed out or went missing\n"
    "  130  interrupted; what was measured is stored\n";

static const char environment[] =
    "  ASSAY_DB      the database where --db is not given\n"
    "  ASSAY_SUITES  a folder of suites, looked at before the program's own\n"
    "  ASSAY_PLOTS   a folder of gnuplot scripts, looked at before the program's own\n"
    "  ASSAY_CUPTI   the file of CUPTI, instead of a search\n"
    "  ASSAY_NVML    the file of NVML, the same\n"
    "  ASSAY_LIBPQ   the file of PostgreSQL's client library, the same\n"
    "  ASSAY_OPENBLAS       the file of OpenBLAS, the same\n"
    "  ASSAY_CUDNN   the folder of cuDNN 9, instead of a search\n"
    "  ASSAY_NVRTC   the file of NVRTC, the same\n"
    "  ASSAY_PYTHON  what runs a reference in Python; default: python3\n"
    "  ASSAY_HOST_CACHE     the size of the host's last-level cache (32Mi), where the\n"
    "                       system tells another\n"
    "  ASSAY_LOAD_TIMEOUT_S how long loading a shared object may take (default 30)\n"
    "  ASSAY_DB_TIMEOUT_MS  how long a locked database is waited for (default 10000)\n"
    "  ASSAY_SYNCHRONOUS    full: a case that is stored survives a loss of power too, at a\n"
    "                       sync of the disk for each (default normal)\n"
    "  NO_COLOR      no colour on a terminal either\n";

static const char files[] =
    "  results/assay.sqlite  the database, below the current folder\n"
    "  PREFIX/share/assay    installed suites and gnuplot scripts; suites/ of the\n"
    "                        current folder comes after them\n"
    "  $XDG_DATA_HOME/assay/variants  shared objects that are loaded each time (or below\n"
    "                        ~/.local/share), if nobody else can write there\n"
    "  PREFIX/share/doc/assay  how a number is made, the schema of the database, the\n"
    "                          gate\n";

const struct manual_section program_sections[] = {
    {"Exit codes", exit_codes}, {"Environment", environment}, {"Files", files}, {NULL, NULL}};

struct arguments {
    struct given given;
    bool version;
};

static int check(void *given)
{
    const struct arguments *arguments = given;
    return arguments->version ? 0 : assay_error("which command?");
}

static int run(void *given)
{
    (void)given;
    print_version(stdout);
    return EXIT_FINE;
}

static const struct command_option options[] = {
    {"version", VALUE_FLAG, .at = AT(version),
     .help = "the build, and the libraries that it stands on", .letter = 'V'},
    {0},
};

const struct command program = {
    .name = "",
    .options = options,
    .synopsis = "COMMAND [arguments]\n--help | --version",
    .about = "Assay measures GPU kernels against vendor baselines, checks every answer it\n"
             "times, keeps every sample in SQLite, and says with statistics what is faster\n"
             "than what. Results are on standard output, progress and messages on standard\n"
             "error.\n"
             "\n"
             "Start with: `assay doctor`, `assay run smoke`.\n"
             "\n"
             "Every command takes --help, --quiet (no progress, no hints) and --color auto,\n"
             "always or never.\n",
    .size = sizeof(struct arguments),
    .check = check,
    .run = run,
};
