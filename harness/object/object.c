#define _GNU_SOURCE /* basename */
#include "object/object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "object/object_file.h"
#include "object/rehearse.h"

static struct object loaded[OBJECTS_MOST];
static int loaded_count;

int objects_loaded(const struct object **list)
{
    *list = loaded;
    return loaded_count;
}

/* ------------------------------------------------------------------ loading -- */

struct load {
    const char *path, *name; /* as the linker and as messages want it */
    int twin;                /* enum twin; -1: it is loaded for itself */
    const char *commit;
};

static int load(void *argument)
{
    struct load *now = argument;
    return object_file_load(now->path, now->name, now->twin, &now->commit);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The object was read, and is at the end of the list, which does not count it yet. */
static int load_last(struct object *object, const char *name)
{
    struct load now = {.path = object->path, .name = name, .twin = object->twin};
    if (rehearse(name, "when it was loaded", load, &now) || act_quietly(load, &now)) return -1;
    if (object_file_digest(object->path, object->info.sha256)) return -1;
    text_copy(object->info.name, sizeof object->info.name, basename(object->path));
    text_copy(object->info.commit, sizeof object->info.commit, now.commit ? now.commit : "");
    loaded_count++;
    return 0;
}

/* Read the file to the end of the list, which does not count it yet. NULL with assay_error. */
static struct object *read_last(const char *path, int twin)
{
    struct object object = {.twin = twin};
    if (object_file_read(path, &object.about, object.info.sha256)) return NULL;
    if (loaded_count == OBJECTS_MOST)
        return assay_error_as(NULL, "%s: %d objects are loaded, and there is room for no more",
                              path, OBJECTS_MOST);
    if (!realpath(path, object.path))
        return assay_error_as(NULL, "%s: cannot be read: %s", path, strerror(errno));
    loaded[loaded_count] = object;
    return &loaded[loaded_count];
}

static int load_one(const char *path)
{
    struct object *object = read_last(path, -1);
    if (!object) return -1;
    for (int i = 0; i < loaded_count; i++)
        if (is_same_file(&loaded[i].about, &object->about)) return 0;
    return load_last(object, path);
}

int objects_load_twins(const char *name, const char *const copy[TWINS])
{
    for (int twin = 0; twin < TWINS; twin++) {
        struct object *object = read_last(copy[twin], twin);
        if (!object || load_last(object, name)) return -1;
        text_copy(object->info.name, sizeof object->info.name, basename(name));
    }
    return 0;
}

/* The first failure is told of the last round, in which none found what it lacked. */
int objects_load(const char *const *paths, int count)
{
    bool is_done[OBJECTS_MOST] = {false};
    char why[1024];
    if (count > OBJECTS_MOST) return assay_error("%d objects at most", OBJECTS_MOST);
    int left = count;
    for (int before = count + 1; left > 0;) {
        if (left == before) return assay_error("%s", why);
        before = left;
        for (int i = 0, failed = 0; i < count; i++) {
            if (is_done[i]) continue;
            is_done[i] = load_one(paths[i]) == 0;
            left -= is_done[i];
            if (!is_done[i] && failed++ == 0) snprintf(why, sizeof why, "%s", assay_last_error());
        }
    }
    return 0;
}

static bool suites_may_load;

void objects_allow_suites(bool allowed)
{
    suites_may_load = allowed;
}

int objects_load_for_suite(const char *const *paths, int count)
{
    if (suites_may_load) return objects_load(paths, count);
    return assay_error(
        "load = %s: an object is code and runs as you; --allow-load lets suites load "
        "objects",
        paths[0]);
}

/* An argument is the absolute path of an object, in front of which a twin has one of these. */
static const char twin_letters[TWINS] = {[TWIN_BASE] = 'b', [TWIN_NULL] = 'n'};

int objects_arguments(const char **arguments)
{
    static char texts[OBJECTS_MOST][PATH_MAX + 1];
    for (int i = 0; i < loaded_count; i++) {
        int twin = loaded[i].twin;
        snprintf(texts[i], sizeof texts[i], "%.1s%s", twin < 0 ? "" : &twin_letters[twin],
                 loaded[i].path);
        arguments[i] = texts[i];
    }
    return loaded_count;
}

struct load_again {
    const char *const *arguments;
    int count;
};

static int load_again(void *given)
{
    const struct load_again *again = given;
    for (int i = 0; i < again->count; i++) {
        const char *path = again->arguments[i];
        struct load now = {.twin = -1};
        for (int twin = 0; twin < TWINS; twin++)
            if (path[0] == twin_letters[twin]) now.twin = twin;
        now.path = now.name = path + (now.twin >= 0);
        if (load(&now)) return -1;
    }
    return 0;
}

int objects_load_again(const char *const *arguments, int count)
{
    struct load_again again = {arguments, count};
    return act_quietly(load_again, &again);
}

/* ------------------------------------------------------------------ using -- */

static bool is_untouched(const struct object *object)
{
    struct stat now;
    const struct stat *then = &object->about;
    return stat(object->path, &now) == 0 && is_same_file(&now, then) &&
           now.st_size == then->st_size && now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

int objects_unchanged(void)
{
    for (int i = 0; i < loaded_count; i++) {
        char sha256[SHA256_TEXT];
        text_copy(sha256, sizeof sha256, loaded[i].info.sha256);
        bool is_same = is_untouched(&loaded[i]);
        if (is_same && object_file_digest(loaded[i].path, sha256)) return -1;
        if (!is_same || strcmp(sha256, loaded[i].info.sha256) != 0)
            return assay_error("%s: the file changed after it was loaded%s", loaded[i].path,
                               is_same ? ", or one that it names" : "");
    }
    return 0;
}

int objects_try(const char *when, int (*act)(void *), void *argument)
{
    char who[512] = "";
    if (loaded_count == 0) return act(argument);
    for (int i = 0; i < loaded_count; i++)
        text_add(who, sizeof who, ", ", "%s%s", i == 0 && loaded_count > 1 ? "one of " : "",
                 loaded[i].info.name);
    if (rehearse(who, when, act, argument)) return -1;
    return act_quietly(act, argument);
}
