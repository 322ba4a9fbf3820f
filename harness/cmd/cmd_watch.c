/* cmd_watch.c - `assay watch`: on each save, build and compare with the program as it was. */
#define _GNU_SOURCE /* nftw */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/process.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "cmd/gate_command.h"
#include "cmd/options.h"
#include "gate/program_build.h"
#include "gate/program_wait.h"
#include "run/interrupt.h"

enum { TICK_MS = 200, MOST_FOLDERS_OPEN = 16 };

struct arguments {
    struct given given;
    struct gate_command gating;
    const char *make, *program, *below;
    /* Copies of the objects as they were; with objects, they are what changes. */
    char copy[OBJECTS_MOST][PATH_MAX];
    const char *copies[OBJECTS_MOST + 1];
};

/* Copies of objects lie in one folder, apart from what else they might name. */
static int check_objects(const struct given *given)
{
    for (int i = 0; i < given->object_count; i++) {
        const char *object = given->object[i];
        if (!gate_command_is_object(object))
            return assay_error("--load %s: only a shared object (FILE.so) can be watched", object);
        for (int j = 0; j < i; j++)
            if (strcmp(text_file_name(object), text_file_name(given->object[j])) == 0)
                return assay_error("--load: two objects are called %s", text_file_name(object));
    }
    return 0;
}

static int check(void *given)
{
    struct arguments *arguments = given;
    if (check_objects(given) != 0) return -1;
    if (arguments->given.object_count > 0 && !option_given(given, "on"))
        return assay_error("--load: which folders have its sources? (--on FOLDERS)");
    arguments->gating.gate.suite = arguments->given.word[0];
    return gate_command_check(&arguments->gating, given);
}

/* ---------------------------------------------------------------- the files -- */

/* What the sources are now: it changes when a file is saved, made or removed. */
struct sources {
    int files;
    uint64_t hash;
};

/* nftw gives its function no argument. */
static struct sources seen;
static const struct arguments *seeing;
static size_t folder_length;

/* A file of this name, or what SQLite keeps beside a database of it ("-wal"). */
static bool is_named(const char *name, const char *path)
{
    const char *rest = path ? text_begins(name, text_file_name(path)) : NULL;
    return rest && (*rest == '\0' || *rest == '-');
}

/* What nobody saves: hidden files (of git, of editors), what compilers make, and what a gate of
 * this command writes; else each gate would be followed by the next one. */
static bool is_made(const char *path)
{
    static const char *const endings[] = {".o", ".so", ".a", ".d"};
    const struct gate_command *gating = &seeing->gating;
    const char *const written[] = {gating->db, gating->output, gating->junit, gating->markdown,
                                   gating->json};
    if (strstr(path + folder_length, "/.")) return true;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (text_ends(path, endings[i])) return true;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (is_named(text_file_name(path), written[i])) return true;
    return false;
}

static int see(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    (void)walk;
    if (kind != FTW_F || is_made(path)) return 0;
    const uint64_t parts[] = {(uint64_t)about->st_mtim.tv_sec, (uint64_t)about->st_mtim.tv_nsec,
                              (uint64_t)about->st_size, (uint64_t)about->st_ino};
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a over words; files are added up, in any order */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        hash = (hash ^ parts[i]) * 0x100000001b3u;
    for (const char *c = path; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    seen.files++;
    seen.hash += hash;
    return 0;
}

static struct sources look(const struct arguments *arguments)
{
    char folder[PATH_MAX];
    seen = (struct sources){0};
    seeing = arguments;
    for (const char *below = arguments->below; *below; below += folder_length) {
        below += strspn(below, " ");
        folder_length = strcspn(below, " ");
        snprintf(folder, sizeof folder, "%.*s", (int)folder_length, below);
        nftw(folder, see, MOST_FOLDERS_OPEN, FTW_PHYS);
    }
    return seen;
}

/* Wait for a change, and then until a tick brings no other. -1: a signal came. */
static int await_change(const struct arguments *arguments, struct sources *last)
{
    struct sources now = *last, before;
    struct pollfd nothing = {.fd = -1};
    do {
        before = now;
        interrupt_poll(&nothing, TICK_MS);
        if (interrupt_signal() != 0) return -1;
        now = look(arguments);
    } while (now.hash == last->hash || now.hash != before.hash);
    *last = now;
    return 0;
}

/* ------------------------------------------------------------- the programs -- */

/* 1: it was built, 0: it does not build, which make has said; -1: a signal came. */
static int build(const char *make)
{
    const char *const argv[] = {"sh", "-c", make, NULL};
    const struct process_file files[] = {{STDERR_FILENO, STDOUT_FILENO}};
    const struct process_start start = {
        .program = "/bin/sh", .argv = argv, .files = files, .file_count = 1, .own_group = true};
    int status = 0;
    pid_t pid;
    int error = process_start(&start, &pid);
    if (error) {
        fprintf(stderr, "assay watch: /bin/sh cannot be started: %s\n", strerror(error));
        return 0;
    }
    if (program_wait_group(pid, &status) == WAIT_STOPPED) return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ------------------------------------------------------------------- watching -- */

static bool is_unchanged(const struct arguments *arguments)
{
    const struct gate_options *gate = &arguments->gating.gate;
    for (int i = 0; i < arguments->given.object_count; i++)
        if (!program_same(arguments->copies[i], arguments->given.object[i])) return false;
    return program_same(gate->base, gate->candidate);
}

/* The exit code of an interrupted gate, else 0: whatever it found, watching goes on. */
static int after_save(struct arguments *arguments)
{
    int built = build(arguments->make);
    if (built < 0) return EXIT_INTERRUPTED;
    if (built == 0) {
        fputs("assay watch: it does not build; the next save is tried\n", stderr);
        return 0;
    }
    if (is_unchanged(arguments)) {
        fprintf(stderr, "assay watch: the %s\n",
                arguments->given.object_count ? "objects are as they were"
                                              : "program is as it was");
        return 0;
    }
    int code = gate_command_run(&arguments->gating, &arguments->given);
    if (code < 0) fprintf(stderr, "assay watch: %s\n", assay_last_error());
    fflush(stdout);
    return code == EXIT_INTERRUPTED ? code : 0;
}

static int watch_sources(struct arguments *arguments)
{
    struct sources last = look(arguments);
    if (last.files == 0)
        return assay_error("there is no file below %s (--on FOLDERS)", arguments->below);
    interrupt_catch();
    fprintf(stderr, "assay watch: %d file%s below %s; save one, or end with Ctrl-C\n", last.files,
            last.files == 1 ? "" : "s", arguments->below);
    for (;;) {
        if (await_change(arguments, &last) != 0) return EXIT_INTERRUPTED;
        int code = after_save(arguments);
        if (code != 0) return code;
        interrupt_catch(); /* a gate lets go of the signals at its end */
    }
}

static int keep_base(struct arguments *arguments, const char *folder, char base[PATH_MAX])
{
    struct gate_options *gate = &arguments->gating.gate;
    snprintf(base, PATH_MAX, "%s/assay", folder);
    if (temp_folder_copy(base, arguments->program) != 0) return -1;
    for (int i = 0; i < arguments->given.object_count; i++) {
        const char *object = arguments->given.object[i];
        snprintf(arguments->copy[i], PATH_MAX, "%s/%s", folder, text_file_name(object));
        if (temp_folder_copy(arguments->copy[i], object) != 0) return -1;
        arguments->copies[i] = arguments->copy[i];
    }
    gate->base = base;
    gate->candidate = arguments->program;
    gate->base_objects = arguments->copies;
    return 0;
}

static int run(void *given)
{
    struct arguments *arguments = given;
    struct temp_folder folder;
    char base[PATH_MAX], itself[PATH_MAX];
    if (arguments->given.object_count > 0 && !option_given(given, "program")) {
        if (program_itself(itself, sizeof itself) != 0) return -1;
        arguments->program = itself;
    }
    if (access(arguments->program, X_OK) != 0)
        return assay_error("there is no %s to begin with: make it, or name another (--program)",
                           arguments->program);
    if (gate_command_try(&arguments->gating) != 0 || temp_folder_make(&folder, "watch") != 0)
        return -1;
    int code = keep_base(arguments, folder.path, base);
    if (code == 0) code = store_try(arguments->gating.db);
    if (code == 0) code = gate_try(&arguments->gating.gate);
    if (code == 0) code = watch_sources(arguments);
    temp_folder_remove(&folder);
    return code;
}

static const struct command_option options[] = {
    OPTIONS_GATE_DEVICES,
    OPTIONS_GATE_MEASURE,
    {"make", VALUE_TEXT, "COMMAND", AT(make), .help = "what builds the program (default: make)"},
    {"program", VALUE_FILE, "FILE", AT(program),
     .help = "the program that it builds (default: build/assay; with --load this one)"},
    {"on", VALUE_TEXT, "FOLDERS", AT(below),
     .help = "the folders whose files are watched, with blanks between them (default: 'kernels "
             "baselines')"},
    OPTIONS_OBJECT,
    OPTIONS_GATE_REPORT,
    {0},
};

const struct command cmd_watch = {
    .name = "watch",
    .summary = "build on save, check, and compare with the program as it was",
    .options = options,
    .words = {{"SUITE|FILE.ini", .kind = VALUE_SUITE_FILE}},
    .least = 1,
    .most = 1,
    .which = "which suite?",
    .only = "one suite only",
    .synopsis = "SUITE|FILE.ini [options]",
    .about = "Waits for a file to be saved, builds, and says of each case whether it became\n"
             "slower or faster than in the program as it was when watching began, as assay ab\n"
             "does. Answers are checked. With --filter and a small --budget that takes seconds.\n"
             "What does not build is said, and the next save is waited for; Ctrl-C ends it.\n"
             "Hidden files, objects, and what the command itself writes are not watched.\n",
    .examples = "assay watch int8 --filter 'int8_quantize/host_* n=5000000 * cold'\n"
                "assay watch core --make 'make ARCH=90 -j8'",
    .exit = "130 when it is ended, 2 usage.",
    .size = sizeof(struct arguments),
    .defaults = &(const struct arguments){.gating = {GATE_COMMAND_DEFAULTS},
                                          .make = "make",
                                          .program = "build/assay",
                                          .below = "kernels baselines"},
    .check = check,
    .run = run,
};
