#include "device/cuda/cupti_library.h"

#include "assay.h"

#if __has_include(<cupti_result.h>)

#include <cuda.h>
#include <cupti_result.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/library.h"

struct api {
    LIBRARY_DECLARED(cuptiGetResultString)
};
static const struct library_symbol api_symbols[] = {LIBRARY_NAME(cuptiGetResultString)};

/* One per process, like CUPTI's own state. */
static struct {
    void *library;
    struct api api;
} loaded;

/* A program that has a CUPTI of its own, as PyTorch has, must not get a second. */
static void *already_loaded(const char *const *names)
{
    void *library = NULL;
    for (int i = 0; names[i] && !library; i++)
        library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
    return library;
}

/* If ASSAY_CUPTI is set, load that file and no other; otherwise the version of the CUDA
 * toolkit that this was built with comes first. */
static void *find(void)
{
    const char *chosen = getenv("ASSAY_CUPTI");
    char built_with[32];
    snprintf(built_with, sizeof built_with, "libcupti.so.%d", CUDA_VERSION / 1000);
    const char *const names[] = {built_with, "libcupti.so.13", "libcupti.so.12", "libcupti.so",
                                 NULL};
    const char *const only[] = {chosen, NULL};

    const char *home = getenv("CUDA_HOME");
    char home_lib[512] = "", home_extras[512] = "";
    if (home && *home) {
        snprintf(home_lib, sizeof home_lib, "%s/lib64", home);
        snprintf(home_extras, sizeof home_extras, "%s/extras/CUPTI/lib64", home);
    }
    const char *const patterns[] = {home_extras,
                                    home_lib,
                                    "/usr/local/cuda*/extras/CUPTI/lib64",
                                    "/usr/local/cuda*/lib64",
                                    "/usr/local/cuda*/targets/*-linux/lib",
                                    NULL};
    bool is_chosen = chosen && *chosen;
    void *there = is_chosen ? NULL : already_loaded(names);
    if (there) return there;
    return library_open(is_chosen ? only : names, is_chosen ? NULL : patterns);
}

void *cupti_library(void)
{
    if (loaded.library) return loaded.library;
    void *library = find();
    if (library && library_bind(library, api_symbols, 1, &loaded.api) == 0) {
        loaded.library = library;
        return library;
    }
    char why[512];
    snprintf(why, sizeof why, "%s", assay_last_error());
    return assay_error_as(NULL, "CUPTI cannot be loaded: %s", why);
}

/* Results for which there is a better message than CUPTI's. */
static const struct {
    CUptiResult result;
    const char *sentence;
} explained[] = {
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
     "CUPTI is taken by another profiler or debugger of this process"},
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
     "CUPTI is refused to this user: the driver keeps it for administrators; run as root (in a"
     " container with --cap-add SYS_ADMIN), or load the module nvidia with"
     " NVreg_RestrictProfilingToAdminUsers=0"},
    {CUPTI_ERROR_HARDWARE_BUSY,
     "the GPU's counters are taken by another process (a profiler, or DCGM)"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "CUPTI does not work on this virtual GPU"},
};

int cupti_check(int result, const char *call)
{
    if (result == CUPTI_SUCCESS) return 0;
    for (size_t i = 0; i < sizeof explained / sizeof *explained; i++)
        if ((int)explained[i].result == result) return assay_error("%s", explained[i].sentence);
    const char *words = NULL;
    if (loaded.api.cuptiGetResultString((CUptiResult)result, &words) != CUPTI_SUCCESS || !words)
        words = "unknown";
    return assay_error("CUPTI: %s: %s (%d)", call, words, result);
}

#endif
