#include "object/object_file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "assay.h"
#include "base/elf_file.h"
#include "base/error.h"
#include "base/text.h"
#include "case/registry.h"
#include "case/twins.h"
#include "object/object.h"

/* Files that are no shared objects (objects_describe). */
static struct {
    const char *ending;
    int (*load)(const char *path, const char *name);
    int (*digest)(const char *path, char sha256[SHA256_TEXT]);
} described;

void objects_describe(const char *ending, int (*load)(const char *path, const char *name),
                      int (*digest)(const char *path, char sha256[SHA256_TEXT]))
{
    described.ending = ending;
    described.load = load;
    described.digest = digest;
}

static bool is_described(const char *path)
{
    return described.ending && text_ends(path, described.ending);
}

int object_file_digest(const char *path, char sha256[SHA256_TEXT])
{
    return is_described(path) ? described.digest(path, sha256) : 0;
}

/* The part of an ELF header that 32 and 64 bits have alike. */
struct elf_start {
    unsigned char ident[EI_NIDENT];
    uint16_t type, machine;
};

static bool read_start(int fd, struct elf_start *start)
{
    return pread(fd, start, sizeof *start, 0) == sizeof *start &&
           memcmp(start->ident, ELFMAG, SELFMAG) == 0;
}

/* What this program is, is what can be loaded into it. */
static bool is_of_this_machine(const struct elf_start *start)
{
    struct elf_start own;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool known = fd >= 0 && read_start(fd, &own);
    if (fd >= 0) close(fd);
    return !known || (own.ident[EI_CLASS] == start->ident[EI_CLASS] &&
                      own.ident[EI_DATA] == start->ident[EI_DATA] && own.machine == start->machine);
}

static int check_elf(const char *path, int fd)
{
    struct elf_start start;
    if (!read_start(fd, &start))
        return assay_error("%s is no shared object (cc -shared makes one)", path);
    if (!is_of_this_machine(&start))
        return assay_error("%s is for another architecture than this program", path);
    if (start.type != ET_DYN)
        return assay_error("%s is no shared object: it was not linked with -shared", path);
    return 0;
}

static int check_file(const char *path, int fd, struct stat *about, char sha256[SHA256_TEXT])
{
    if (fstat(fd, about) != 0) return assay_error("%s: %s", path, strerror(errno));
    if (S_ISDIR(about->st_mode)) return assay_error("%s is a folder, no shared object", path);
    if (!S_ISREG(about->st_mode)) return assay_error("%s is no file", path);
    if (!is_described(path) && check_elf(path, fd)) return -1;
    if (sha256_file(fd, sha256) == 0) return 0;
    return assay_error("%s: cannot be read: %s", path, strerror(errno));
}

int object_file_read(const char *path, struct stat *about, char sha256[SHA256_TEXT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a named pipe may have no writer */
    if (fd < 0) return assay_error("%s: cannot be read: %s", path, strerror(errno));
    int status = check_file(path, fd, about, sha256);
    close(fd);
    return status;
}

int object_family(const char *path, char family[SHA256_TEXT])
{
    struct elf_file elf;
    struct elf_section section = {.bytes = NULL};
    if (access(path, R_OK)) return assay_error("%s: cannot be read: %s", path, strerror(errno));
    if (elf_map(&elf, path) == 0) {
        /* 64 digits and an end. */
        bool is_there = elf_section_find(&elf, "assay_family", &section) == 0 && section.bytes &&
                        section.size == SHA256_TEXT &&
                        strnlen((const char *)section.bytes, SHA256_TEXT) == SHA256_TEXT - 1;
        if (is_there) memcpy(family, section.bytes, SHA256_TEXT);
        elf_unmap(&elf);
        if (is_there) return 0;
    }
    return assay_error("%s does not say which build its variants are of", path);
}

/* The linker's words, without the path that it puts in front. */
static int refused(const char *path, const char *name)
{
    const char *words = dlerror();
    size_t length = strlen(path);
    if (!words) words = "unknown";
    if (strncmp(words, path, length) == 0 && words[length] == ':')
        words += length + 1 + strspn(words + length + 1, " ");
    return assay_error("%s cannot be loaded: %s", name, words);
}

/* What the object at `path` brings; NULL with assay_error. */
static const struct assay_object *open_object(const char *path, const char *name)
{
    const struct assay_object *(*tell)(void);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        refused(path, name);
        return NULL;
    }
    void *symbol = dlsym(library, "assay_object");
    if (!symbol)
        return assay_error_as(
            NULL,
            "%s registers nothing: files that include assay.h and are compiled with "
            "-fPIC bring the function assay_object",
            name);
    memcpy(&tell, &symbol, sizeof tell); /* as library_bind does */
    const struct assay_object *object = tell();
    if (!object) assay_error("%s registers nothing: assay_object returned NULL", name);
    return object;
}

int object_file_load(const char *path, const char *name, int twin, const char **commit)
{
    char family[SHA256_TEXT];
    *commit = NULL;
    if (is_described(path) && twin >= 0)
        return assay_error("%s describes kernels: only shared objects can be twins", name);
    if (is_described(path)) return described.load(path, name);
    const struct assay_object *object = open_object(path, name);
    if (!object) return -1;
    if (twin < 0 && object_family(path, family) == 0) registry_forget_own();
    if (twin < 0 ? registry_add(object, name) : twins_add(object, (enum twin)twin, name)) return -1;
    *commit = object->commit;
    return 0;
}
