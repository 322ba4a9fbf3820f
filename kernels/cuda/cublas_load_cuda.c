/* cublas_load_cuda.c - finds and loads cuBLAS and cuBLASLt. */
#include "cublas_load.h"

#ifdef CUBLAS_HEADERS

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "assay.h"

/* Newest first: the functions used here have had one ABI over all of these. */
static const char *const suffixes[] = {"so.13", "so.12", NULL};

/* Where toolkits and distributions put them, after CUDA_HOME and CUDA_PATH. */
static const char *const folders[] = {
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/targets/x86_64-linux/lib",
    "/usr/local/cuda/targets/sbsa-linux/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/opt/cuda/lib64",
    NULL,
};

struct symbol {
    const char *name;
    size_t offset; /* offset of the function pointer in its struct */
};

static const struct symbol cublas_symbols[] = {
    {"cublasCreate_v2", offsetof(struct cublas, create)},
    {"cublasDestroy_v2", offsetof(struct cublas, destroy)},
    {"cublasSetStream_v2", offsetof(struct cublas, set_stream)},
    {"cublasSetWorkspace_v2", offsetof(struct cublas, set_workspace)},
    {"cublasSetMathMode", offsetof(struct cublas, set_math_mode)},
    {"cublasGetVersion_v2", offsetof(struct cublas, get_version)},
    {"cublasGetProperty", offsetof(struct cublas, get_property)},
    {"cublasGemmEx", offsetof(struct cublas, gemm_ex)},
    {"cublasGemmStridedBatchedEx", offsetof(struct cublas, gemm_batched)},
    {"cublasGemmBatchedEx", offsetof(struct cublas, gemm_pointers)},
    {NULL, 0},
};

static const struct symbol cublaslt_symbols[] = {
    {"cublasLtCreate", offsetof(struct cublaslt, create)},
    {"cublasLtDestroy", offsetof(struct cublaslt, destroy)},
    {"cublasLtMatmul", offsetof(struct cublaslt, matmul)},
    {"cublasLtMatmulDescCreate", offsetof(struct cublaslt, desc_create)},
    {"cublasLtMatmulDescDestroy", offsetof(struct cublaslt, desc_destroy)},
    {"cublasLtMatmulDescSetAttribute", offsetof(struct cublaslt, desc_set)},
    {"cublasLtMatrixLayoutCreate", offsetof(struct cublaslt, layout_create)},
    {"cublasLtMatrixLayoutDestroy", offsetof(struct cublaslt, layout_destroy)},
    {"cublasLtMatmulPreferenceCreate", offsetof(struct cublaslt, preference_create)},
    {"cublasLtMatmulPreferenceDestroy", offsetof(struct cublaslt, preference_destroy)},
    {"cublasLtMatmulPreferenceSetAttribute", offsetof(struct cublaslt, preference_set)},
    {"cublasLtMatmulAlgoGetHeuristic", offsetof(struct cublaslt, heuristic)},
    {"cublasLtMatmulAlgoGetIds", offsetof(struct cublaslt, ids)},
    {"cublasLtMatmulAlgoInit", offsetof(struct cublaslt, algorithm_init)},
    {"cublasLtMatmulAlgoConfigGetAttribute", offsetof(struct cublaslt, config_get)},
    {NULL, 0},
};

/* Libraries are not unloaded: that is not safe once they have started threads and registered with
 * CUDA. */
static struct cublas cublas_functions;
static struct cublaslt cublaslt_functions;
static bool cublas_ready, cublaslt_ready;

/* ---------------------------------------------------------------- finding -- */

static bool file_in(const char *folder, size_t length, const char *below, const char *stem,
                    const char *suffix, char path[PATH_MAX])
{
    struct stat status;
    int wrote = snprintf(path, PATH_MAX, "%.*s%s/%s.%s", (int)length, folder, below, stem, suffix);
    return length > 0 && wrote > 0 && wrote < PATH_MAX && stat(path, &status) == 0;
}

/* One library in a list of folders that are separated by colons. */
static bool find_in_list(const char *list, const char *stem, const char *suffix,
                         char path[PATH_MAX])
{
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (file_in(list, length, "", stem, suffix, path)) return true;
        list += length + (list[length] == ':');
    }
    return false;
}

/* The loader's own order: the environment's folders first. */
static bool find_file(const char *stem, const char *suffix, char path[PATH_MAX])
{
    if (find_in_list(getenv("LD_LIBRARY_PATH"), stem, suffix, path)) return true;
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", NULL};
    for (const char *const *home = homes; *home; home++) {
        const char *folder = getenv(*home);
        if (!folder) continue;
        if (file_in(folder, strlen(folder), "/lib64", stem, suffix, path)) return true;
        if (file_in(folder, strlen(folder), "/targets/x86_64-linux/lib", stem, suffix, path))
            return true;
    }
    for (const char *const *folder = folders; *folder; folder++)
        if (file_in(*folder, strlen(*folder), "", stem, suffix, path)) return true;
    return false;
}

/* Loads the file that was found; otherwise by name, which also searches the loader's cache. */
static void *open_library(const char *stem)
{
    for (const char *const *suffix = suffixes; *suffix; suffix++) {
        char path[PATH_MAX];
        if (!find_file(stem, *suffix, path)) snprintf(path, sizeof path, "%s.%s", stem, *suffix);
        void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        if (library) return library;
    }
    assay_error("%s cannot be loaded: %s", stem, dlerror());
    return NULL;
}

const char *cublas_missing(void)
{
    static const char *const stems[] = {"libcublas", "libcublasLt", NULL};
    for (const char *const *stem = stems; *stem; stem++) {
        char path[PATH_MAX];
        bool found = false;
        for (const char *const *suffix = suffixes; *suffix && !found; suffix++)
            found = find_file(*stem, *suffix, path);
        /* Not in a usual place: only the loader's cache can know, and asking it
         * loads the library where it does. */
        if (!found && !open_library(*stem)) return "cuBLAS is not installed";
    }
    return NULL;
}

const char *cublas_supports(const struct assay_shape *shape)
{
    return cublas_missing();
}

/* ---------------------------------------------------------------- loading -- */

static int load_functions(const char *stem, const struct symbol *symbols, void *functions)
{
    void *library = open_library(stem);
    if (!library) return -1;
    for (const struct symbol *symbol = symbols; symbol->name; symbol++) {
        void *function = dlsym(library, symbol->name);
        if (!function) return assay_error("%s has no %s", stem, symbol->name);
        memcpy((char *)functions + symbol->offset, &function, sizeof function);
    }
    return 0;
}

const struct cublas *cublas_load(void)
{
    if (!cublas_ready && load_functions("libcublas", cublas_symbols, &cublas_functions))
        return NULL;
    cublas_ready = true;
    return &cublas_functions;
}

const struct cublaslt *cublaslt_load(void)
{
    if (!cublaslt_ready && load_functions("libcublasLt", cublaslt_symbols, &cublaslt_functions))
        return NULL;
    cublaslt_ready = true;
    return &cublaslt_functions;
}

static bool cublas_version(char *out, size_t size)
{
    int part[3];
    if (!cublas_ready) return false;
    for (int i = 0; i < 3; i++)
        if (cublas_functions.get_property((libraryPropertyType)i, &part[i]) !=
            CUBLAS_STATUS_SUCCESS)
            return false;
    snprintf(out, size, "cuBLAS %d.%d.%d", part[0], part[1], part[2]);
    return true;
}

static int load_both(void)
{
    return cublas_load() && cublaslt_load() ? 0 : -1;
}

static const struct assay_library cublas_library = {
    .place = ASSAY_CUDA, .load = load_both, .version = cublas_version};
ASSAY_REGISTER_LIBRARY(cublas_library);

/* cublasGetStatusName cannot be used, because its library may be missing. */
int cublas_error(cublasStatus_t status, const char *what)
{
    static const struct {
        cublasStatus_t status;
        const char *name;
    } names[] = {
        {CUBLAS_STATUS_NOT_INITIALIZED, "not initialised"},
        {CUBLAS_STATUS_ALLOC_FAILED, "out of memory"},
        {CUBLAS_STATUS_INVALID_VALUE, "invalid value"},
        {CUBLAS_STATUS_ARCH_MISMATCH, "not on this architecture"},
        {CUBLAS_STATUS_EXECUTION_FAILED, "execution failed"},
        {CUBLAS_STATUS_INTERNAL_ERROR, "internal error"},
        {CUBLAS_STATUS_NOT_SUPPORTED, "not supported"},
    };
    if (status == CUBLAS_STATUS_SUCCESS) return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == status) return assay_error("%s: %s", what, names[i].name);
    return assay_error("%s: cuBLAS status %d", what, (int)status);
}

#endif
