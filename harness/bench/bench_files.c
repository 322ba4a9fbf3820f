/* bench_files.c - whether kernels are in their files and take the arguments; no GPU is needed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "bench/bench.h"

int bench_check_parameters(const struct bench *bench, const struct kernel_entry *entry, int nulls)
{
    int given = bench->argument_count;
    if (entry->parameters < 0) return 0;
    if (entry->parameters < given || entry->parameters > given + nulls)
        return assay_error("the kernel %s takes %d argument%s, and %d %s given", entry->plain,
                           entry->parameters, entry->parameters == 1 ? "" : "s", given,
                           given == 1 ? "is" : "are");
    for (int i = 0; i < given; i++) {
        const struct argument *argument = &bench->argument[i];
        int wanted = entry->parameter_bytes[i], bytes = argument_bytes(argument);
        char text[BENCH_TEXT + 32];
        if (bytes == wanted) continue;
        argument_text(argument, text, sizeof text);
        if (wanted > 8)
            return assay_error("argument %d of the kernel %s is a structure of %d bytes, which "
                               "cannot be described",
                               i + 1, entry->plain, wanted);
        return assay_error("argument %d of the kernel %s has %d bytes, and %s (%s) has %d", i + 1,
                           entry->plain, wanted, argument->name, text, bytes);
    }
    return 0;
}

const struct kernel_entry *bench_entry(const struct bench *bench, const struct bench_kernel *kernel,
                                       const struct kernel_image *image)
{
    const struct kernel_entry *entry = kernel_image_find(image, kernel->kernel);
    if (entry && bench_check_parameters(bench, entry, kernel->nulls) == 0) return entry;
    return assay_error_as(NULL, "%s: %s", kernel->file, assay_last_error());
}

static int hash_file(const char *path, char sha256[SHA256_TEXT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int failed = fd < 0 || sha256_file(fd, sha256) ? errno : 0;
    if (fd >= 0) close(fd);
    return failed ? assay_error("%s: cannot be read: %s", path, strerror(failed)) : 0;
}

static int add_file(struct sha256 *all, const char *path)
{
    char sha256[SHA256_TEXT];
    if (hash_file(path, sha256)) return -1;
    sha256_add(all, sha256, sizeof sha256);
    return 0;
}

int bench_digest(const char *path, char sha256[SHA256_TEXT])
{
    struct sha256 all;
    struct bench *const *list;
    int count = bench_list(&list), failed;
    sha256_begin(&all);
    failed = add_file(&all, path);
    for (int i = 0; i < count; i++) {
        const struct bench *bench = list[i];
        if (strcmp(bench->path, path) != 0) continue;
        for (int k = 0; k < bench->kernel_count && !failed; k++)
            failed = add_file(&all, bench->kernel[k].file);
        if (!failed && bench->oracle == &bench->oracle_of_file)
            failed = add_file(&all, bench->oracle->file);
        if (!failed && bench->reference_file[0]) failed = add_file(&all, bench->reference_file);
    }
    sha256_end(&all, sha256);
    return failed;
}

static int check_kernel(struct bench *bench, struct bench_kernel *kernel)
{
    struct kernel_image image;
    char sha256[SHA256_TEXT];
    if (hash_file(kernel->file, sha256)) return -1;
    text_copy(kernel->sha, sizeof kernel->sha, sha256); /* its beginning, for the rows */
    if (kernel_image_is_source(kernel->file)) return 0;
    if (kernel_image_open(&image, kernel->file, "", NULL, NULL)) return -1;
    int status = bench_entry(bench, kernel, &image) ? 0 : -1;
    kernel_image_release(&image);
    return status;
}

int bench_check_files(struct bench *bench)
{
    for (int i = 0; i < bench->kernel_count; i++)
        if (check_kernel(bench, &bench->kernel[i])) return -1;
    bool has_own = bench->oracle == &bench->oracle_of_file;
    return has_own ? check_kernel(bench, bench->oracle) : 0;
}
