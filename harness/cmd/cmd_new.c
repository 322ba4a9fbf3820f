/* cmd_new.c - `assay new`: a folder with what a shared object of kernels begins with. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/exit_code.h"
#include "base/out_file.h"
#include "base/text.h"
#include "case/registry.h"
#include "case/result.h"
#include "case/shape.h"
#include "cmd/options.h"

struct arguments {
    struct given given;
    const char *operation, *language;
    bool from_scratch;
};

/* ------------------------------------------------------------ the files -- */

enum { OF_C = 1, OF_CPP = 2, OF_CUDA = 4, OF_ANY = 7 };
static const char languages[] = "c cpp cuda"; /* in the order of these bits */

enum { SCRATCH = 1, VARIANT = 2, EITHER = 3 };

/* What is written, and of which template (templates/README.md). */
static const struct {
    const char *template, *name;
    unsigned kinds, languages;
} files[] = {
    {"Makefile", "Makefile", EITHER, OF_ANY},
    {"CMakeLists.txt", "CMakeLists.txt", EITHER, OF_ANY},
    {"gitignore", ".gitignore", EITHER, OF_ANY},
    {"scratch/suite.ini", "@NAME@.ini", SCRATCH, OF_ANY},
    {"scratch/operation.h", "@NAME@.h", SCRATCH, OF_ANY},
    {"scratch/operation.c", "operation.c", SCRATCH, OF_ANY},
    {"scratch/loop.c", "loop.c", SCRATCH, OF_ANY},
    {"scratch/transform.cpp", "transform.cpp", SCRATCH, OF_CPP},
    {"scratch/threads.cu", "threads.cu", SCRATCH, OF_CUDA},
    {"variant/suite.ini", "@NAME@.ini", VARIANT, OF_ANY},
    {"variant/variant.c", "@NAME@.c", VARIANT, OF_C | OF_CUDA},
    {"variant/variant.c", "@NAME@.cpp", VARIANT, OF_CPP},
    {"variant/variant.cu", "@NAME@.cu", VARIANT, OF_CUDA},
};
enum { FILES = sizeof files / sizeof *files };

/* ------------------------------------------------------------ the words -- */

enum { WORD_SIZE = 4096 };
enum { NAME, OPERATION, SOURCES, LANGUAGES, SHAPE, BUFFERS, PROGRAM, INCLUDE, WORDS };
static const char *const word_names[WORDS] = {"NAME",  "OPERATION", "SOURCES", "LANGUAGES",
                                              "SHAPE", "BUFFERS",   "PROGRAM", "INCLUDE"};

struct plan {
    unsigned kind, language;
    char words[WORDS][WORD_SIZE];
};

static void put(FILE *out, const struct plan *plan, const char *text)
{
    while (*text) {
        int i = 0;
        size_t length = 0;
        for (; i < WORDS && *text == '@'; i++) {
            length = strlen(word_names[i]);
            if (!strncmp(text + 1, word_names[i], length) && text[length + 1] == '@') break;
        }
        bool found = *text == '@' && i < WORDS;
        if (found)
            fputs(plan->words[i], out);
        else
            fputc(*text, out);
        text += found ? length + 2 : 1;
    }
}

enum { PATH_SIZE = 2 * PATH_MAX };

/* A file of the folder, its name with the words replaced; without a folder that name alone. */
static void path_of(const struct plan *plan, const char *folder, int file, char out[PATH_SIZE])
{
    const char *name = files[file].name;
    bool begins = strncmp(name, "@NAME@", 6) == 0;
    snprintf(out, PATH_SIZE, "%s%s%s%s", folder, *folder ? "/" : "",
             begins ? plan->words[NAME] : "", name + 6 * begins);
}

static bool is_wanted(const struct plan *plan, int file)
{
    return (files[file].kinds & plan->kind) && (files[file].languages & plan->language);
}

static void list_sources(struct plan *plan)
{
    static const struct {
        const char *ending, *language;
    } known[] = {{".c", "C"}, {".cpp", "CXX"}, {".cu", "CUDA"}};
    for (int i = 0; i < FILES; i++) {
        char name[PATH_SIZE];
        path_of(plan, "", i, name);
        for (size_t j = 0; j < sizeof known / sizeof *known && is_wanted(plan, i); j++) {
            char *all = plan->words[LANGUAGES];
            if (!text_ends(name, known[j].ending)) continue;
            text_add(plan->words[SOURCES], WORD_SIZE, " ", "%s", name);
            if (!strstr(all, known[j].language))
                text_add(all, WORD_SIZE, " ", "%s", known[j].language);
        }
    }
}

/* ------------------------------------------- an operation that is there -- */

/* Multiply-adds of the reference for all outputs; INFINITY for a shape that is not supported. */
static double cost_of(const struct assay_shape *shape)
{
    struct assay_buffer buffers[ASSAY_MAX_BUFFERS];
    const struct assay_operation *operation = shape->operation;
    if (operation->supports && operation->supports(shape)) return INFINITY;
    int count = operation->buffers(shape, buffers);
    double each = operation->reference_cost ? operation->reference_cost(shape) : 1, cost = 0;
    for (int i = 0; i < count; i++)
        if (buffers[i].role == ASSAY_OUT) cost += each * (double)buffers[i].count;
    return cost;
}

/* The default shape, its sizes halved where that makes the reference cheaper, until all of it takes
 * some milliseconds: a variant begins as the reference. */
static struct assay_shape small_shape(const struct assay_operation *operation)
{
    enum { CHEAP = 1 << 20 };
    struct assay_shape shape = shape_default(operation);
    double cost = cost_of(&shape);
    for (bool shrinks = true; shrinks && cost > CHEAP;) {
        struct assay_shape best = shape;
        for (int i = 0; i < shape_dims(operation); i++) {
            struct assay_shape half = shape;
            int64_t min, max;
            shape_range(&operation->dims[i], &min, &max);
            half.value[i] /= 2;
            if (operation->dims[i].choices || half.value[i] < min || half.value[i] < 1) continue;
            if (cost_of(&half) < cost_of(&best)) best = half;
        }
        shrinks = cost_of(&best) < cost;
        shape = best;
        cost = cost_of(&shape);
    }
    return shape;
}

static void write_shape(const struct assay_shape *shape, char out[WORD_SIZE])
{
    const struct assay_dim *dims = shape->operation->dims;
    for (int i = 0; i < shape_dims(shape->operation); i++)
        if (dims[i].choices)
            text_add(out, WORD_SIZE, "\n", "%s = %s", dims[i].name,
                     dims[i].choices[shape->value[i]]);
        else
            text_add(out, WORD_SIZE, "\n", "%s = %lld", dims[i].name, (long long)shape->value[i]);
}

static void write_buffers(const struct assay_shape *shape, char out[WORD_SIZE])
{
    struct assay_buffer buffers[ASSAY_MAX_BUFFERS];
    int count = shape->operation->buffers(shape, buffers);
    for (int i = 0; i < count; i++)
        text_add(out, WORD_SIZE, "\n", " *   %2d  %-7s  %s  %s[%lld]", i,
                 role_name(buffers[i].role), buffers[i].name, type_name(buffers[i].type),
                 (long long)buffers[i].count);
}

static int describe_operation(void *argument)
{
    struct plan *plan = argument;
    const char *name = plan->words[OPERATION];
    const struct assay_operation *operation = registry_operation(name);
    if (!operation) return registry_no_operation(name);
    if (!operation->reference)
        return assay_error("%s has no reference to begin with: it computes nothing", name);
    struct assay_shape shape = small_shape(operation);
    write_shape(&shape, plan->words[SHAPE]);
    write_buffers(&shape, plan->words[BUFFERS]);
    return 0;
}

/* ------------------------------------------------------------- the folder -- */

/* Where assay.h is: installed, or in the sources beside the program. */
static int find_include(char out[WORD_SIZE])
{
    static const char header[] = "/assay.h";
    char path[PATH_MAX], real[PATH_MAX];
    if (datadir_find("include", header + 1, path, sizeof path) != 0 &&
        datadir_find("harness", header + 1, path, sizeof path) != 0)
        return assay_error("there is no assay.h beside the program or installed with it");
    if (!realpath(path, real)) return assay_error("%s: %s", path, strerror(errno));
    return text_copy(out, strlen(real) - strlen(header) + 1, real), 0;
}

static int plan_make(struct plan *plan, const struct arguments *arguments, const char *name)
{
    const char *operation = arguments->operation ? arguments->operation : name;
    plan->kind = arguments->operation ? VARIANT : SCRATCH;
    plan->language = strcmp(arguments->language, "c") == 0     ? OF_C
                     : strcmp(arguments->language, "cpp") == 0 ? OF_CPP
                                                               : OF_CUDA;
    if (text_copy(plan->words[NAME], ASSAY_MAX_NAME, name) ||
        text_copy(plan->words[OPERATION], ASSAY_MAX_NAME, operation))
        return assay_error("a name has at most %d characters", ASSAY_MAX_NAME - 1);
    list_sources(plan);
    if (find_include(plan->words[INCLUDE])) return -1;
    /* A module of Python has no file: the folder then calls the command. */
    if (program_itself(plan->words[PROGRAM], WORD_SIZE) != 0)
        text_copy(plan->words[PROGRAM], WORD_SIZE, "assay");
    if (plan->kind == VARIANT)
        return objects_try("when it described its operation", describe_operation, plan);
    if (!registry_operation(operation)) return 0;
    return assay_error("there is an operation %s: another name, or --operation %s for a variant of "
                       "it",
                       operation, operation);
}

static int write_file(const struct plan *plan, const char *folder, int file)
{
    char from[PATH_MAX], to[PATH_SIZE];
    struct out_file out;
    if (datadir_find("templates", files[file].template, from, sizeof from)) return -1;
    FILE *in = fopen(from, "re");
    if (!in) return assay_error("cannot read %s: %s", from, strerror(errno));
    path_of(plan, folder, file, to);
    int status = out_file_open(&out, to);
    if (status == 0) {
        char line[WORD_SIZE];
        while (fgets(line, sizeof line, in))
            put(out.stream, plan, line);
        status = ferror(in) ? assay_error("cannot read %s", from) : 0;
        status = out_file_close(&out, status);
    }
    fclose(in);
    return status;
}

/* All of it, or nothing: a folder that is there could not be made again. */
static int write_folder(const struct plan *plan, const char *folder)
{
    int status = 0;
    if (mkdir(folder, 0777) != 0) return assay_error("%s: %s", folder, strerror(errno));
    for (int i = 0; i < FILES && status == 0; i++)
        if (is_wanted(plan, i)) status = write_file(plan, folder, i);
    if (status == 0) return 0;
    for (int i = 0; i < FILES; i++) {
        char path[PATH_SIZE];
        path_of(plan, folder, i, path);
        unlink(path);
    }
    rmdir(folder);
    return status;
}

static int check(void *given)
{
    const struct arguments *arguments = given;
    if (arguments->operation && arguments->from_scratch)
        return assay_error("--operation or --from-scratch, not both");
    return 0;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    const char *folder = arguments->given.word[0], *name = text_file_name(folder);
    static struct plan plan;
    if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        return assay_error("'%s': a name is made of a-z, 0-9 and _", name);
    if (plan_make(&plan, arguments, name) || write_folder(&plan, folder)) return -1;
    char next[2 * PATH_MAX] = "next: make -C";
    text_add_word(next, sizeof next, folder);
    printf("%s: %s and the suite %s.ini\n%s run\n", folder, plan.words[SOURCES], name, next);
    return EXIT_FINE;
}

static const struct command_option options[] = {
    {"operation", VALUE_OPERATION, "NAME", AT(operation),
     .help = "a variant of this operation, which begins as its reference"},
    {"from-scratch", VALUE_FLAG, .at = AT(from_scratch),
     .help = "an operation of its own, with a reference and variants (default)"},
    {"language", VALUE_CHOICE, "NAME", AT(language),
     .help = "of the variants: c (default), cpp, or cuda, which has one on the host too",
     .choices = languages},
    OPTIONS_OBJECT,
    {0},
};

const struct command cmd_new = {
    .name = "new",
    .summary = "a folder that builds a shared object of your own kernels",
    .options = options,
    .words = {{"FOLDER", .kind = VALUE_FILE}},
    .least = 1,
    .most = 1,
    .which = "which folder? its name is that of the operation or the variant",
    .only = "one folder only",
    .about = "Makes a folder outside of any tree with sources, a suite, a Makefile and a\n"
             "CMakeLists.txt: it builds a shared object, and `make run` in it measures that\n"
             "and checks its answers. Put your kernel in the place of what is there.\n",
    .examples = "assay new softsign\n"
                "assay new my_quantize --operation int8_quantize",
    .exit = "0 fine, 2 usage, or a file that cannot be written.",
    .loads = true,
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.language = "c"},
    .check = check,
    .run = run,
};
