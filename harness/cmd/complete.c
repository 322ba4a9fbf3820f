/* complete.c - what may stand at the end of a half-typed command line: commands and options from
 * their tables, and the names that suites, the registry and the database know. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_code.h"
#include "case/registry.h"
#include "cmd/options.h"
#include "plot/plot.h"
#include "store/store_central.h"
#include "store/store_gate.h"
#include "suite/suite.h"

enum { NEWEST_RUNS = 30, GPUS = 16 };

struct completion {
    const char *begun;    /* what stands there already */
    const char *option;   /* "--format=" where the value is typed to it, else "" */
    const char *database; /* as --db says; NULL: not said */
    const char *first;    /* of the words without an option; NULL: there is none before */
    int count;
    int runs; /* offered so far */
};

static void offer(struct completion *completion, const char *word)
{
    if (strncmp(word, completion->begun, strlen(completion->begun)) != 0) return;
    printf("%s%s\n", completion->option, word);
    completion->count++;
}

/* --------------------------------------------------------------- sources -- */

static void offer_files(struct completion *completion)
{
    (void)completion;
    puts(":files");
}

static void offer_commands(struct completion *completion)
{
    for (const struct command *const *command = commands; *command; command++)
        if ((*command)->summary) offer(completion, (*command)->name);
}

static void offer_suites(struct completion *completion)
{
    char(*names)[ASSAY_MAX_NAME];
    int count;
    if (suite_names(&names, &count) != 0) return;
    for (int i = 0; i < count; i++)
        offer(completion, names[i]);
    free(names);
}

/* Suites have files too. */
static void offer_suites_and_files(struct completion *completion)
{
    offer_suites(completion);
    offer_files(completion);
}

static void offer_plots(struct completion *completion)
{
    for (const struct plot_kind *kind = plot_kinds; kind->name; kind++)
        offer(completion, kind->name);
}

static void offer_operations(struct completion *completion)
{
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    for (int i = 0; i < count; i++)
        offer(completion, operations[i]->name);
}

/* "operation/variant" of what is built in; each once, though it may have two places. */
static void offer_variants(struct completion *completion)
{
    const struct assay_variant *const *variants;
    int count = registry_all_variants(&variants);
    for (int i = 0; i < count; i++) {
        char name[2 * ASSAY_MAX_NAME + 2];
        snprintf(name, sizeof name, "%s/%s", variants[i]->operation, variants[i]->name);
        offer(completion, name);
    }
}

/* Devices are not opened for this: a GPU has a file of its own. */
static void offer_devices(struct completion *completion)
{
    offer(completion, "auto");
    offer(completion, "host");
    offer(completion, "sim:");
    for (int i = 0; i < GPUS; i++) {
        char name[32];
        snprintf(name, sizeof name, "/dev/nvidia%d", i);
        if (access(name, R_OK) != 0) break;
        snprintf(name, sizeof name, "cuda:%d", i);
        offer(completion, name);
        if (i == 1) offer(completion, "cuda:all");
    }
}

static int offer_name(const char *name, void *context)
{
    offer(context, name);
    return 0;
}

static int offer_baseline(const struct baseline_line *line, void *context)
{
    offer(context, line->name);
    return 0;
}

static int offer_run(const struct run_line *line, void *context)
{
    struct completion *completion = context;
    char id[9];
    if (completion->runs++ == NEWEST_RUNS) return -1;
    snprintf(id, sizeof id, "%.8s", line->id);
    offer(completion, id);
    if (line->label[0] && !line->gate[0]) offer(completion, line->label);
    return 0;
}

static struct store *open_database(const struct completion *completion)
{
    struct store *store;
    const char *path = database_default(completion->database);
    if (store_is_url(path)) return NULL; /* a key that is pressed asks no server */
    return store_open(&store, path, STORE_READ) ? NULL : store;
}

static void offer_baselines(struct completion *completion)
{
    struct store *store = open_database(completion);
    if (!store) return;
    store_each_baseline(store, offer_baseline, completion);
    store_close(store);
}

static void offer_runs(struct completion *completion)
{
    struct store *store = open_database(completion);
    if (!store) return;
    offer(completion, "latest");
    offer(completion, "latest~1");
    store_each_baseline(store, offer_baseline, completion);
    store_each_run(store, true, offer_run, completion);
    store_close(store);
}

/* The word before them is the kind. */
static void offer_runs_to_plot(struct completion *completion)
{
    const struct plot_kind *kind = plot_find(completion->first);
    if (kind && kind->needs & PLOT_RUN) offer_runs(completion);
}

/* What was measured; what could be, while nothing was. */
static void offer_cases(struct completion *completion)
{
    struct store *store = open_database(completion);
    int before = completion->count;
    if (store) store_each_case_name(store, offer_name, completion);
    store_close(store);
    if (completion->count == before) offer_variants(completion);
}

/* What a value of each kind can be; nothing of a number or a text. */
static void (*const offers[VALUE_KINDS])(struct completion *completion) = {
    [VALUE_FILE] = offer_files,
    [VALUE_OBJECT] = offer_files,
    [VALUE_DATABASE] = offer_files,
    [VALUE_DEVICE] = offer_devices,
    [VALUE_VARIANT] = offer_variants,
    [VALUE_OPERATION] = offer_operations,
    [VALUE_CASE] = offer_cases,
    [VALUE_RUN] = offer_runs,
    [VALUE_RUN_TO_PLOT] = offer_runs_to_plot,
    [VALUE_BASELINE] = offer_baselines,
    [VALUE_SUITE] = offer_suites,
    [VALUE_SUITE_FILE] = offer_suites_and_files,
    [VALUE_PLOT] = offer_plots,
    [VALUE_COMMAND] = offer_commands,
};

static void offer_values(struct completion *completion, enum value_kind kind, const char *choices)
{
    char word[ASSAY_MAX_NAME];
    if (offers[kind]) offers[kind](completion);
    while (choices_next(&choices, word))
        offer(completion, word);
}

/* ------------------------------------------------------------------ line -- */

static const struct command_option *option_named(const struct command *command, const char *name)
{
    for (const struct command_option *option = command->options; option && option->name; option++)
        if (strcmp(option->name, name) == 0) return option;
    return NULL;
}

/* The option that takes the next word as its value; NULL when `word` is none. */
static const struct command_option *option_awaiting(const struct command *command, const char *word)
{
    if (strcmp(word, "-o") == 0) word = "--output";
    const struct command_option *option =
        strncmp(word, "--", 2) == 0 ? option_named(command, word + 2) : NULL;
    return option && option->value ? option : NULL;
}

static void offer_options(struct completion *completion, const struct command *command)
{
    char word[ASSAY_MAX_NAME];
    for (const struct command_option *option = command->options; option && option->name; option++) {
        snprintf(word, sizeof word, "--%s", option->name);
        offer(completion, word);
    }
    offer(completion, "--help");
    offer(completion, "--quiet");
    offer(completion, "--color");
}

/* "--format=j": the value that is typed to its option. */
static void offer_typed_to(struct completion *completion, const struct command *command,
                           const char *equals)
{
    char typed_to[ASSAY_MAX_NAME], name[ASSAY_MAX_NAME];
    snprintf(typed_to, sizeof typed_to, "%.*s", (int)(equals + 1 - completion->begun),
             completion->begun);
    snprintf(name, sizeof name, "%.*s", (int)(equals - completion->begun) - 2,
             completion->begun + 2);
    const struct command_option *option = option_named(command, name);
    completion->option = typed_to;
    completion->begun = equals + 1;
    if (option) offer_values(completion, option->kind, option->choices);
}

/* The word at this place of those without an option. */
static void offer_word(struct completion *completion, const struct command *command, int place)
{
    int last = MOST_WORDS - 1;
    while (last > 0 && !command->words[last].name)
        last--;
    if (place >= command->most) return;
    const struct command_word *word = &command->words[place < last ? place : last];
    offer_values(completion, word->kind, word->choices);
}

/* What follows the command; the last word is the one to complete. */
static void complete_arguments(struct completion *completion, const struct command *command,
                               char *const *words, int count)
{
    const struct command_option *awaiting = NULL;
    int place = 0;
    for (int i = 0; i + 1 < count; i++) {
        if (awaiting) {
            if (awaiting->kind == VALUE_DATABASE) completion->database = words[i];
            awaiting = NULL;
        } else if (words[i][0] == '-') {
            if (strncmp(words[i], "--db=", 5) == 0) completion->database = words[i] + 5;
            awaiting = option_awaiting(command, words[i]);
        } else if (place++ == 0) {
            completion->first = words[i];
        }
    }
    const char *equals = strchr(completion->begun, '=');
    if (awaiting)
        offer_values(completion, awaiting->kind, awaiting->choices);
    else if (strncmp(completion->begun, "--", 2) == 0 && equals)
        offer_typed_to(completion, command, equals);
    else if (completion->begun[0] == '-')
        offer_options(completion, command);
    else
        offer_word(completion, command, place);
}

int complete_command(int argc, char **argv)
{
    if (argc < 3) return EXIT_FINE;
    struct completion completion = {.begun = argv[argc - 1], .option = ""};
    const struct command *command = argc > 3 ? command_find(argv[2], false) : NULL;
    if (command) complete_arguments(&completion, command, argv + 3, argc - 3);
    if (argc > 3) return EXIT_FINE;
    offer_commands(&completion);
    offer_options(&completion, &program);
    return EXIT_FINE;
}
