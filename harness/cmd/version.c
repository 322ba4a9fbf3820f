/* version.c - see version.h. */
#include <string.h>

#include "base/system_file.h"
#include "case/run_record.h"
#include "case/registry.h"
#include "cmd/version.h"
#include "plot/plot_gnuplot.h"
#include "store/store.h"

/* The driver's version as its kernel module tells it; false where it is not there. */
static bool driver_version(char *out, size_t size)
{
    if (!system_file_read("", "/sys/module/nvidia/version", out, size)) return false;
    out[strcspn(out, "\n")] = '\0';
    return out[0] != '\0';
}

static void print_cuda(FILE *out, const struct program_info *program)
{
    char driver[64];
    if (program->nvcc[0])
        fprintf(out, "CUDA runtime, linked in, and nvcc: %s", program->nvcc);
    else
        fputs("CUDA: built without", out);
    if (driver_version(driver, sizeof driver))
        fprintf(out, "; NVIDIA driver %s\n", driver);
    else
        fputs("; no NVIDIA driver is loaded\n", out);
}

void version_print(FILE *out)
{
    struct program_info program;
    char text[512], why[512];
    provenance_program(&program);
    /* Of an unpacked archive neither the commit nor what changed since is known. */
    bool known = strcmp(program.commit, "unknown") != 0;
    fprintf(out, "assay %s (commit %s%s)\n", program.version, program.commit,
            known && program.diff_hash[0] ? ", modified" : "");
    fprintf(out, "SQLite %s\n", store_library());
    registry_load_libraries(ASSAY_HOST, why, sizeof why);
    registry_libraries(ASSAY_HOST, text, sizeof text);
    fprintf(out, "%s\n", text[0] ? text : why[0] ? why : "OpenBLAS: built without");
    print_cuda(out, &program);
    fprintf(out, "%s\n", gnuplot_version(text, sizeof text) ? text : "gnuplot: not found");
}
