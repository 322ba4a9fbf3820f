/* suite.c - a suite: its file and the files that it includes, checked. */
#define _GNU_SOURCE /* asprintf */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "case/registry.h"
#include "object/object.h"
#include "suite/claim.h"
#include "suite/suite.h"
#include "suite/suite_check.h"
#include "suite/suite_file.h"
#include "suite/suite_find.h"
#include "suite/suite_value.h"

enum { MAX_FILES = 32 };

/* A suite that is being put together. Files are known by their real path, so
 * that two names for one do not hide a loop. */
struct assembly {
    struct suite *suite;
    int read_count, open_count;
    char *read[MAX_FILES]; /* every file so far */
    char *open[MAX_FILES]; /* of these, the chain of includes that is under way */
};

static bool is_among(char *const *paths, int count, const char *path)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(paths[i], path)) return true;
    return false;
}

/* Groups keep the settings of their own file's [suite] section wherever they
 * are included: they become keys of the group. */
static int add_defaults(struct suite_group *group, const struct suite_group *head)
{
    for (int i = 0; i < SUITE_SETTINGS; i++) {
        const struct suite_key *key = suite_key_find(head, suite_settings[i].name);
        if (!key || suite_key_find(group, key->name)) continue;
        struct suite_key *added = suite_key_add(group, key->line);
        if (!added) return suite_error_here(group->file, group->line);
        *added = *key;
    }
    return 0;
}

static int add_group(struct suite *suite, struct suite_group *group, const struct suite_group *head)
{
    if (suite_check_group(group) || add_defaults(group, head)) return -1;
    return suite_group_add(&suite->groups, &suite->group_count, group) ? 0 : -1;
}

/* What a claim needs is measured like any group. */
static int add_claim(struct suite *suite, const struct suite_group *section,
                     const struct suite_group *head)
{
    struct claim claim;
    struct suite_group groups[CLAIM_SIDES];
    if (claim_read(&claim, section)) return -1;
    int count = claim_groups(&claim, groups), failed = 0;
    for (int i = 0; i < count && !failed; i++)
        failed = add_group(suite, &groups[i], head);
    return failed;
}

/* A described kernel is measured at its sizes, unless the file has groups that say otherwise. Its
 * operation was registered when the file was loaded (bench/bench.h). */
static int add_bench(struct suite *suite, const struct suite_group *section,
                     const struct suite_group *head)
{
    struct suite_group group = *section;
    group.key_count = 1;
    text_copy(group.keys[0].name, ASSAY_MAX_NAME, "operation");
    text_copy(group.keys[0].value, SUITE_MAX_VALUE, section->label);
    group.keys[0].line = section->line;
    for (int i = 0; i < section->key_count; i++) {
        const struct suite_key *key = &section->keys[i];
        const char *size = text_begins(key->name, "size ");
        if (!size && !registry_is_group_key(key->name)) continue;
        struct suite_key *added = suite_key_add(&group, key->line);
        if (!added) return suite_error_here(section->file, key->line);
        *added = *key;
        if (size) text_copy(added->name, ASSAY_MAX_NAME, size);
    }
    return add_group(suite, &group, head);
}

static int add_groups(struct suite *suite, struct suite_file *file)
{
    int failed = 0, benches = file->group_count ? 0 : file->bench_count;
    for (int i = 0; i < benches && !failed; i++)
        failed = add_bench(suite, &file->benches[i], &file->head);
    for (int i = 0; i < file->group_count && !failed; i++)
        failed = add_group(suite, &file->groups[i], &file->head);
    for (int i = 0; i < file->claim_count && !failed; i++)
        failed = add_claim(suite, &file->claims[i], &file->head);
    return failed;
}

/* The run keeps every file's text: the suite's own as it is, then the includes,
 * each behind a comment with its name. */
static int add_text(struct suite *suite, const struct suite_file *file)
{
    char name[ASSAY_MAX_NAME];
    char *text;
    suite_name_of(file->path, name);
    int length = suite->text
                     ? asprintf(&text, "%s\n; included: %s\n%s", suite->text, name, file->text)
                     : asprintf(&text, "%s", file->text);
    if (length < 0) return assay_error("out of memory");
    free(suite->text);
    suite->text = text;
    return 0;
}

static int add_file(struct assembly *assembly, const char *path);

static int add_includes(struct assembly *assembly, const struct suite_file *file)
{
    const struct suite_key *include = suite_key_find(&file->head, "include");
    if (!include) return 0;
    struct suite_words words;
    if (suite_words_split(&words, include->value))
        return suite_error_here(file->path, include->line);
    for (int i = 0; i < words.count; i++) {
        char path[SUITE_MAX_PATH];
        if (suite_find(words.word[i], file->path, path))
            return suite_error_here(file->path, include->line);
        char *real = realpath(path, NULL);
        if (!real)
            return suite_error(file->path, include->line, "cannot read %s: %s", path,
                               strerror(errno));
        bool loops = is_among(assembly->open, assembly->open_count, real);
        free(real);
        if (loops)
            return suite_error(file->path, include->line, "including '%s' leads back to itself",
                               words.word[i]);
        if (add_file(assembly, path)) return -1;
    }
    return 0;
}

/* Before anything names what they bring. */
static int load_objects(const struct suite_file *file)
{
    const struct suite_key *load = suite_key_find(&file->head, "load");
    struct suite_words words;
    char path[OBJECTS_MOST][SUITE_MAX_PATH];
    const char *paths[OBJECTS_MOST];
    if (!load) return 0;
    int failed = suite_words_split(&words, load->value);
    if (!failed && words.count > OBJECTS_MOST)
        failed = assay_error("%d objects at most", OBJECTS_MOST);
    for (int i = 0; !failed && i < words.count; i++)
        failed = suite_path(words.word[i], file->path, path[i]);
    for (int i = 0; i < OBJECTS_MOST; i++)
        paths[i] = path[i];
    if (!failed) failed = objects_load_for_suite(paths, words.count);
    return failed ? suite_error_here(file->path, load->line) : 0;
}

static void take_head(struct suite *suite, const struct suite_file *file)
{
    suite_name_of(file->path, suite->name);
    text_copy(suite->file, sizeof suite->file, file->path);
    const struct suite_key *title = suite_key_find(&file->head, "title");
    if (title) text_copy(suite->title, sizeof suite->title, title->value);
    for (int i = 0; i < SUITE_SETTINGS; i++) {
        const struct suite_setting *setting = &suite_settings[i];
        double *value = (double *)((char *)suite + setting->in_suite);
        const struct suite_key *key = suite_key_find(&file->head, setting->name);
        *value = setting->fallback;
        if (key) suite_setting_read(setting, key->value, value); /* checked by suite_check_head */
    }
}

/* A file that was read already (two suites include it) is not read again. */
static int add_file(struct assembly *assembly, const char *path)
{
    char *real = realpath(path, NULL);
    if (!real) return assay_error("cannot read %s: %s", path, strerror(errno));
    if (is_among(assembly->read, assembly->read_count, real)) {
        free(real);
        return 0;
    }
    if (assembly->read_count == MAX_FILES) {
        free(real);
        return assay_error("%s: a suite of more than %d files", path, MAX_FILES);
    }
    assembly->read[assembly->read_count++] = real;
    assembly->open[assembly->open_count++] = real;

    struct suite_file file;
    if (suite_file_read(&file, path)) return -1;
    int failed = suite_check_head(&file.head);
    if (!failed) failed = load_objects(&file);
    if (!failed) failed = add_text(assembly->suite, &file);
    if (!failed) failed = add_includes(assembly, &file);
    if (!failed) failed = add_groups(assembly->suite, &file);
    if (!failed && assembly->open_count == 1) take_head(assembly->suite, &file);
    suite_file_release(&file);
    assembly->open_count--;
    return failed;
}

int suite_read(struct suite *suite, const char *name_or_path)
{
    struct assembly assembly = {.suite = suite};
    char path[SUITE_MAX_PATH];
    *suite = (struct suite){0};
    if (registry_check() || suite_find(name_or_path, NULL, path)) return -1;
    int failed = add_file(&assembly, path);
    for (int i = 0; i < assembly.read_count; i++)
        free(assembly.read[i]);
    if (!failed && !suite->group_count) failed = assay_error("%s: there is no [group] in it", path);
    if (failed) suite_release(suite);
    return failed;
}

void suite_release(struct suite *suite)
{
    free(suite->text);
    free(suite->groups);
    *suite = (struct suite){0};
}
