#include "device/cuda/module_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "device/cuda/cubin_kernels.h"
#include "device/cuda/cubin.h"

struct module {
    void *bytes;
    size_t size;
    struct code_hash whole; /* of its bytes: is it known? */
    struct code_hash identity;
    bool has_identity;
};

/* What was looked up; the list is emptied when a module comes, which may have the same name. */
struct found {
    char *name;
    struct module_kernel kernel;
};

struct module_set {
    struct module *modules;
    int count;
    struct found *found;
    int found_count;
};

struct module_set *module_set_new(void)
{
    return calloc(1, sizeof(struct module_set));
}

static void forget(struct module_set *set)
{
    for (int i = 0; i < set->found_count; i++)
        free(set->found[i].name);
    free(set->found);
    set->found = NULL;
    set->found_count = 0;
}

void module_set_free(struct module_set *set)
{
    if (!set) return;
    forget(set);
    for (int i = 0; i < set->count; i++)
        free(set->modules[i].bytes);
    free(set->modules);
    free(set);
}

int module_set_add(struct module_set *set, const void *cubin, size_t size)
{
    struct elf_file sections;
    if (cubin_open(&sections, cubin, size) != 0) return 0;
    struct code_hash whole = code_hash_of(cubin, size);
    for (int i = 0; i < set->count; i++)
        if (memcmp(&set->modules[i].whole, &whole, sizeof whole) == 0) return 0;
    void *bytes = malloc(size);
    struct module *module =
        bytes ? grow_add(&set->modules, &set->count, sizeof *module, "modules") : NULL;
    if (!module) {
        free(bytes);
        return assay_error("out of memory for a module of %zu bytes", size);
    }
    memcpy(bytes, cubin, size);
    *module = (struct module){.bytes = bytes, .size = size, .whole = whole};
    forget(set);
    return 0;
}

/* The section of a kernel's attributes; false: the module has no such kernel. */
static bool find_info(const struct module *module, const char *name, struct elf_section *section)
{
    struct elf_file sections;
    if (cubin_open(&sections, module->bytes, module->size) != 0) return false;
    for (uint64_t i = 1; i < sections.count; i++) {
        if (elf_section_read(&sections, i, section) != 0) return false;
        const char *kernel = text_begins(section->name, ".nv.info.");
        if (kernel && strcmp(kernel, name) == 0) return true;
    }
    return false;
}

/* Two modules that were loaded may each have a kernel of this name: which of them runs is not
 * known, so both count. They are summed, whatever order they were loaded in. */
static int look_into(struct module *module, const char *name, struct module_kernel *kernel)
{
    struct elf_section info;
    if (!find_info(module, name, &info)) return 0;
    if (!module->has_identity && cubin_identity(module->bytes, module->size, &module->identity))
        return -1;
    module->has_identity = true;
    for (int i = 0; i < 2; i++)
        kernel->code.word[i] += module->identity.word[i];
    struct kernel_entry entry = {0};
    cubin_read_kernel(&entry, &info);
    bool is_same = kernel->modules == 0 || (entry.parameters == kernel->parameters &&
                                            memcmp(entry.parameter_bytes, kernel->parameter_bytes,
                                                   sizeof entry.parameter_bytes) == 0);
    kernel->modules++;
    kernel->parameters = is_same ? entry.parameters : -1;
    memcpy(kernel->parameter_bytes, entry.parameter_bytes, sizeof entry.parameter_bytes);
    return 0;
}

int module_set_find(struct module_set *set, const char *name, struct module_kernel *kernel)
{
    for (int i = 0; i < set->found_count; i++) {
        if (strcmp(set->found[i].name, name) != 0) continue;
        *kernel = set->found[i].kernel;
        return 0;
    }
    *kernel = (struct module_kernel){.parameters = -1};
    for (int i = 0; i < set->count; i++)
        if (look_into(&set->modules[i], name, kernel) != 0) return -1;
    char *copy = strdup(name);
    struct found *found =
        copy ? grow_add(&set->found, &set->found_count, sizeof *found, "kernels") : NULL;
    if (!found) {
        free(copy);
        return assay_error("out of memory for kernels");
    }
    *found = (struct found){copy, *kernel};
    return 0;
}
