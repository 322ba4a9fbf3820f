/* object_folder.c - the folder of the user's own objects. */
#define _GNU_SOURCE /* asprintf, secure_getenv */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "object/object.h"

/* The folder as it is called, "" where there is no home to have one. */
static void folder_path(char out[PATH_MAX])
{
    const char *data = secure_getenv("XDG_DATA_HOME");
    const char *home = secure_getenv("HOME");
    out[0] = '\0';
    if (data && data[0] == '/')
        snprintf(out, PATH_MAX, "%s/assay/variants", data);
    else if (home && home[0] == '/')
        snprintf(out, PATH_MAX, "%s/.local/share/assay/variants", home);
}

/* Only this user and root can put something else in its place. In a folder as /tmp, which is
 * sticky, others can write, but not replace what is ours. */
static int check_owner(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) return assay_error("%s: %s", path, strerror(errno));
    bool is_ours = about.st_uid == geteuid() || about.st_uid == 0;
    bool is_shared = (about.st_mode & (S_IWGRP | S_IWOTH)) &&
                     !(S_ISDIR(about.st_mode) && (about.st_mode & S_ISVTX));
    if (is_ours && !is_shared) return 0;
    return assay_error("%s: others can write to it, so nothing of %s is loaded (chmod go-w, and it "
                       "must be yours)",
                       path, "assay/variants");
}

/* The path, and each folder that it is in. `path` is absolute, without links. */
static int check_owners(const char *path)
{
    char part[PATH_MAX];
    text_copy(part, sizeof part, path);
    while (check_owner(part) == 0) {
        char *slash = strrchr(part, '/');
        if (slash == part && !part[1]) return 0;
        slash[slash == part] = '\0';
    }
    return -1;
}

static int is_object(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && text_ends(entry->d_name, ".so");
}

/* Its path, for free(3), if it may be loaded; NULL with assay_error if not. */
static char *checked_path(const char *folder, const char *name)
{
    char real[PATH_MAX], *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0) return assay_error_as(NULL, "out of memory");
    int failed =
        realpath(path, real) ? check_owners(real) : assay_error("%s: %s", path, strerror(errno));
    if (!failed) return path;
    free(path);
    return NULL;
}

static int load_all(const char *folder, struct dirent *const *names, int count)
{
    char *paths[OBJECTS_MOST] = {NULL};
    int status =
        count > OBJECTS_MOST ? assay_error("%s: %d objects at most", folder, OBJECTS_MOST) : 0;
    for (int i = 0; i < count && status == 0; i++) {
        paths[i] = checked_path(folder, names[i]->d_name);
        status = paths[i] ? 0 : -1;
    }
    if (status == 0) status = objects_load((const char *const *)paths, count);
    for (int i = 0; i < OBJECTS_MOST; i++)
        free(paths[i]);
    return status;
}

int objects_load_folder(void)
{
    char path[PATH_MAX], real[PATH_MAX];
    struct dirent **names;
    folder_path(path);
    if (!path[0] || !realpath(path, real)) return 0;
    int count = scandir(path, &names, is_object, alphasort);
    if (count < 0) return assay_error("%s: %s", path, strerror(errno));
    int status = count > 0 ? check_owners(real) : 0;
    if (status == 0) status = load_all(path, names, count);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    return status;
}
