/*
 * bench.h - kernels in files of their own, described by a small text (docs/bench.md): read,
 * checked, and registered as an operation with one variant per kernel, so that they are measured
 * like any other.
 *
 *   [bench scale]
 *   file = scale.cu
 *   kernel = scale
 *   size n = 1Mi
 *   arg x = in f32[n] normal
 *   arg y = out f32[n]
 *   arg n = i32 n
 *   grid = ceil(n/256)
 *   block = 256
 */
#pragma once

#include <limits.h>

#include "base/sha256.h"
#include "bench/argument.h"
#include "bench/expression.h"
#include "device/kernel_image.h"
#include "device/kernel_module.h"
#include "suite/suite.h"

#define BENCH_ENDING ".bench.ini"

enum {
    BENCH_MAX_KERNELS = 8, /* of one description */
    BENCH_MAX_ARGUMENTS = 32,
    BENCH_TEXT = SUITE_MAX_VALUE,
};

/* A kernel and its launch; each text is an expression, or several with commas. */
struct bench_kernel {
    char name[ASSAY_MAX_NAME]; /* of the variant */
    char file[PATH_MAX];
    char kernel[BENCH_TEXT]; /* as the user calls it */
    char grid[BENCH_TEXT], block[BENCH_TEXT], cluster[BENCH_TEXT], shared[BENCH_TEXT];
    char options[BENCH_TEXT]; /* for NVRTC */
    enum assay_kind kind;
    int nulls; /* pointers to nothing that the compiler of the kernel adds behind the arguments */
    char sha[13]; /* the beginning of the file's SHA-256 */
    /* On the GPU; and on the host one that is skipped, so that a machine without a GPU says why. */
    struct assay_variant variant, on_host;
    struct kernel_image image; /* made by the first setup of a process (bench_launch.c) */
};

struct bench {
    struct assay_operation operation; /* first: a shape's operation leads here */
    char name[ASSAY_MAX_NAME], summary[BENCH_TEXT], path[PATH_MAX];
    char dim_name[ASSAY_MAX_DIMS][ASSAY_MAX_NAME];
    int dim_count;
    struct argument argument[BENCH_MAX_ARGUMENTS];
    int argument_count;
    char bytes[BENCH_TEXT], flops[BENCH_TEXT];
    struct bench_kernel kernel[BENCH_MAX_KERNELS];
    int kernel_count;
    struct bench_kernel *oracle;        /* what the others are held against; NULL: none */
    struct bench_kernel oracle_of_file; /* where it is none of the kernels */
    /* The same as a function of a shared object; NULL: none. */
    int (*reference)(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound);
    char reference_file[PATH_MAX]; /* where that function is; "": there is none */
    const char *baselines[2];
    bool has_tolerance; /* else bench_share says what an output may differ by */
    /* What is registered. */
    struct assay_object object;
    const struct assay_operation *operations[1];
    const struct assay_variant *variants[2 * BENCH_MAX_KERNELS];
};

/* Read a file and register what it describes; `name` is what messages call it. -1 with assay_error
 * that has file and line. What is registered stays. */
int bench_load(const char *path, const char *name);

/* The SHA-256 of a description that was loaded and of the files that it names: kernels, and what
 * says what is right. -1 with assay_error. */
int bench_digest(const char *path, char sha256[SHA256_TEXT]);

/* The description that an operation came from, NULL: from none. */
const struct bench *bench_of(const struct assay_operation *operation);

/* The descriptions that are registered; returns how many. */
int bench_list(struct bench *const **list);

/* "inner::Scale<float, 4>" -> "inner_scale_float_4": what an operation or variant may be called. */
void bench_name(const char *kernel, char out[ASSAY_MAX_NAME]);

/* ------------------------------------------------------- for bench/ alone -- */

/* Fill a bench from its section and those of its kernels. -1 with assay_error. */
int bench_read(struct bench *bench, const struct suite_group *section,
               const struct suite_group *kernels, int kernel_count);

/* The path of a file that is named in `beside`. -1 with assay_error: too long. */
int bench_path(const char *path, const char *beside, char out[PATH_MAX]);

/* The first of the values that a dim is measured at becomes its fallback. */
int bench_first_size(struct assay_dim *dim, const char *list);

/* What Triton wrote beside a cubin (NAME.json) stands in for what is not said of the kernel. */
int bench_take_triton(struct bench_kernel *kernel);

/* What `expect` says is right. -1 with assay_error. */
int bench_take_expect(struct bench *bench, const char *expect);

/* The function `reference` of a file of Python, as assay_operation has it, and its reference_run:
 * all of an output at once. -1 with assay_error, which has what Python said last. */
int bench_python_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                           int64_t begin, int64_t end, double *expected, double *bound);
int64_t bench_python_run(const struct assay_shape *shape);

/* By what share an output of this type may differ unless a tolerance is given: of its value, and
 * of 1 or of the outputs' root mean square where that is known and smaller. */
double bench_share(enum assay_type type);

/* Write operation and variants, and what a reference is. -1 with assay_error. */
int bench_define(struct bench *bench, const char *expect);

/* What can be known of its kernels before there is a GPU: that they are in their files and take
 * these arguments. A source is not compiled. -1 with assay_error. */
int bench_check_files(struct bench *bench);

/* The kernel in its image. NULL with assay_error: it is not there, or takes other arguments. */
const struct kernel_entry *bench_entry(const struct bench *bench, const struct bench_kernel *kernel,
                                       const struct kernel_image *image);

/* Whether a kernel takes the arguments. -1 with assay_error. */
int bench_check_parameters(const struct bench *bench, const struct kernel_entry *entry, int nulls);

/* Cut `text` at commas outside brackets. How many parts, or -1 with assay_error: over `most`. */
enum { BENCH_PARTS = 8 };
int bench_split(char text[BENCH_TEXT], char *part[BENCH_PARTS], int most);

/* The launch of a kernel at these sizes. -1 with assay_error: a grid of 0, a block over 1024. */
int bench_launch_of(const struct bench_kernel *kernel, const struct assay_shape *shape,
                    struct kernel_launch *launch);

/* What every kernel's variant has; `check` holds it against the oracle. */
int bench_setup(struct assay_call *call);
int bench_launch(struct assay_call *call);
int bench_check(struct assay_call *call);
void bench_teardown(struct assay_call *call);
