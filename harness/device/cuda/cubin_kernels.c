#include "device/cuda/cubin_kernels.h"

#include <stdint.h>
#include <string.h>

#include "assay.h"
#include "base/text.h"
#include "device/cuda/cubin.h"

/* Forms of an attribute: with a value of 16 bits, or with so many bytes behind it. */
enum { FORM_BYTES = 4, HEAD_BYTES = 4 };
/* Attributes, by the names that cuobjdump prints: EIATTR_MAX_THREADS, EIATTR_KPARAM_INFO,
 * EIATTR_REGCOUNT, and EIATTR_KPARAM_INFO_V2 of a kernel with more than 4 KiB of parameters. */
enum { MAX_THREADS = 0x05, PARAMETER = 0x17, REGISTERS = 0x2f, LARGE_PARAMETER = 0x45 };

struct attribute {
    int form, id;
    const unsigned char *bytes;
    size_t size;
};

static uint32_t word_at(const unsigned char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* The attribute at *at, which is moved behind it; false at the end. */
static bool next_attribute(const struct elf_section *section, size_t *at,
                           struct attribute *attribute)
{
    if (section->size - *at < HEAD_BYTES) return false;
    const unsigned char *head = section->bytes + *at;
    size_t size = head[0] == FORM_BYTES ? (size_t)(head[2] | head[3] << 8) : 0;
    if (section->size - *at - HEAD_BYTES < size) return false;
    *attribute = (struct attribute){head[0], head[1], head + HEAD_BYTES, size};
    *at += HEAD_BYTES + size;
    return true;
}

/* Three words: an index, number and offset, and the size, with flags below it in the first form. */
static void take_parameter(struct kernel_entry *kernel, const struct attribute *attribute)
{
    const unsigned char *bytes = attribute->bytes;
    int number = bytes[4] | bytes[5] << 8;
    int size = (int)(word_at(bytes + 8) >> (attribute->id == PARAMETER ? 18 : 0));
    if (number >= KERNEL_MAX_PARAMETERS) return;
    if (number >= kernel->parameters) kernel->parameters = number + 1;
    kernel->parameter_bytes[number] = size;
}

enum { MOST_THREADS = 1024 };

/* Threads of a block of these three sizes; 0: of none that there is. */
static int threads_of(const unsigned char *bytes)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t size = word_at(bytes + 4 * i);
        threads *= size <= MOST_THREADS ? size : 0;
    }
    return threads <= MOST_THREADS ? (int)threads : 0;
}

void cubin_read_kernel(struct kernel_entry *kernel, const struct elf_section *section)
{
    struct attribute attribute;
    size_t at = 0;
    kernel->parameters = 0; /* it says all that it has */
    while (next_attribute(section, &at, &attribute)) {
        if (attribute.size < 12) continue;
        if (attribute.id == PARAMETER || attribute.id == LARGE_PARAMETER)
            take_parameter(kernel, &attribute);
        if (attribute.id == MAX_THREADS) kernel->max_threads = threads_of(attribute.bytes);
    }
}

/* The registers of the kernel whose symbol the info of its code's section names. */
static void take_registers(struct kernel_entry *kernel, uint32_t symbol,
                           const struct elf_section *section)
{
    struct attribute attribute;
    size_t at = 0;
    while (next_attribute(section, &at, &attribute))
        if (attribute.id == REGISTERS && attribute.size >= 8 && word_at(attribute.bytes) == symbol)
            kernel->registers = (int)word_at(attribute.bytes + 4);
}

/* Device functions that were not inlined have code, and no section of attributes of a kernel. */
static int add_kernels(struct kernel_image *image, const struct elf_file *sections)
{
    struct elf_section section;
    for (uint64_t i = 1; i < sections->count; i++) {
        if (elf_section_read(sections, i, &section)) return -1;
        const char *name = text_begins(section.name, ".nv.info.");
        if (!name || kernel_image_named(image, name)) continue;
        struct kernel_entry *kernel = kernel_image_add(image, name, strlen(name));
        if (!kernel) return -1;
        cubin_read_kernel(kernel, &section);
    }
    return 0;
}

static int add_registers(struct kernel_image *image, const struct elf_file *sections)
{
    struct elf_section section, all;
    if (elf_section_find(sections, ".nv.info", &all)) return -1;
    for (uint64_t i = 1; i < sections->count; i++) {
        if (elf_section_read(sections, i, &section)) return -1;
        const char *name =
            section.header.sh_type == SHT_PROGBITS ? text_begins(section.name, ".text.") : NULL;
        struct kernel_entry *kernel = name ? kernel_image_named(image, name) : NULL;
        if (kernel) take_registers(kernel, section.header.sh_info & 0xffffff, &all);
    }
    return 0;
}

int cubin_read_kernels(struct kernel_image *image)
{
    struct elf_file sections;
    if (cubin_open(&sections, image->bytes, image->size)) return -1;
    image->sm = cubin_architecture(&sections);
    return add_kernels(image, &sections) || add_registers(image, &sections) ? -1 : 0;
}
