/* suite_file.c - one suite file as it stands, read with inih. */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/text.h"
#include "suite/suite_file.h"

enum { SUITE_MAX_BYTES = 1 << 20, SUITE_MAX_GROUPS = 1000 };

int suite_error(const char *file, int line, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return assay_error("%s:%d: %s", file, line, text);
}

int suite_error_here(const char *file, int line)
{
    return suite_error(file, line, "%s", assay_last_error());
}

const struct suite_key *suite_key_find(const struct suite_group *section, const char *name)
{
    for (int i = 0; i < section->key_count; i++)
        if (!strcmp(section->keys[i].name, name)) return &section->keys[i];
    return NULL;
}

struct suite_key *suite_key_add(struct suite_group *section, int line)
{
    if (section->key_count == SUITE_MAX_KEYS)
        return assay_error_as(NULL, "a section has at most %d keys", SUITE_MAX_KEYS);
    struct suite_key *key = &section->keys[section->key_count++];
    key->line = line;
    return key;
}

struct suite_group *suite_group_add(struct suite_group **list, int *count,
                                    const struct suite_group *group)
{
    struct suite_group *grown = grow_by_one(*list, *count, sizeof *grown);
    if (!grown) return assay_error_as(NULL, "out of memory for the sections");
    *list = grown;
    return memcpy(&grown[(*count)++], group,
                  offsetof(struct suite_group, keys) +
                      (size_t)group->key_count * sizeof *group->keys);
}

/* -------------------------------------------------------------- sections -- */

/* Where the reading is. inih hands over keys without their line and headings
 * not at all, so the line reader below keeps both. */
struct reading {
    struct suite_file *file;
    const char *at;              /* the next line */
    int line;                    /* number of the line read last */
    bool is_indented;            /* it continues the value above it */
    struct suite_group *section; /* NULL before the first heading */
    int failed_line;             /* 0: no error of ours yet */
};

__attribute__((format(printf, 2, 3))) static int fail(struct reading *reading, const char *format,
                                                      ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reading->failed_line = reading->line;
    return suite_error(reading->file->path, reading->line, "%s", text);
}

/* Titles and labels are printed. */
#define UNPRINTABLE "'%.100s' has a character that is none of UTF-8's or cannot be printed"

/* The sections of one kind: [group LABEL]. */
struct labelled {
    const char *word, *label;
    size_t list, count; /* offsets in struct suite_file */
};
static const struct labelled kinds[] = {
    {"group", "LABEL", offsetof(struct suite_file, groups),
     offsetof(struct suite_file, group_count)},
    {"claim", "ID", offsetof(struct suite_file, claims), offsetof(struct suite_file, claim_count)},
    {"bench", "NAME", offsetof(struct suite_file, benches),
     offsetof(struct suite_file, bench_count)},
    {"kernel", "NAME", offsetof(struct suite_file, kernels),
     offsetof(struct suite_file, kernel_count)},
};

static int begin_labelled(struct reading *reading, const struct labelled *kind, const char *label)
{
    struct suite_file *file = reading->file;
    struct suite_group **list = (struct suite_group **)((char *)file + kind->list);
    int *count = (int *)((char *)file + kind->count);
    if (!*label)
        return fail(reading, "a %s has a label: [%s %s]", kind->word, kind->word, kind->label);
    if (*count == SUITE_MAX_GROUPS)
        return fail(reading, "more than %d %ss", SUITE_MAX_GROUPS, kind->word);
    for (int i = 0; i < *count; i++)
        if (!strcmp((*list)[i].label, label))
            return fail(reading, "there is a [%s %s] already, at line %d", kind->word, label,
                        (*list)[i].line);
    struct suite_group section;
    section.line = reading->line;
    section.key_count = 0;
    text_copy(section.file, sizeof section.file, file->path);
    if (text_copy(section.label, sizeof section.label, label))
        return fail(reading, "the label is longer than %d characters", ASSAY_MAX_NAME - 1);
    reading->section = suite_group_add(list, count, &section);
    return reading->section ? 0 : fail(reading, "%s", assay_last_error());
}

static int begin_head(struct reading *reading)
{
    struct suite_group *head = &reading->file->head;
    if (head->line) return fail(reading, "there is a [suite] already, at line %d", head->line);
    head->line = reading->line;
    text_copy(head->file, sizeof head->file, reading->file->path);
    reading->section = head;
    return 0;
}

/* `line` begins with '['. */
static int begin_section(struct reading *reading, const char *line)
{
    const char *close = strchr(line, ']');
    if (!close) return fail(reading, "a heading ends with ']'");
    const char *after = close + 1 + strspn(close + 1, " \t\r");
    if (*after && !strchr(";#", *after)) return fail(reading, "text after the heading's ']'");
    char name[256];
    const char *start = line + 1 + strspn(line + 1, " \t");
    while (close > start && isspace((unsigned char)close[-1]))
        close--;
    snprintf(name, sizeof name, "%.*s", (int)(close - start), start);
    if (!text_is_printable(name)) return fail(reading, UNPRINTABLE, name);
    if (!strcmp(name, "suite")) return begin_head(reading);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *rest = text_begins(name, kinds[i].word);
        if (rest && (!*rest || isspace((unsigned char)*rest)))
            return begin_labelled(reading, &kinds[i], rest + strspn(rest, " \t"));
    }
    return fail(
        reading,
        "no section is called [%s] (there are [suite], [group LABEL], [claim ID], [bench NAME] "
        "and [kernel NAME])",
        name);
}

/* ----------------------------------------------------------------- keys -- */

static int append_to_value(struct reading *reading, const char *more)
{
    struct suite_group *section = reading->section;
    if (!section || !section->key_count || strchr(more, '='))
        return fail(reading, "an indented line continues the value above; keys begin a line");
    struct suite_key *key = &section->keys[section->key_count - 1];
    if (!text_is_printable(more)) return fail(reading, UNPRINTABLE, more);
    size_t used = strlen(key->value);
    size_t room = sizeof key->value - used;
    if ((size_t)snprintf(key->value + used, room, " %s", more) >= room)
        return fail(reading, "the value is longer than %d characters", SUITE_MAX_VALUE - 1);
    return 0;
}

static int add_key(struct reading *reading, const char *name, const char *value)
{
    struct suite_group *section = reading->section;
    if (!section) return fail(reading, "the key '%s' stands before any section", name);
    if (!*name) return fail(reading, "there is no key before the '='");
    if (!text_is_printable(value)) return fail(reading, UNPRINTABLE, value);
    const struct suite_key *same = suite_key_find(section, name);
    if (same) return fail(reading, "the key '%s' is there already, at line %d", name, same->line);
    struct suite_key *key = suite_key_add(section, reading->line);
    if (!key) return fail(reading, "%s", assay_last_error());
    if (text_copy(key->name, sizeof key->name, name))
        return fail(reading, "the key is longer than %d characters", ASSAY_MAX_NAME - 1);
    if (text_copy(key->value, sizeof key->value, value))
        return fail(reading, "the value is longer than %d characters", SUITE_MAX_VALUE - 1);
    return 0;
}

/* For inih: non-zero is success. `section` is ignored, inih cuts long ones. */
static int take_key(void *context, const char *section, const char *name, const char *value)
{
    struct reading *reading = context;
    (void)section;
    if (reading->failed_line) return 1;
    if (!reading->is_indented) return !add_key(reading, name, value);
    /* inih leaves the comment on a continued line. */
    char more[SUITE_MAX_VALUE];
    text_copy(more, sizeof more, value);
    more[strcspn(more, ";")] = '\0';
    return !append_to_value(reading, more);
}

/* ---------------------------------------------------------------- lines -- */

/* For inih, in the place of fgets: the next line without its end; NULL at the
 * end of the text and after an error. */
static char *next_line(char *out, int size, void *context)
{
    struct reading *reading = context;
    if (reading->failed_line || !*reading->at) return NULL;
    reading->line++;
    size_t length = strcspn(reading->at, "\n");
    const char *line = reading->at;
    reading->at += length + (line[length] == '\n');
    /* inih wants room for a line's end and the string's. */
    if (length > (size_t)size - 3) {
        fail(reading, "the line is longer than %d characters", size - 3);
        return NULL;
    }
    memcpy(out, line, length);
    out[length] = '\0';
    const char *text = out + strspn(out, " \t\r\f\v");
    reading->is_indented = text != out;
    if (*text != '[') return out;
    if (reading->is_indented)
        fail(reading, "a heading begins its line");
    else
        begin_section(reading, out);
    return reading->failed_line ? NULL : out;
}

static int read_sections(struct suite_file *file)
{
    struct reading reading = {.file = file, .at = file->text};
    const char *behind_mark = text_begins(reading.at, TEXT_MARK);
    if (behind_mark) reading.at = behind_mark;
    int bad_line = ini_parse_stream(next_line, &reading, take_key, &reading);
    if (bad_line < 0) return assay_error("%s: out of memory", file->path);
    if (bad_line > 0 && (!reading.failed_line || bad_line < reading.failed_line))
        return suite_error(file->path, bad_line,
                           "neither 'key = value' nor a [section] nor a comment (; or #)");
    return reading.failed_line ? -1 : 0;
}

/* ----------------------------------------------------------------- file -- */

static int read_text(const char *path, FILE *in, char **text)
{
    char *bytes = malloc(SUITE_MAX_BYTES + 1);
    if (!bytes) return assay_error("%s: out of memory", path);
    size_t count = fread(bytes, 1, SUITE_MAX_BYTES + 1, in);
    if (ferror(in)) {
        assay_error("cannot read %s: %s", path, strerror(errno));
    } else if (count > SUITE_MAX_BYTES) {
        assay_error("%s: larger than %d bytes: not a suite file", path, SUITE_MAX_BYTES);
    } else if (memchr(bytes, '\0', count)) {
        assay_error("%s: not a text file", path);
    } else {
        bytes[count] = '\0';
        char *fitted = realloc(bytes, count + 1);
        *text = fitted ? fitted : bytes;
        return 0;
    }
    free(bytes);
    return -1;
}

int suite_file_read(struct suite_file *file, const char *path)
{
    *file = (struct suite_file){0};
    if (text_copy(file->path, sizeof file->path, path))
        return assay_error("%s: the path is longer than %zu characters", path,
                           sizeof file->path - 1);
    FILE *in = fopen(path, "r");
    if (!in) return assay_error("cannot read %s: %s", path, strerror(errno));
    int failed = read_text(path, in, &file->text);
    fclose(in);
    if (!failed) failed = read_sections(file);
    if (failed) suite_file_release(file);
    return failed;
}

void suite_file_release(struct suite_file *file)
{
    free(file->text);
    free(file->groups);
    free(file->claims);
    free(file->benches);
    free(file->kernels);
    *file = (struct suite_file){0};
}
