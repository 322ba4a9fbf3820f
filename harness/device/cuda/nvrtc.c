/*
 * nvrtc.c - the few functions of NVRTC that are used are declared here from their documented
 * interface (NVIDIA, NVRTC, 13.0), which is stable. nvrtcResult is declared as int.
 */
#define _GNU_SOURCE /* vasprintf, dladdr */
#include "device/cuda/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay.h"
#include "base/error.h"
#include "base/library.h"
#include "base/text.h"

enum { NVRTC_SUCCESS = 0, MAX_OPTIONS = 64 };

struct program; /* nvrtcProgram points to it */

/* clang-format off */
#define EACH_CALL(f) \
    f(create, int, (struct program **program, const char *source, const char *name, int headers, const char *const *header, const char *const *names), "nvrtcCreateProgram", NULL, false) \
    f(destroy, int, (struct program **program), "nvrtcDestroyProgram", NULL, false) \
    f(compile, int, (struct program *program, int count, const char *const *options), "nvrtcCompileProgram", NULL, false) \
    f(log_size, int, (struct program *program, size_t *size), "nvrtcGetProgramLogSize", NULL, false) \
    f(log, int, (struct program *program, char *log), "nvrtcGetProgramLog", NULL, false) \
    f(cubin_size, int, (struct program *program, size_t *size), "nvrtcGetCUBINSize", NULL, false) \
    f(cubin, int, (struct program *program, char *code), "nvrtcGetCUBIN", NULL, false) \
    f(ptx_size, int, (struct program *program, size_t *size), "nvrtcGetPTXSize", NULL, false) \
    f(ptx, int, (struct program *program, char *code), "nvrtcGetPTX", NULL, false) \
    f(add_name, int, (struct program *program, const char *expression), "nvrtcAddNameExpression", NULL, false) \
    f(lowered_name, int, (struct program *program, const char *expression, const char **name), "nvrtcGetLoweredName", NULL, false) \
    f(error_text, const char *, (int code), "nvrtcGetErrorString", NULL, false)
/* clang-format on */
struct api {
    EACH_CALL(LIBRARY_MEMBER)
};
static const struct library_symbol symbols[] = {EACH_CALL(LIBRARY_SYMBOL)};

/* Loaded once and kept: it is large. */
static struct api nvrtc;
static bool is_loaded;

static int load(void)
{
    const char *chosen = getenv("ASSAY_NVRTC"), *home = getenv("CUDA_HOME");
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof pattern, "%s/lib64", home && *home ? home : "/usr/local/cuda");
    const char *const found[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};
    const char *const named[] = {chosen, NULL};
    const char *const patterns[] = {pattern, "/usr/local/cuda/targets/*/lib",
                                    "/usr/lib/*-linux-gnu", NULL};
    if (is_loaded) return 0;
    void *library = library_open(chosen && *chosen ? named : found, patterns);
    if (!library) return assay_error("NVRTC cannot be loaded: %s", assay_last_error());
    if (library_bind(library, symbols, sizeof symbols / sizeof *symbols, &nvrtc))
        return assay_error("NVRTC cannot be used: %s", assay_last_error());
    is_loaded = true;
    return 0;
}

/* --------------------------------------------------------------- options -- */

struct options {
    int count;
    char *text[MAX_OPTIONS];
};

__attribute__((format(printf, 2, 3))) static int add(struct options *options, const char *format,
                                                     ...)
{
    va_list arguments;
    if (options->count == MAX_OPTIONS)
        return assay_error("more than %d options for the compiler", MAX_OPTIONS);
    va_start(arguments, format);
    int length = vasprintf(&options->text[options->count], format, arguments);
    va_end(arguments);
    if (length < 0) return assay_error("out of memory for the options of the compiler");
    options->count++;
    return 0;
}

static int add_folder(struct options *options, const char *folder)
{
    return access(folder, R_OK) ? 0 : add(options, "--include-path=%s", folder);
}

/* The headers of the toolkit: of CUDA_HOME, else beside the library, else where it is installed. */
static int add_toolkit(struct options *options)
{
    Dl_info about;
    char folder[3][PATH_MAX] = {"", "", "/usr/local/cuda/include"};
    const char *home = getenv("CUDA_HOME");
    if (home && *home) snprintf(folder[0], PATH_MAX, "%s/include", home);
    void *function;
    memcpy(&function, &nvrtc.create, sizeof function);
    if (dladdr(function, &about) && strchr(about.dli_fname, '/'))
        snprintf(folder[1], PATH_MAX, "%.*s/../include",
                 (int)(strrchr(about.dli_fname, '/') - about.dli_fname), about.dli_fname);
    for (int i = 0; i < 3; i++) {
        char header[PATH_MAX + 16], cccl[PATH_MAX + 16];
        snprintf(header, sizeof header, "%s/cuda_fp16.h", folder[i]);
        if (access(header, R_OK)) continue;
        snprintf(cccl, sizeof cccl, "%s/cccl", folder[i]);
        return add_folder(options, folder[i]) || add_folder(options, cccl);
    }
    return 0; /* a kernel may need none */
}

static int add_all(struct options *options, const char *path, const char *arch, const char *more)
{
    const char *slash = strrchr(path, '/');
    if (add(options, "--gpu-architecture=%s", arch) || add(options, "--std=c++17") ||
        add(options, "--include-path=%.*s", slash ? (int)(slash - path) + 1 : 1,
            slash ? path : ".") ||
        add_toolkit(options))
        return -1;
    for (const char *at = more ? more : ""; *(at += strspn(at, " ")); at += strcspn(at, " "))
        if (add(options, "%.*s", (int)strcspn(at, " "), at)) return -1;
    return 0;
}

/* ------------------------------------------------------------- compiling -- */

static int refuse(const char *what, int code)
{
    return assay_error("NVRTC %s: %s", what, nvrtc.error_text(code));
}

/* The first line of the log that is an error, and all of it on standard error. */
static int refuse_source(struct program *program, int code)
{
    size_t size = 0;
    char *log = nvrtc.log_size(program, &size) == NVRTC_SUCCESS ? calloc(1, size + 1) : NULL;
    if (!log || nvrtc.log(program, log) != NVRTC_SUCCESS || !log[0]) {
        free(log);
        return refuse("does not compile it", code);
    }
    fputs(log, stderr);
    char line[ASSAY_MAX_REASON];
    const char *error = strstr(log, "error");
    const char *begin = error ? error : log;
    while (begin > log && begin[-1] != '\n')
        begin--;
    text_copy(line, sizeof line, begin);
    line[strcspn(line, "\n")] = '\0';
    free(log);
    return assay_error("does not compile: %s", line);
}

static int fetch(struct program *program, bool is_ptx, char **code, size_t *size)
{
    int result = (is_ptx ? nvrtc.ptx_size : nvrtc.cubin_size)(program, size);
    if (result != NVRTC_SUCCESS) return refuse("has no code", result);
    *code = calloc(1, *size + 1);
    if (!*code) return assay_error("out of memory for the code");
    result = (is_ptx ? nvrtc.ptx : nvrtc.cubin)(program, *code);
    if (is_ptx && *size) --*size; /* it counts the 0 */
    return result == NVRTC_SUCCESS ? 0 : refuse("hands over no code", result);
}

static int compile(struct program *program, const struct options *options, const char *kernel,
                   bool is_ptx, char **code, size_t *size, char **instance)
{
    const char *lowered;
    int result = kernel ? nvrtc.add_name(program, kernel) : NVRTC_SUCCESS;
    if (result != NVRTC_SUCCESS) return refuse("does not take the kernel's name", result);
    result = nvrtc.compile(program, options->count, (const char *const *)options->text);
    if (result != NVRTC_SUCCESS) return refuse_source(program, result);
    if (kernel) {
        result = nvrtc.lowered_name(program, kernel, &lowered);
        if (result != NVRTC_SUCCESS) return refuse("has no such kernel", result);
        *instance = strdup(lowered);
        if (!*instance) return assay_error("out of memory for the kernel's name");
    }
    return fetch(program, is_ptx, code, size);
}

char *nvrtc_compile(const char *path, const char *source, const char *arch, const char *options,
                    const char *kernel, size_t *size, char **instance)
{
    struct options all = {0};
    struct program *program = NULL;
    char *code = NULL;
    bool is_instance = kernel && strchr(kernel, '<');
    *instance = NULL;
    if (load() || add_all(&all, path, arch, options)) goto out;
    int result = nvrtc.create(&program, source, path, 0, NULL, NULL);
    if (result != NVRTC_SUCCESS)
        refuse("does not start", result);
    else if (compile(program, &all, is_instance ? kernel : NULL, !strncmp(arch, "compute_", 8),
                     &code, size, instance)) {
        free(code);
        code = NULL;
    }
out:
    if (program) nvrtc.destroy(&program);
    for (int i = 0; i < all.count; i++)
        free(all.text[i]);
    return code;
}
