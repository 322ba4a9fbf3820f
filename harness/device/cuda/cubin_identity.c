#include "device/cuda/cubin_identity.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/text.h"

enum { DIGITS = 8 };

/* Behind one of these stand eight digits that nvcc makes of path and options. */
static size_t local_mark(const char *name)
{
    static const char *const marks[] = {"_GLOBAL__N__", "_INTERNAL_", "__nv_static_"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *digits = text_begins(name, marks[i]);
        int count = 0;
        while (digits && count < DIGITS && isxdigit((unsigned char)digits[count]))
            count++;
        if (count == DIGITS && digits[DIGITS] == '_') return strlen(marks[i]);
    }
    return 0;
}

void cubin_plain_local(const char *name, char *out, size_t size)
{
    size_t used = 0;
    while (*name && used + 1 < size) {
        size_t mark = local_mark(name);
        if (mark == 0) {
            out[used++] = *name++;
            continue;
        }
        for (size_t i = 0; i < mark && used + 1 < size; i++)
            out[used++] = name[i];
        name += mark + DIGITS;
    }
    out[used] = '\0';
}

/* A hash of parts one after another. */
struct sum {
    struct code_hash hash;
};

static void add(struct sum *sum, const void *bytes, size_t size)
{
    code_hash_add(&sum->hash, bytes, size);
}

static int add_name(struct sum *sum, const char *name)
{
    size_t size = strlen(name) + 1;
    char *plain = malloc(size);
    if (!plain) return assay_error("out of memory for a name of a cubin");
    cubin_plain_local(name, plain, size);
    add(sum, plain, strlen(plain));
    free(plain);
    return 0;
}

static bool is_left_out(const char *name)
{
    static const char *const prefixes[] = {".debug",         ".nv_debug",  ".rela.debug",
                                           ".rela.nv_debug", ".rel.debug", ".rel.nv_debug",
                                           ".note",          ".strtab",    ".shstrtab"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (text_begins(name, prefixes[i])) return true;
    return false;
}

/* The symbols, with the texts of their names in the place of where these stand. */
static int add_symbols(struct sum *sum, const struct elf_section *table,
                       const struct elf_section *names)
{
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= table->size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, table->bytes + at, sizeof symbol);
        if (symbol.st_name >= names->size || names->bytes[names->size - 1] != '\0')
            return assay_error("cubin: a symbol's name is out of bounds");
        if (add_name(sum, (const char *)names->bytes + symbol.st_name) != 0) return -1;
        symbol.st_name = 0;
        add(sum, &symbol, sizeof symbol);
    }
    return 0;
}

static int add_section(struct sum *sum, const struct elf_file *sections, uint64_t index,
                       const struct elf_section *strings)
{
    struct elf_section section;
    if (elf_section_read(sections, index, &section) != 0) return -1;
    if (is_left_out(section.name)) return 0;
    if (add_name(sum, section.name) != 0) return -1;
    const Elf64_Shdr header = section.header;
    const uint64_t facts[] = {header.sh_type, header.sh_flags,     header.sh_size,   header.sh_link,
                              header.sh_info, header.sh_addralign, header.sh_entsize};
    add(sum, facts, sizeof facts);
    if (header.sh_type == SHT_SYMTAB) return add_symbols(sum, &section, strings);
    if (section.bytes) add(sum, section.bytes, section.size);
    return 0;
}

int cubin_identity(const void *bytes, size_t size, struct code_hash *hash)
{
    struct elf_file sections;
    struct elf_section strings;
    struct sum sum = {0};
    if (cubin_open(&sections, bytes, size) != 0 ||
        elf_section_find(&sections, ".strtab", &strings) != 0)
        return -1;
    add(&sum, &sections.header.e_flags, sizeof sections.header.e_flags);
    for (uint64_t i = 1; i < sections.count; i++)
        if (add_section(&sum, &sections, i, &strings) != 0) return -1;
    *hash = sum.hash;
    return 0;
}
