/* cudnn_load_cuda.c - see cudnn_api.h. */
#include "cudnn_api.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/library.h"

enum { NOT_SUPPORTED = 3000, NOT_SUPPORTED_END = 4000 };

#define SYMBOL(name, member)                                                                       \
    {                                                                                              \
        name, NULL, offsetof(struct cudnn, member), false                                          \
    }
static const struct library_symbol symbols[] = {
    SYMBOL("cudnnCreate", create),
    SYMBOL("cudnnDestroy", destroy),
    SYMBOL("cudnnSetStream", set_stream),
    SYMBOL("cudnnGetProperty", get_property),
    SYMBOL("cudnnGetErrorString", status_text),
    SYMBOL("cudnnGetLastErrorString", last_error),
    SYMBOL("cudnnBackendCreateDescriptor", make),
    SYMBOL("cudnnBackendDestroyDescriptor", unmake),
    SYMBOL("cudnnBackendFinalize", finalise),
    SYMBOL("cudnnBackendSetAttribute", set),
    SYMBOL("cudnnBackendGetAttribute", get),
    SYMBOL("cudnnBackendExecute", execute),
    {"cudnnCreateTensorDescriptor", NULL, offsetof(struct cudnn, make_tensor), true},
    {"cudnnDestroyTensorDescriptor", NULL, offsetof(struct cudnn, unmake_tensor), true},
    {"cudnnSetTensor4dDescriptor", NULL, offsetof(struct cudnn, set_tensor), true},
    {"cudnnSoftmaxForward", NULL, offsetof(struct cudnn, softmax), true},
};

static struct cudnn loaded;
static bool is_loaded;

/* Search as the dynamic loader does, then in the toolkit's folder, then among NVIDIA's Python
 * packages, which PyTorch installs. The library loads its other parts from its own folder. */
static void *find(void)
{
    static const char *const names[] = {"libcudnn.so.9", NULL};
    static const char *const nowhere[] = {NULL};
#define PACKAGES "/lib*/python3*/*-packages/nvidia/cudnn/lib"
    static const char *const environments[] = {"VIRTUAL_ENV", "CONDA_PREFIX", "HOME"};
    char own[3][PATH_MAX];
    for (int i = 0; i < 3; i++) {
        const char *folder = getenv(environments[i]);
        own[i][0] = '\0';
        if (folder && *folder)
            snprintf(own[i], sizeof own[i], "%s%s" PACKAGES, folder, i == 2 ? "/.local" : "");
    }
    const char *const patterns[] = {
        "/usr/local/cuda*/lib64", own[0], own[1], own[2], "/usr/local" PACKAGES, "/usr" PACKAGES,
        "/opt/*" PACKAGES,        NULL};
    char chosen[PATH_MAX];
    const char *folder = getenv("ASSAY_CUDNN");
    if (!folder || !*folder) return library_open(names, patterns);
    snprintf(chosen, sizeof chosen, "%s/%s", folder, names[0]);
    const char *const only[] = {chosen, NULL};
    return library_open(only, nowhere);
}

int cudnn_load(const struct cudnn **api)
{
    *api = &loaded;
    if (is_loaded) return 0;
    void *library = find();
    if (library && library_bind(library, symbols, sizeof symbols / sizeof *symbols, &loaded) == 0) {
        is_loaded = true;
        return 0;
    }
    /* A library that lacks a function stays mapped: threads of it may be running. */
    char why[512];
    snprintf(why, sizeof why, "%s", assay_last_error());
    assay_error("cuDNN 9 cannot be loaded: %s (ASSAY_CUDNN names its folder)", why);
    return ASSAY_SKIP;
}

int cudnn_error(const struct cudnn *api, int status, const char *what)
{
    char words[ASSAY_MAX_REASON] = "";
    if (status == 0) return 0;
    api->last_error(words, sizeof words);
    assay_error("%s: cuDNN says %s%s%s", what, api->status_text(status), words[0] ? ": " : "",
                words);
    return status >= NOT_SUPPORTED && status < NOT_SUPPORTED_END ? ASSAY_SKIP : -1;
}

/* ---------------------------------------------------------------- version -- */

/* Always 0: without cuDNN its baselines are skipped, and nothing else. */
static int load(void)
{
    const struct cudnn *api;
    (void)cudnn_load(&api);
    return 0;
}

static bool version(char *out, size_t size)
{
    int part[3];
    if (!is_loaded) return false;
    for (int i = 0; i < 3; i++)
        if (loaded.get_property(i, &part[i])) return false;
    snprintf(out, size, "cuDNN %d.%d.%d", part[0], part[1], part[2]);
    return true;
}

static const struct assay_library library = {.place = ASSAY_CUDA, .load = load, .version = version};
ASSAY_REGISTER_LIBRARY(library);
