/* complete.c - see complete.h. */
#include <stdlib.h>
#include <string.h>

#include "case/registry.h"
#include "cmd/complete.h"
#include "plot/plot.h"
#include "store/store_gate.h"
#include "suite/suite.h"

enum { NEWEST_RUNS = 30, GPUS = 16 };

struct completion {
    FILE *out;
    const char *begun;    /* what stands there already */
    const char *option;   /* "--format=" where the value is typed to it, else "" */
    const char *database; /* as --db says; NULL: not said */
    const char *first;    /* of the words without an option; NULL: there is none before */
    int count;
};

static void offer(struct completion *completion, const char *word)
{
    if (strncmp(word, completion->begun, strlen(completion->begun)) != 0) return;
    fprintf(completion->out, "%s%s\n", completion->option, word);
    completion->count++;
}

/* --------------------------------------------------------------- sources -- */

static void offer_files(struct completion *completion)
{
    fputs(":files\n", completion->out);
}

static void offer_commands(struct completion *completion)
{
    for (const struct command *command = commands; command->name; command++)
        if (command->summary) offer(completion, command->name);
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
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    for (int i = 0; i < count; i++) {
        const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
        int found = registry_variants(operations[i]->name, variants, REGISTRY_MAX_VARIANTS);
        for (int j = 0; j < found; j++) {
            char name[2 * ASSAY_MAX_NAME + 2];
            snprintf(name, sizeof name, "%s/%s", variants[j]->operation, variants[j]->name);
            offer(completion, name);
        }
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
        FILE *there = fopen(name, "r");
        if (!there) break;
        fclose(there);
        snprintf(name, sizeof name, "cuda:%d", i);
        offer(completion, name);
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

struct run_offers {
    struct completion *completion;
    int left;
};

static int offer_run(const struct run_line *line, void *context)
{
    struct run_offers *offers = context;
    char id[9];
    if (offers->left-- == 0) return -1;
    snprintf(id, sizeof id, "%.8s", line->id);
    offer(offers->completion, id);
    if (line->label[0] && !line->gate[0]) offer(offers->completion, line->label);
    return 0;
}

static struct store *open_database(const struct completion *completion)
{
    struct store *store;
    return store_open(&store, command_database(completion->database), STORE_READ) ? NULL : store;
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
    struct run_offers offers = {completion, NEWEST_RUNS};
    offer(completion, "latest");
    offer(completion, "latest~1");
    store_each_baseline(store, offer_baseline, completion);
    store_each_run(store, true, offer_run, &offers);
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

/* ----------------------------------------------------------------- rules -- */

/* Where names come from: a function, or words with blanks between them. */
struct source {
    void (*offer)(struct completion *completion);
    const char *words;
};

/* An option's value; without a command: of every command that has it. */
static const struct option_rule {
    const char *command, *option;
    struct source source;
} option_rules[] = {
    {"run", "format", {NULL, "table md csv json"}},
    {"show", "format", {NULL, "table md csv json"}},
    {"compare", "format", {NULL, "table md json html"}},
    {"gate", "format", {NULL, "table md json html"}},
    {"list", "format", {NULL, "table json"}},
    {"doctor", "format", {NULL, "table json"}},
    {"history", "format", {NULL, "table json"}},
    {"claims", "format", {NULL, "table md json"}},
    {"calibrate", "format", {NULL, "table md json"}},
    {"report", "format", {NULL, "html md"}},
    {"export", "format", {NULL, "ndjson csv gbench bmf prometheus"}},
    {"import", "format", {NULL, "ndjson nvbench gbench"}},
    {"plot", "metric", {NULL, "bytes ops time mse sqnr_db"}},
    {NULL, "metric", {NULL, "time speedup"}},
    {"compare", "fail-on", {NULL, "any SUSPECT UNSTABLE"}},
    {"gate", "fail-on", {NULL, "any INCONCLUSIVE UNSTABLE"}},
    {NULL, "clock", {NULL, "cupti event"}},
    {NULL, "flush", {NULL, "read write"}},
    {NULL, "device", {offer_devices, NULL}},
    {NULL, "base-device", {offer_devices, NULL}},
    {NULL, "cand-device", {offer_devices, NULL}},
    {NULL, "filter", {offer_variants, NULL}},
    {NULL, "case", {offer_cases, NULL}},
    {NULL, "operation", {offer_operations, NULL}},
    {NULL, "against", {offer_runs, NULL}},
    {NULL, "baseline", {offer_runs, NULL}},
    {NULL, "pinned", {offer_runs, NULL}},
    {NULL, "base", {offer_files, NULL}},
    {NULL, "cand", {offer_files, NULL}},
    {NULL, "db", {offer_files, NULL}},
    {NULL, "output", {offer_files, NULL}},
    {NULL, "claims", {offer_files, NULL}},
    {NULL, "junit", {offer_files, NULL}},
    {NULL, "markdown", {offer_files, NULL}},
    {NULL, "json", {offer_files, NULL}},
};

/* What stands without an option: the first such word, the second and so on; the last
 * rule of a command is that of the words after it too where `repeats`. */
enum { MOST_WORDS = 3 };
static const struct word_rule {
    const char *command;
    struct source source[MOST_WORDS];
    bool repeats;
} word_rules[] = {
    {"run", {{offer_suites_and_files, NULL}}, true},
    {"gate", {{offer_suites, NULL}}, false},
    {"calibrate", {{offer_suites, NULL}}, false},
    {"profile", {{offer_suites, NULL}}, false},
    {"show", {{offer_runs, NULL}}, false},
    {"report", {{offer_runs, NULL}}, false},
    {"export", {{offer_runs, NULL}}, false},
    {"claims", {{offer_runs, NULL}}, true},
    {"compare", {{offer_runs, NULL}, {offer_runs, NULL}}, false},
    {"plot", {{offer_plots, NULL}, {offer_runs_to_plot, NULL}}, false},
    {"history", {{offer_cases, NULL}, {NULL, "cold hot"}}, true},
    {"ack", {{offer_cases, NULL}}, false},
    {"baseline", {{NULL, "set list drop"}, {offer_baselines, NULL}, {offer_runs, NULL}}, false},
    {"list", {{NULL, "suites operations variants devices runs"}}, false},
    {"import", {{offer_files, NULL}}, true},
    {"merge", {{offer_files, NULL}}, true},
    {"help", {{offer_commands, NULL}}, false},
};

static void offer_source(struct completion *completion, const struct source *source)
{
    if (source->offer) source->offer(completion);
    for (const char *word = source->words; word && *word; word += strspn(word, " ")) {
        char text[ASSAY_MAX_NAME];
        int length = (int)strcspn(word, " ");
        snprintf(text, sizeof text, "%.*s", length, word);
        offer(completion, text);
        word += length;
    }
}

static void offer_value(struct completion *completion, const char *command, const char *option)
{
    for (size_t i = 0; i < sizeof option_rules / sizeof option_rules[0]; i++) {
        const struct option_rule *rule = &option_rules[i];
        if (rule->command && strcmp(rule->command, command) != 0) continue;
        if (strcmp(rule->option, option) != 0) continue;
        offer_source(completion, &rule->source);
        return;
    }
}

static void offer_word(struct completion *completion, const char *command, int place)
{
    for (size_t i = 0; i < sizeof word_rules / sizeof word_rules[0]; i++) {
        const struct word_rule *rule = &word_rules[i];
        if (strcmp(rule->command, command) != 0) continue;
        int last = MOST_WORDS - 1;
        while (last > 0 && !rule->source[last].offer && !rule->source[last].words)
            last--;
        if (place > last && rule->repeats) place = last;
        if (place <= last) offer_source(completion, &rule->source[place]);
    }
}

static void offer_options(struct completion *completion, const struct command *command)
{
    char word[ASSAY_MAX_NAME];
    for (const struct option *option = command->options; option && option->name; option++) {
        if (strcmp(option->name, "help") == 0) continue;
        snprintf(word, sizeof word, "--%s", option->name);
        offer(completion, word);
    }
    offer(completion, "--help");
}

/* ------------------------------------------------------------------ line -- */

/* The option that takes the next word as its value; NULL when `word` is none. */
static const struct option *option_awaiting(const struct command *command, const char *word)
{
    if (strcmp(word, "-o") == 0) word = "--output";
    for (const struct option *option = command->options; option && option->name; option++)
        if (strncmp(word, "--", 2) == 0 && strcmp(option->name, word + 2) == 0)
            return option->has_arg == required_argument ? option : NULL;
    return NULL;
}

/* What follows the command; the last word is the one to complete. */
static void complete_arguments(struct completion *completion, const struct command *command,
                               char *const *words, int count)
{
    const struct option *awaiting = NULL;
    int place = 0;
    for (int i = 0; i + 1 < count; i++) {
        if (awaiting) {
            if (strcmp(awaiting->name, "db") == 0) completion->database = words[i];
            awaiting = NULL;
        } else if (words[i][0] == '-') {
            if (strncmp(words[i], "--db=", 5) == 0) completion->database = words[i] + 5;
            awaiting = option_awaiting(command, words[i]);
        } else if (place++ == 0) {
            completion->first = words[i];
        }
    }
    char name[ASSAY_MAX_NAME], typed_to[ASSAY_MAX_NAME];
    const char *equals = strchr(completion->begun, '=');
    if (awaiting) {
        offer_value(completion, command->name, awaiting->name);
    } else if (strncmp(completion->begun, "--", 2) == 0 && equals) {
        int length = (int)(equals - completion->begun);
        snprintf(name, sizeof name, "%.*s", length - 2, completion->begun + 2);
        snprintf(typed_to, sizeof typed_to, "--%.*s=", (int)sizeof typed_to - 4, name);
        completion->option = typed_to;
        completion->begun = equals + 1;
        offer_value(completion, command->name, name);
    } else if (completion->begun[0] == '-') {
        offer_options(completion, command);
    } else {
        offer_word(completion, command->name, place);
    }
}

void complete_line(FILE *out, char *const *words, int count)
{
    if (count < 2) return;
    struct completion completion = {.out = out, .begun = words[count - 1], .option = ""};
    if (count == 2) {
        offer_commands(&completion);
        offer(&completion, "--help");
        offer(&completion, "--version");
        return;
    }
    const struct command *command = command_find(words[1]);
    if (command) complete_arguments(&completion, command, words + 2, count - 2);
}
