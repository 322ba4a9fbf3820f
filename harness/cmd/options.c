#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "base/text.h"
#include "cmd/options.h"

enum { MOST_OPTIONS = 64, MOST_CHOICES = 16, FIRST = 256 };

/* --------------------------------------------------------------- choices -- */

bool choices_next(const char **choices, char out[ASSAY_MAX_NAME])
{
    if (!*choices || !**choices) return false;
    int length = (int)strcspn(*choices, " ");
    snprintf(out, ASSAY_MAX_NAME, "%.*s", length, *choices);
    *choices += length + (int)strspn(*choices + length, " ");
    return true;
}

void choices_text(char out[CHOICES_MOST], const char *choices)
{
    char name[ASSAY_MAX_NAME];
    out[0] = '\0';
    while (choices_next(&choices, name))
        text_add(out, CHOICES_MOST, *choices ? ", " : " or ", "%s", name);
}

int choice_check(const char *what, const char *text, const char *choices)
{
    char name[MOST_CHOICES][ASSAY_MAX_NAME], all[CHOICES_MOST];
    const char *names[MOST_CHOICES], *rest = choices;
    int count = 0;
    while (count < MOST_CHOICES && choices_next(&rest, name[count])) {
        if (strcmp(name[count], text) == 0) return 0;
        names[count] = name[count];
        count++;
    }
    const char *near = text_nearest(text, names, count);
    if (near) return assay_error("%s '%s' (did you mean '%s'?)", what, text, near);
    choices_text(all, choices);
    return assay_error("%s '%s' (%s)", what, text, all);
}

/* ---------------------------------------------------------------- values -- */

static int take_count(const struct command_option *option, const char *text, int *count)
{
    int64_t value;
    if (!text_parse_count(text, &value) || value < option->least || value > option->most)
        return assay_error("--%s wants a whole number from %d to %d, not '%s'", option->name,
                           option->least, option->most, text);
    *count = (int)value;
    return 0;
}

static int take_number(const struct command_option *option, const char *text, double *number)
{
    bool is_time = option->kind == VALUE_SECONDS;
    char *end;
    errno = 0;
    double value = strtod(text, &end);
    if (errno || end == text || *end || !(value > 0 && value <= (is_time ? 1e9 : 1000)))
        return assay_error("--%s wants %s above 0, not '%s'", option->name,
                           is_time ? "seconds" : "a percentage", text);
    *number = option->kind == VALUE_FRACTION ? value / 100 : value;
    return 0;
}

static int take_seed(const struct command_option *option, const char *text, uint64_t *seed)
{
    char *end;
    errno = 0;
    *seed = strtoull(text, &end, 0);
    if (errno || end == text || *end || text[0] == '-')
        return assay_error("--%s wants a whole number, not '%s'", option->name, text);
    return 0;
}

static int take_object(struct given *given, const char *text)
{
    if (given->object_count == OBJECTS_MOST)
        return assay_error("--load: %d objects at most", OBJECTS_MOST);
    given->object[given->object_count++] = text;
    return 0;
}

static int take_each(const struct command_option *option, const char *text, struct each *each)
{
    if (each->count == EACH_MOST)
        return assay_error("--%s: at most %d times", option->name, EACH_MOST);
    each->text[each->count++] = text;
    return 0;
}

static int take(const struct command_option *option, const char *text, void *arguments)
{
    void *at = (char *)arguments + option->at;
    char what[2 * ASSAY_MAX_NAME];
    switch (option->kind) {
    case VALUE_FLAG:
    case VALUE_NO_FLAG:
        *(bool *)at = option->kind == VALUE_FLAG;
        return 0;
    case VALUE_COUNT:
        return take_count(option, text, at);
    case VALUE_SECONDS:
    case VALUE_PERCENT:
    case VALUE_FRACTION:
        return take_number(option, text, at);
    case VALUE_SEED:
        return take_seed(option, text, at);
    case VALUE_CHOICE:
        *(const char **)at = text;
        snprintf(what, sizeof what, "--%s: unknown %s", option->name, option->name);
        return choice_check(what, text, option->choices);
    case VALUE_OBJECT:
        return take_object(arguments, text);
    case VALUE_EACH:
        return take_each(option, text, at);
    default:
        *(const char **)at = text;
        return 0;
    }
}

const char *database_default(const char *option)
{
    if (option) return option;
    const char *set = getenv("ASSAY_DB");
    return set && set[0] ? set : "results/assay.sqlite";
}

/* --------------------------------------------------------------- getopt -- */

enum { QUIET = 1, COLOR };
static const struct option common[] = {{"help", no_argument, NULL, 'h'},
                                       {"quiet", no_argument, NULL, QUIET},
                                       {"color", required_argument, NULL, COLOR},
                                       {0}};
enum { COMMON = sizeof common / sizeof *common - 1 };

/* The table as getopt_long wants it; what it returns for option i is FIRST + i. */
struct getopt_table {
    struct option longs[MOST_OPTIONS + COMMON + 1]; /* with an end */
    char shorts[2 * MOST_OPTIONS + 4];
    int count;
};

static void table_make(struct getopt_table *table, const struct command_option *options)
{
    char *letter = stpcpy(table->shorts, ":h");
    int count = 0;
    for (; options && options[count].name && count < MOST_OPTIONS; count++) {
        const struct command_option *option = &options[count];
        bool bare = option->kind == VALUE_FLAG || option->kind == VALUE_NO_FLAG;
        table->longs[count] = (struct option){option->name, bare ? no_argument : required_argument,
                                              NULL, FIRST + count};
        if (option->letter) letter += sprintf(letter, "%c%s", option->letter, bare ? "" : ":");
    }
    memcpy(&table->longs[count], common, sizeof common);
    table->count = count + COMMON;
}

/* What getopt_long refused: `returned` is its '?' or ':'. */
static int misused(char **argv, int returned, const struct getopt_table *table)
{
    const char *names[MOST_OPTIONS + COMMON];
    const char *given = argv[optind - 1];
    if (returned == ':') return assay_error("%s needs a value", given);
    if (strncmp(given, "--", 2)) return assay_error("unknown option '-%c'", optopt);

    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(given + 2, "="), given + 2);
    for (int i = 0; i < table->count; i++) {
        names[i] = table->longs[i].name;
        if (!strcmp(names[i], word)) return assay_error("--%s takes no value", word);
    }
    const char *near = text_nearest(word, names, table->count);
    if (near) return assay_error("unknown option '--%s'; did you mean --%s?", word, near);
    return assay_error("unknown option '--%s'", word);
}

/* ---------------------------------------------------------------- parser -- */

static int find_letter(const struct command_option *options, int letter)
{
    int i = 0;
    while (options[i].letter != letter)
        i++;
    return i;
}

const char *option_given(const struct given *given, const char *names)
{
    char name[ASSAY_MAX_NAME];
    while (choices_next(&names, name))
        for (int i = 0; given->options >> i; i++)
            if (given->options >> i & 1 && !strcmp(given->command->options[i].name, name))
                return given->command->options[i].name;
    return NULL;
}

static int check_words(const struct given *given)
{
    const struct command *command = given->command;
    if (given->count < command->least) return assay_error("%s", command->which);
    if (given->count <= command->most) return 0;
    return assay_error("%s, not '%s' too", command->only, given->word[command->most]);
}

/* What follows from options that were not given. */
static int complete_options(const struct given *given, void *arguments)
{
    const struct command_option *options = given->command->options;
    for (int i = 0; options && options[i].name; i++) {
        const char **text = (const char **)((char *)arguments + options[i].at);
        if (options[i].kind == VALUE_DATABASE) *text = database_default(*text);
        if (options[i].with && given->options >> i & 1 && !option_given(given, options[i].with))
            return assay_error("--%s is for --%s alone", options[i].name, options[i].with);
    }
    return 0;
}

/* --quiet and --color are for all streams, so the terminal keeps them. */
static int take_common(int which, const char *text)
{
    static const char whens[] = "auto always never"; /* as enum terminal_colours has them */
    if (which == QUIET) {
        terminal_set_quiet(true);
        return 0;
    }
    if (choice_check("--color: unknown time", text, whens)) return -1;
    terminal_set_colours(text[1] == 'u'   ? COLOURS_AUTO
                         : text[0] == 'a' ? COLOURS_ALWAYS
                                          : COLOURS_NEVER);
    return 0;
}

int options_parse(const struct command *command, int argc, char **argv, void *arguments)
{
    struct given *given = arguments;
    struct getopt_table table;
    int returned;
    table_make(&table, command->options);
    given->command = command;
    optind = 0; /* start anew, where something was parsed before */
    while ((returned = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
        if (returned == 'h') return 1;
        if (returned == '?' || returned == ':') return misused(argv, returned, &table);
        if (returned == QUIET || returned == COLOR) {
            if (take_common(returned, optarg)) return -1;
            continue;
        }
        int index = returned >= FIRST ? returned - FIRST : find_letter(command->options, returned);
        given->options |= UINT64_C(1) << index;
        if (take(&command->options[index], optarg, arguments) != 0) return -1;
    }
    given->word = argv + optind;
    given->count = argc - optind;
    return check_words(given) || complete_options(given, arguments) ? -1 : 0;
}
