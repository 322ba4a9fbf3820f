/* ptx_kernels.c - the kernels that PTX declares (NVIDIA, PTX ISA, ".entry", ".param"). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/text.h"
#include "device/cuda/cubin_kernels.h"

enum { MOST_BYTES = 32764 }; /* of the parameters of a kernel */

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* What stands in the place of blanks and comments too. */
static const char *skip_blanks(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (is_of_name(at[length]))
        length++;
    return length;
}

/* Bytes of a type: ".u64", ".b8"; 0 where there is none. */
static int type_bytes(const char *type)
{
    int bits = isalpha((unsigned char)type[1]) ? atoi(type + 2) : 0;
    return type[0] == '.' && strchr("usfb", type[1]) && bits > 0 && bits % 8 == 0 && bits <= 128
               ? bits / 8
               : 0;
}

/* One declaration ".param .align 4 .b8 NAME[20]", up to its comma or the ')'. */
static const char *read_parameter(const char *at, int *bytes)
{
    *bytes = 0;
    for (at = skip_blanks(at); *at && *at != ',' && *at != ')'; at = skip_blanks(at)) {
        if (*at == '[') {
            long count = strtol(at + 1, NULL, 10);
            bool fits = *bytes == 0 || (count > 0 && count <= MOST_BYTES / *bytes);
            *bytes = fits ? *bytes * (int)count : MOST_BYTES;
            at++;
        } else if (*at == '.') {
            if (*bytes == 0) *bytes = type_bytes(at);
            at += 1 + name_length(at + 1);
        } else {
            size_t length = name_length(at);
            at += length ? length : 1;
        }
    }
    return at;
}

static const char *read_parameters(const char *at, struct kernel_entry *kernel)
{
    kernel->parameters = 0;
    while (*at == '(' || *at == ',') {
        int bytes;
        at = skip_blanks(read_parameter(at + 1, &bytes));
        if (bytes == 0) continue; /* "()" */
        if (kernel->parameters < KERNEL_MAX_PARAMETERS)
            kernel->parameter_bytes[kernel->parameters] = bytes;
        kernel->parameters++;
    }
    if (kernel->parameters > KERNEL_MAX_PARAMETERS) kernel->parameters = -1;
    return at;
}

static bool is_word(const char *at, const char *word)
{
    const char *behind = text_begins(at, word);
    return behind && !is_of_name(*behind);
}

int ptx_read_kernels(struct kernel_image *image)
{
    const char *at = image->bytes;
    if (strlen(at) != image->size) return assay_error("PTX: it is no text");
    for (at = skip_blanks(at); *at; at = skip_blanks(at)) {
        if (is_word(at, ".target")) {
            const char *sm = text_begins(skip_blanks(at + 7), "sm_");
            if (sm) image->sm = atoi(sm);
        }
        if (is_word(at, ".entry")) {
            const char *name = skip_blanks(at + 6);
            size_t length = name_length(name);
            struct kernel_entry *kernel = length ? kernel_image_add(image, name, length) : NULL;
            if (length && !kernel) return -1;
            at = skip_blanks(name + length);
            if (kernel) at = read_parameters(at, kernel);
            continue;
        }
        if (*at == '"') at += 1 + strcspn(at + 1, "\""); /* the name of a file may be anything */
        bool has_name = *at == '.' || is_of_name(*at);
        if (*at) at += 1 + (has_name ? name_length(at + 1) : 0);
    }
    return image->sm ? 0 : assay_error("PTX: it has no .target");
}
