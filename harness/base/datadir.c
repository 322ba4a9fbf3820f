#define _GNU_SOURCE /* dladdr1 */
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assay.h"
#include "base/datadir.h"

/* The value of ASSAY_PLOTS for "plots"; "" when it is not set. */
static const char *from_environment(const char *kind)
{
    char name[64] = "ASSAY_";
    size_t used = strlen(name);
    for (; *kind && used + 1 < sizeof name; kind++)
        name[used++] = (char)toupper((unsigned char)*kind);
    name[used] = '\0';
    const char *value = getenv(name);
    return value ? value : "";
}

/* Of the running program, or of the library that it is (the wheel for Python); "": not known. */
static void program_folder(char out[PATH_MAX])
{
    Dl_info found;
    struct link_map *map = NULL;
    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[length > 0 ? length : 0] = '\0';
    /* The program itself has no name there. */
    if (dladdr1(datadir_folder, &found, (void **)&map, RTLD_DL_LINKMAP) && map->l_name[0] &&
        !realpath(map->l_name, out))
        out[0] = '\0';
    char *slash = strrchr(out, '/');
    if (slash) *slash = '\0';
}

int datadir_folder(const char *kind, int index, char *path, size_t size)
{
    /* Relative to the program's folder, searched after the environment's. */
    static const char *const below[] = {"/", "/../share/assay/", "/../", "/../../"};
    enum { BELOW = sizeof below / sizeof below[0] };
    char program[PATH_MAX];
    int length;
    if (index < 0 || index >= 1 + BELOW) return -1;
    if (index == 0) {
        length = snprintf(path, size, "%s", from_environment(kind));
    } else {
        program_folder(program);
        length = program[0] ? snprintf(path, size, "%s%s%s", program, below[index - 1], kind)
                            : snprintf(path, size, "%s", "");
    }
    /* A name that does not fit is passed over. */
    if (length < 0 || (size_t)length >= size) path[0] = '\0';
    return 0;
}

int datadir_find(const char *kind, const char *file, char *path, size_t size)
{
    char folder[PATH_MAX];
    for (int i = 0; !datadir_folder(kind, i, folder, sizeof folder); i++) {
        if (!folder[0]) continue;
        int length = snprintf(path, size, "%s/%s", folder, file);
        if (length < 0 || (size_t)length >= size) continue;
        if (!access(path, R_OK)) return 0;
    }
    return assay_error("no %s/%s beside the program or installed with it", kind, file);
}
