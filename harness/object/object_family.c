#include "object/object_family.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "assay.h"

static const char SECTION[] = "assay_family";

static bool read_at(int fd, void *out, size_t bytes, uint64_t offset)
{
    return offset <= INT64_MAX && pread(fd, out, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool is_named(int fd, const Elf64_Shdr *names, const Elf64_Shdr *section)
{
    char name[sizeof SECTION];
    return section->sh_name <= names->sh_size &&
           read_at(fd, name, sizeof name, names->sh_offset + section->sh_name) &&
           memcmp(name, SECTION, sizeof name) == 0;
}

/* The text is 64 digits and an end. */
static bool read_family(int fd, char family[SHA256_TEXT])
{
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    if (!read_at(fd, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof section ||
        !read_at(fd, &names, sizeof names,
                 header.e_shoff + (uint64_t)header.e_shstrndx * sizeof names))
        return false;
    for (int i = 0; i < header.e_shnum; i++) {
        if (!read_at(fd, &section, sizeof section, header.e_shoff + (uint64_t)i * sizeof section))
            return false;
        if (!is_named(fd, &names, &section)) continue;
        return section.sh_type == SHT_PROGBITS && section.sh_size == SHA256_TEXT &&
               read_at(fd, family, SHA256_TEXT, section.sh_offset) &&
               strnlen(family, SHA256_TEXT) == SHA256_TEXT - 1;
    }
    return false;
}

int object_family(const char *path, char family[SHA256_TEXT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return assay_error("%s: cannot be read: %s", path, strerror(errno));
    bool found = read_family(fd, family);
    close(fd);
    return found ? 0 : assay_error("%s does not say which build its variants are of", path);
}
