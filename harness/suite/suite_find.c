/* suite_find.c - where suite files are. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/grow.h"
#include "base/text.h"
#include "suite/suite.h"
#include "suite/suite_find.h"

enum { MAX_FOLDERS = 8 };
static const char ending[] = ".ini";

struct folders {
    int count;
    char path[MAX_FOLDERS][SUITE_MAX_PATH];
};

/* The current folder comes last: a name means the program's own suite, wherever it is run, and a
 * path says which other one is meant. */
static struct folders search_folders(void)
{
    struct folders folders = {0};
    char *path = folders.path[0];
    for (int i = 0; !datadir_folder("suites", i, path, SUITE_MAX_PATH); i++)
        if (*path && folders.count + 2 < MAX_FOLDERS) path = folders.path[++folders.count];
    strcpy(folders.path[folders.count++], "suites");
    return folders;
}

void suite_name_of(const char *path, char name[ASSAY_MAX_NAME])
{
    char base[SUITE_MAX_PATH];
    text_copy(base, sizeof base, text_file_name(path));
    if (text_ends(base, ending)) base[strlen(base) - (sizeof ending - 1)] = '\0';
    text_copy(name, ASSAY_MAX_NAME, base);
}

struct names {
    char (*name)[ASSAY_MAX_NAME];
    int count;
};

static int add_name(struct names *names, const char *file)
{
    char name[ASSAY_MAX_NAME];
    suite_name_of(file, name);
    for (int i = 0; i < names->count; i++)
        if (!strcmp(names->name[i], name)) return 0;
    return grow_keep(&names->name, &names->count, name, sizeof name, "the names of suites");
}

static int add_names_of(struct names *names, const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) return 0;
    int failed = 0;
    for (struct dirent *entry; !failed && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && text_ends(entry->d_name, ending) &&
            text_is_printable(entry->d_name))
            failed = add_name(names, entry->d_name);
    closedir(folder);
    return failed;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

int suite_names(char (**names)[ASSAY_MAX_NAME], int *count)
{
    struct folders folders = search_folders();
    struct names found = {0};
    for (int i = 0; i < folders.count; i++) {
        if (!add_names_of(&found, folders.path[i])) continue;
        free(found.name);
        return -1;
    }
    if (found.count) qsort(found.name, (size_t)found.count, sizeof *found.name, compare_names);
    *names = found.name;
    *count = found.count;
    return 0;
}

static int unknown_name(const char *name)
{
    char(*names)[ASSAY_MAX_NAME];
    int count;
    if (suite_names(&names, &count)) return -1;
    if (!count) {
        free(names);
        return assay_error("no suite is called '%s': there is no folder 'suites' here or beside "
                           "the program (ASSAY_SUITES names another)",
                           name);
    }
    const char *words[count];
    char hint[TEXT_HINT];
    for (int i = 0; i < count; i++)
        words[i] = names[i];
    assay_error("no suite is called '%s'%s", name,
                text_hint(hint, name, words, count, "there are "));
    free(names);
    return -1;
}

/* Length of the folder in `path`, its slash included. */
static int folder_length(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? (int)(slash + 1 - path) : 0;
}

int suite_path(const char *path, const char *beside, char out[SUITE_MAX_PATH])
{
    int folder = *path == '/' ? 0 : folder_length(beside);
    int length = snprintf(out, SUITE_MAX_PATH, "%.*s%s", folder, folder ? beside : "", path);
    if (length >= SUITE_MAX_PATH)
        return assay_error("%s: the path is longer than %d characters", path, SUITE_MAX_PATH - 1);
    if (access(out, R_OK)) return assay_error("cannot read %s: %s", out, strerror(errno));
    return 0;
}

/* Whether `folder`NAME.ini can be read; its path is then in `out`. */
static bool is_there(const char *folder, int folder_chars, const char *gap, const char *name,
                     char out[SUITE_MAX_PATH])
{
    int length =
        snprintf(out, SUITE_MAX_PATH, "%.*s%s%s%s", folder_chars, folder, gap, name, ending);
    return length < SUITE_MAX_PATH && !access(out, R_OK);
}

int suite_find(const char *name_or_path, const char *beside, char path[SUITE_MAX_PATH])
{
    if (strchr(name_or_path, '/') || text_ends(name_or_path, ending))
        return suite_path(name_or_path, beside, path);
    if (beside && is_there(beside, folder_length(beside), "", name_or_path, path)) return 0;
    struct folders folders = search_folders();
    for (int i = 0; i < folders.count; i++)
        if (is_there(folders.path[i], SUITE_MAX_PATH, "/", name_or_path, path)) return 0;
    return unknown_name(name_or_path);
}
