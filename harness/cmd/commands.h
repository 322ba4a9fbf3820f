/*
 * commands.h - what a command is: a table of what it takes, a text about it, and a function.
 * The parser (options.c), its help (help.c), the man page (manual.c) and the completion of
 * the shells (complete.c) read the same table.
 *
 * To add a command: write harness/cmd/cmd_NAME.c with a `const struct command cmd_NAME`,
 * declare that below, and give it a row in commands.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/object.h"

struct store;

/* What a value can be: how it is checked, the type it is kept as, what completion offers. */
enum value_kind {
    VALUE_FLAG,     /* bool: true where the option is given */
    VALUE_NO_FLAG,  /* bool: false where it is given */
    VALUE_COUNT,    /* int from `least` to `most` */
    VALUE_SECONDS,  /* double above 0 */
    VALUE_PERCENT,  /* double above 0, as typed */
    VALUE_FRACTION, /* double: a percentage above 0, divided by 100 */
    VALUE_SEED,     /* uint64_t, 0x... too */
    VALUE_CHOICE,   /* const char *: one of `choices` */
    /* From here on const char *, as typed; the names only say what is offered for it. */
    VALUE_TEXT,
    VALUE_FILE,
    VALUE_DATABASE, /* where it is not given: ASSAY_DB, else results/assay.sqlite */
    VALUE_DEVICE,
    VALUE_VARIANT,
    VALUE_OPERATION,
    VALUE_CASE,
    VALUE_RUN,
    VALUE_RUN_TO_PLOT, /* a run, where the kind of plot in front of it takes one */
    VALUE_BASELINE,
    VALUE_SUITE,
    VALUE_SUITE_FILE,
    VALUE_PLOT,
    VALUE_COMMAND,
    VALUE_OBJECT, /* into given.object, each time it is given */
    VALUE_EACH,   /* struct each: one more text each time it is given */
    VALUE_KINDS,  /* how many there are */
};

/* The texts of an option that is given again and again. */
enum { EACH_MOST = 32 };
struct each {
    const char *text[EACH_MOST];
    int count;
};

struct command_option {
    const char *name; /* --NAME */
    enum value_kind kind;
    const char *value;   /* what help calls its value; NULL for a flag */
    size_t at;           /* where it goes in the command's arguments: AT(member) */
    const char *help;    /* NULL: the choices, of which the first is the default */
    const char *choices; /* with blanks between them; for other kinds only offered */
    int least, most;     /* of a count */
    const char *with;    /* the option without which this one has no meaning; NULL: none */
    char letter;         /* -o for --output; 0: none */
};

/* The offset of a member in the `struct arguments` that each command has. */
#define AT(member) offsetof(struct arguments, member)

/* What a command's text says of its word RUN, and options that many commands have alike. */
#define ABOUT_RUN                                                                                  \
    "RUN is an id or its beginning, a label, a named baseline, latest (the default)\n"             \
    "or latest~N; FILE.sqlite:RUN takes it from another database, and so does\n"                   \
    "postgres://HOST/NAME:RUN from a central store (assay push).\n"
#define FILTER_HELP                                                                                \
    "only these cases: operation/variant, and behind it words of the shape, cold or hot, as they " \
    "are printed; GLOB,GLOB: any of them"
#define OPTION_FILTER(kind, member)                                                                \
    {                                                                                              \
        "filter", kind, "GLOB", AT(member), .help = FILTER_HELP                                    \
    }
#define OPTION_DB_HELP "the database (default: ASSAY_DB, else results/assay.sqlite)"
#define OPTION_DB                                                                                  \
    {                                                                                              \
        "db", VALUE_DATABASE, "FILE", AT(db), .help = OPTION_DB_HELP                               \
    }
#define OPTION_OUTPUT(text)                                                                        \
    {                                                                                              \
        "output", VALUE_FILE, "FILE", AT(output), .help = text, .letter = 'o'                      \
    }
#define OPTION_FORMAT(words)                                                                       \
    {                                                                                              \
        "format", VALUE_CHOICE, "NAME", AT(format), .choices = words                               \
    }
#define OPTION_METRIC(member, text)                                                                \
    {                                                                                              \
        "metric", VALUE_CHOICE, "NAME", AT(member), .help = text, .choices = "time speedup"        \
    }

/* A number of seconds or runs, from 1 on. */
#define OPTION_NUMBER(name, value, member, text)                                                   \
    {                                                                                              \
        name, VALUE_COUNT, value, AT(member), .help = text, .least = 1, .most = 1000000            \
    }

/* A word without an option, as KIND in `assay plot KIND`. */
struct command_word {
    const char *name;
    enum value_kind kind;
    const char *choices; /* offered too */
};

enum { MOST_WORDS = 3, ANY_NUMBER = 1 << 20 };

/* Shared objects to load before the command (object/object.h), beside those of the user's folder:
 * for commands that measure or list. */
#define OPTIONS_OBJECT                                                                             \
    {"load", VALUE_OBJECT, "FILE.so",                                                              \
     .help = "also the operations and variants of this shared object; may be given again"},        \
    {                                                                                              \
        "allow-load", VALUE_FLAG,                                                                  \
            .at = AT(given.allow_load),                                                            \
            .help = "let suites load objects (load = FILE.so): an object runs as you"              \
    }

/* What was typed, beside the values of options. Every `struct arguments` begins with one. */
struct given {
    const struct command *command;
    char *const *word; /* the words without an option; NULL behind the last */
    int count;
    uint64_t options;                     /* bit i: command->options[i] was given */
    const char *line;                     /* "assay run ..." as typed, at most LINE_MOST bytes */
    const char *object[OBJECTS_MOST + 1]; /* --load; NULL behind the last */
    int object_count;
    bool allow_load; /* --allow-load */
};

enum { LINE_MOST = 512 };

struct command {
    const char *name;
    const char *summary; /* one line; NULL hides the command from help */

    const struct command_option *options; /* ended by a NULL name; NULL: none */
    struct command_word words[MOST_WORDS];
    int least, most;   /* how many words; the last of `words` stands for those behind it */
    const char *which; /* asks for what is missing: "which suite? (assay list suites)" */
    const char *only;  /* refuses what is too much: "one suite only" */

    /* The help: synopsis, about, options, notes, examples, exit codes. help.h says of
     * what form texts are; all but the first two may be NULL. */
    const char *synopsis; /* behind the name, a line for each form; NULL: from the words */
    const char *about, *notes, *examples, *exit;

    bool loads;           /* objects, before it is run; else it hands them on */
    size_t size;          /* of its struct arguments */
    const void *defaults; /* one of these; NULL: all 0 */
    /* What the arguments mean together: 0, or -1 with assay_error, a misuse. May be NULL. */
    int (*check)(void *arguments);
    /* Returns an exit code, or -1 with assay_error: what failed after that. */
    int (*run)(void *arguments);
    /* In the place of all this, for commands that are not for people. */
    int (*raw)(int argc, char **argv);
};

extern const struct command cmd_ab, cmd_ack, cmd_baseline, cmd_bench, cmd_bisect, cmd_calibrate,
    cmd_claims, cmd_compare, cmd_doctor, cmd_explain, cmd_export, cmd_fleet, cmd_gate, cmd_help,
    cmd_history, cmd_import, cmd_list, cmd_merge, cmd_new, cmd_plot, cmd_profile, cmd_pull,
    cmd_push, cmd_report, cmd_run, cmd_show, cmd_time, cmd_watch;
extern const struct command *const commands[]; /* ended by NULL */

/* The program itself: its options are those that stand before a command. */
extern const struct command program;

/* Parse argv (argv[0] is the command's name), run, and report what failed: the exit code. */
int command_run(const struct command *command, int argc, char **argv);

/* The command of this name; NULL with assay_error, which suggests one, when there is none. */
const struct command *command_find(const char *name, bool hidden_too);

/* `assay complete WORD...`, which the shells' scripts (completions/) ask: print, one per line, what
 * may stand for the last word ("" when it is still to come); the first is the program. The line
 * ":files" stands for the names of files. Names that cannot be had (no database yet) are left out
 * in silence. */
int complete_command(int argc, char **argv);

/* Take each file that was given ("-" is standard input) into the database, once all are known to be
 * readable and until one fails: an exit code, or -1 with assay_error. */
int files_take(struct given *given, const char *db,
               int (*take)(struct store *store, const char *path, void *arguments));

/* The path of this very program, which a wheel for Python may lack. -1 with assay_error. */
int program_itself(char *path, size_t size);
