#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "assay.h"
#include "base/library.h"

/* RTLD_LOCAL: two versions of one library may be in the process. */
static void *open_file(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_in_folders(const char *pattern, const char *const *names)
{
    void *library = NULL;
    glob_t folders;
    if (glob(pattern, 0, NULL, &folders)) return NULL;
    for (size_t i = 0; i < folders.gl_pathc && !library; i++)
        for (int name = 0; names[name] && !library; name++) {
            char path[PATH_MAX];
            int length = snprintf(path, sizeof path, "%s/%s", folders.gl_pathv[i], names[name]);
            if (length > 0 && (size_t)length < sizeof path) library = open_file(path);
        }
    globfree(&folders);
    return library;
}

void *library_open(const char *const *names, const char *const *patterns)
{
    char why[512] = "no file to load was named";
    for (int i = 0; names[i]; i++) {
        void *library = open_file(names[i]);
        if (library) return library;
        const char *words = dlerror();
        if (i == 0) snprintf(why, sizeof why, "%s", words ? words : "cannot be loaded");
    }
    for (int i = 0; patterns && patterns[i]; i++) {
        void *library = open_in_folders(patterns[i], names);
        if (library) return library;
    }
    assay_error("%s", why);
    return NULL;
}

int library_bind(void *library, const struct library_symbol *symbols, int count, void *table)
{
    for (int i = 0; i < count; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function && symbols[i].older) function = dlsym(library, symbols[i].older);
        if (!function && !symbols[i].is_optional)
            return assay_error("it has no function %s", symbols[i].name);
        /* ISO C has no conversion from an object pointer to a function's; POSIX
         * promises that the bits are the same. */
        memcpy((char *)table + symbols[i].offset, &function, sizeof function);
    }
    return 0;
}
