#include "device/kernel_image.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/error.h"
#include "base/grow.h"
#include "base/text.h"
#include "device/cuda/cubin_kernels.h"
#include "device/cuda/nvrtc.h"

enum { MAX_FILE_BYTES = 1 << 30, MAX_KERNELS = 1 << 16 };

bool kernel_image_is_source(const char *path)
{
    return text_ends(path, ".cu");
}

bool kernel_image_is_file(const char *path)
{
    return kernel_image_is_source(path) || text_ends(path, ".cubin") || text_ends(path, ".ptx");
}

/* ----------------------------------------------------------------- names -- */

/* A number and so many characters: "5scale". Moves *at behind it; NULL: there is none. */
static const char *source_name(const char **at, size_t *length)
{
    if (!isdigit((unsigned char)**at)) return NULL;
    char *end;
    unsigned long count = strtoul(*at, &end, 10);
    if (count == 0 || count > strlen(end)) return NULL;
    *at = end + count;
    *length = count;
    return end;
}

/* Itanium C++ ABI, "Mangling": _Z NAME TYPES, or _ZN NAME... E TYPES with names of namespaces in
 * front. Template arguments follow the name and are left out. */
char *kernel_plain_name(const char *name)
{
    const char *at = name, *found = name;
    size_t length = strlen(name), each;
    if (strncmp(at, "_Z", 2)) return strdup(name);
    at += 2;
    bool is_nested = *at == 'N';
    at += is_nested;
    if (*at == 'L') at++; /* of a static function */
    for (const char *part; (part = source_name(&at, &each)) != NULL;) {
        found = part;
        length = each;
        if (!is_nested) break;
        if (*at == 'L') at++;
    }
    return strndup(found, length);
}

struct kernel_entry *kernel_image_named(const struct kernel_image *image, const char *name)
{
    for (int i = 0; i < image->count; i++)
        if (!strcmp(image->kernels[i].name, name)) return &image->kernels[i];
    return NULL;
}

struct kernel_entry *kernel_image_add(struct kernel_image *image, const char *name, size_t length)
{
    if (image->count == MAX_KERNELS)
        return assay_error_as(NULL, "it has more than %d kernels", MAX_KERNELS);
    struct kernel_entry *kernel =
        grow_add(&image->kernels, &image->count, sizeof *kernel, "the kernels of a file");
    if (!kernel) return NULL;
    kernel->parameters = kernel->registers = -1;
    kernel->name = strndup(name, length);
    kernel->plain = kernel->name ? kernel_plain_name(kernel->name) : NULL;
    if (kernel->plain) return kernel;
    return assay_error_as(NULL, "out of memory for the kernels of a file");
}

static const struct kernel_entry *refuse_kernel(const struct kernel_image *image, const char *name)
{
    enum { NAMED = 64 };
    const char *plain[NAMED];
    char hint[TEXT_HINT];
    int count = 0;
    for (; count < image->count && count < NAMED; count++)
        plain[count] = image->kernels[count].plain;
    return assay_error_as(NULL, "it has no kernel '%s'%s", name,
                          text_hint(hint, name, plain, count, image->count ? "it has " : NULL));
}

const struct kernel_entry *kernel_image_find(const struct kernel_image *image, const char *name)
{
    const struct kernel_entry *found = NULL;
    if (image->instance && strchr(name, '<')) name = image->instance;
    const struct kernel_entry *named = kernel_image_named(image, name);
    for (int i = 0; !named && i < image->count; i++) {
        if (strcmp(image->kernels[i].plain, name)) continue;
        if (found)
            return assay_error_as(
                NULL,
                "it has more than one kernel '%s': %.200s and %.200s (the whole name says "
                "which)",
                name, found->name, image->kernels[i].name);
        found = &image->kernels[i];
    }
    return named ? named : found ? found : refuse_kernel(image, name);
}

/* ----------------------------------------------------------------- files -- */

void kernel_image_release(struct kernel_image *image)
{
    for (int i = 0; i < image->count; i++) {
        free(image->kernels[i].name);
        free(image->kernels[i].plain);
    }
    free(image->kernels);
    free(image->bytes);
    free(image->instance);
    *image = (struct kernel_image){0};
}

int kernel_image_read(struct kernel_image *image, char *bytes, size_t size)
{
    static const char elf[] = "\177ELF";
    *image = (struct kernel_image){.bytes = bytes, .size = size};
    image->is_ptx = size < 4 || memcmp(bytes, elf, 4) != 0;
    if (image->is_ptx && !strstr(bytes, ".version"))
        assay_error("it is neither a cubin nor PTX");
    else if ((image->is_ptx ? ptx_read_kernels(image) : cubin_read_kernels(image)) == 0)
        return 0;
    kernel_image_release(image);
    return -1;
}

char *kernel_file_read(const char *path, size_t *size)
{
    char *bytes = NULL;
    long end = -1;
    FILE *in = fopen(path, "rb");
    if (in && fseek(in, 0, SEEK_END) == 0) end = ftell(in);
    if (end < 0 || fseek(in, 0, SEEK_SET) != 0) {
        assay_error("cannot be read: %s", strerror(errno));
    } else if (end > MAX_FILE_BYTES) {
        assay_error("larger than %d bytes", MAX_FILE_BYTES);
    } else if (!(bytes = calloc(1, (size_t)end + 1)) ||
               fread(bytes, 1, (size_t)end, in) != (size_t)end) {
        assay_error("cannot be read: %s", strerror(errno));
        free(bytes);
        bytes = NULL;
    }
    if (in) fclose(in);
    *size = bytes ? (size_t)end : 0;
    return bytes;
}

int kernel_image_open(struct kernel_image *image, const char *path, const char *arch,
                      const char *options, const char *kernel)
{
    size_t size;
    char *instance = NULL;
    *image = (struct kernel_image){0};
    char *bytes = kernel_file_read(path, &size);
    if (bytes && kernel_image_is_source(path)) {
        char *source = bytes;
        bytes = nvrtc_compile(path, source, arch, options, kernel, &size, &instance);
        free(source);
    }
    if (bytes && kernel_image_read(image, bytes, size) == 0) {
        image->instance = instance;
        return 0;
    }
    free(instance);
    return assay_error("%s: %s", path, assay_last_error());
}
