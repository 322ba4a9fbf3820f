#include "device/code_read.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/process.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "device/cuda/cubin.h"
#include "device/kernel_image.h"

/* ------------------------------------------------------------------- tools -- */

/* What a shell command prints; free(3). $1 and $2 are its arguments. NULL: it failed. */
static char *said(const char *script, const char *first, const char *second)
{
    const char *const argv[] = {"/bin/sh", "-c", script, "sh", first, second, NULL};
    char *text;
    int status;
    if (process_output(argv, false, &text, &status) != 0) return NULL;
    if (status == 0) return text;
    free(text);
    return NULL;
}

/* CUDA's tools, where its packages put them too. */
#define CUDA_TOOLS "PATH=$PATH:/usr/local/cuda/bin; "

static bool has_tool(const char *name)
{
    char *where = said(CUDA_TOOLS "command -v \"$1\"", name, "");
    free(where);
    return where != NULL;
}

/* -------------------------------------------------------------------- host -- */

static bool is_elf(const char *path)
{
    struct elf_file elf;
    if (elf_map(&elf, path)) return false;
    elf_unmap(&elf);
    return true;
}

static int code_file(const char *program, char path[PATH_MAX])
{
    int folder = (int)(text_file_name(program) - program);
    snprintf(path, PATH_MAX, "%s", program);
    if (is_elf(path)) return 0;
    snprintf(path, PATH_MAX, "%.*slibassay_variants.so", folder, program);
    if (is_elf(path)) return 0;
    return assay_error("%s: it is no machine code, and there is no libassay_variants.so beside it",
                       program);
}

static int add_host(struct code_difference *difference, const char *const path[2])
{
    for (int i = 0; i < 2; i++) {
        char *text = said("objdump -d --no-show-raw-insn \"$1\"", path[i], "");
        if (!text) {
            text_add(difference->lacks, sizeof difference->lacks, "; ",
                     "the host's code: there is no objdump (binutils) that reads it");
            return 0;
        }
        if (code_listing_add(&difference->listing[i], text) != 0) return -1;
    }
    return 0;
}

/* --------------------------------------------------------------------- GPU -- */

struct kernel_code {
    char *name;
    char file[NAME_MAX + 1];
    int arch;
    struct code_hash hash;
    bool differs;
};

struct kernels {
    struct temp_folder folder;
    struct kernel_code *list;
    int count;
    const char *file; /* that is being read, and its architecture */
    int arch;
    bool failed;
};

static void take_kernel(const char *name, struct code_hash hash, void *context)
{
    struct kernels *kernels = context;
    struct kernel_code *one =
        grow_add(&kernels->list, &kernels->count, sizeof *one, "functions of cubins");
    kernels->failed |= !one;
    if (!one) return;
    one->name = strdup(name);
    kernels->failed |= !one->name;
    snprintf(one->file, sizeof one->file, "%s", kernels->file);
    one->arch = kernels->arch;
    one->hash = hash;
}

static int read_cubin(struct kernels *kernels, const char *name)
{
    char path[2 * PATH_MAX];
    struct elf_file sections;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", kernels->folder.path, name);
    char *bytes = kernel_file_read(path, &size);
    if (!bytes) return -1;
    kernels->file = name;
    int status = cubin_open(&sections, bytes, size);
    if (status == 0) kernels->arch = cubin_architecture(&sections);
    if (status == 0 && cubin_each_function(bytes, size, take_kernel, kernels) < 0) status = -1;
    free(bytes);
    return status == 0 && !kernels->failed ? 0 : -1;
}

static int by_kernel(const void *a, const void *b)
{
    const struct kernel_code *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order == 0) order = (x->arch > y->arch) - (x->arch < y->arch);
    return order ? order : memcmp(&x->hash, &y->hash, sizeof x->hash);
}

static int read_kernels(struct kernels *kernels, const char *path)
{
    char *whole = realpath(path, NULL), *text = NULL;
    if (whole)
        text =
            said(CUDA_TOOLS "cd \"$1\" && cuobjdump -xelf all \"$2\"", kernels->folder.path, whole);
    free(whole);
    DIR *folder = text ? opendir(kernels->folder.path) : NULL;
    free(text);
    if (!folder) return assay_error("%s: cuobjdump cannot read its kernels", path);
    int status = 0;
    for (const struct dirent *entry; status == 0 && (entry = readdir(folder)) != NULL;)
        if (text_ends(entry->d_name, ".cubin")) status = read_cubin(kernels, entry->d_name);
    closedir(folder);
    if (kernels->count > 0)
        qsort(kernels->list, (size_t)kernels->count, sizeof *kernels->list, by_kernel);
    return status;
}

/* Both are sorted. */
static void mark_differing(struct kernels *base, struct kernels *candidate)
{
    int b = 0, c = 0;
    while (b < base->count || c < candidate->count) {
        int order = b == base->count        ? 1
                    : c == candidate->count ? -1
                                            : by_kernel(&base->list[b], &candidate->list[c]);
        if (order < 0) base->list[b].differs = true;
        if (order > 0) candidate->list[c].differs = true;
        b += order <= 0;
        c += order >= 0;
    }
}

/* A build that changed everything is not told function by function. */
enum { MOST_KERNELS = 64 };

/* Its instructions, then its resources. */
static int add_kernels(struct code_listing *listing, const struct kernels *kernels)
{
    int added = 0;
    for (int i = 0; i < kernels->count && added < MOST_KERNELS; i++) {
        const struct kernel_code *one = &kernels->list[i];
        char path[2 * PATH_MAX];
        if (!one->differs) continue;
        snprintf(path, sizeof path, "%s/%s", kernels->folder.path, one->file);
        char *text =
            said(CUDA_TOOLS
                 "cuobjdump -sass -fun \"$2\" \"$1\" && cuobjdump -res-usage -fun \"$2\" \"$1\"",
                 path, one->name);
        if (!text) return assay_error("cuobjdump cannot read %s", one->name);
        if (code_listing_add(listing, text) != 0) return -1;
        added++;
    }
    return 0;
}

static void kernels_release(struct kernels *kernels)
{
    for (int i = 0; i < kernels->count; i++)
        free(kernels->list[i].name);
    free(kernels->list);
    temp_folder_remove(&kernels->folder);
}

/* Whether nvcc's section with machine code of GPUs is there. */
static bool has_kernels(const char *path)
{
    struct elf_file elf;
    struct elf_section section;
    if (elf_map(&elf, path)) return false;
    bool found = elf_section_find(&elf, ".nv_fatbin", &section) == 0 && section.bytes;
    elf_unmap(&elf);
    return found;
}

static int add_gpu(struct code_difference *difference, const char *const path[2])
{
    struct kernels kernels[2] = {{.folder.lock = -1}, {.folder.lock = -1}};
    int status = 0;
    for (int i = 0; i < 2 && status == 0; i++) {
        status = temp_folder_make(&kernels[i].folder, "code");
        if (status == 0 && has_kernels(path[i])) status = read_kernels(&kernels[i], path[i]);
    }
    if (status == 0) {
        mark_differing(&kernels[0], &kernels[1]);
        for (int i = 0; i < 2 && status == 0; i++)
            status = add_kernels(&difference->listing[i], &kernels[i]);
    }
    for (int i = 0; i < 2; i++)
        kernels_release(&kernels[i]);
    return status;
}

/* ------------------------------------------------------------------- whole -- */

int code_difference_read(struct code_difference *difference, const char *base,
                         const char *candidate)
{
    char files[2][PATH_MAX];
    *difference = (struct code_difference){.lacks = ""};
    if (code_file(base, files[0]) != 0 || code_file(candidate, files[1]) != 0) return -1;
    const char *const path[] = {files[0], files[1]};
    int status = add_host(difference, path);
    bool of_gpu = has_kernels(path[0]) || has_kernels(path[1]);
    if (status == 0 && of_gpu && !has_tool("cuobjdump"))
        text_add(difference->lacks, sizeof difference->lacks, "; ",
                 "the kernels: there is no cuobjdump (CUDA Toolkit)");
    else if (status == 0 && of_gpu)
        status = add_gpu(difference, path);
    if (status == 0)
        status = code_changes_make(&difference->changes, &difference->listing[0],
                                   &difference->listing[1]);
    if (status != 0) code_difference_release(difference);
    return status;
}

void code_difference_release(struct code_difference *difference)
{
    code_changes_release(&difference->changes);
    for (int i = 0; i < 2; i++)
        code_listing_release(&difference->listing[i]);
}
