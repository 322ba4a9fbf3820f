/* help.c - see help.h; and `assay help`, which prints it. */
#include <string.h>

#include "base/exit_code.h"
#include "base/text.h"
#include "case/run_record.h"
#include "cmd/help.h"
#include "cmd/options.h"

enum { WIDTH = 79, WIDEST_TERM = 20, TERM_MOST = 2 * ASSAY_MAX_NAME };

/* ---------------------------------------------------------------- synopsis -- */

static void put_words(FILE *out, const struct command *command)
{
    int i = 0;
    for (; i < MOST_WORDS && command->words[i].name; i++)
        fprintf(out, i < command->least ? " %s" : " [%s]", command->words[i].name);
    if (command->most > i) fputs(" ...", out);
    fputs(command->options ? " [options]\n" : "\n", out);
}

static void put_synopsis(FILE *out, const struct command *command)
{
    const char *blank = command->name[0] ? " " : "", *form = command->synopsis;
    fprintf(out, "usage: assay%s%s", blank, command->name);
    if (!form) {
        put_words(out, command);
        return;
    }
    for (;;) {
        int length = (int)strcspn(form, "\n");
        fprintf(out, " %.*s\n", length, form);
        if (!form[length]) return;
        form += length + 1;
        fprintf(out, "       assay%s%s", blank, command->name);
    }
}

/* ----------------------------------------------------------------- options -- */

/* "-o, --output FILE". */
static int term_of(const struct command_option *option, char out[TERM_MOST])
{
    char letter[] = {'-', option->letter, ',', ' ', '\0'};
    return snprintf(out, TERM_MOST, "%s--%s%s%s", option->letter ? letter : "", option->name,
                    option->value ? " " : "", option->value ? option->value : "");
}

/* "table (default), md or json". */
static void choices_help(const char *choices, char out[CHOICES_MOST])
{
    char all[CHOICES_MOST];
    int first = (int)strcspn(choices, " ");
    choices_text(all, choices);
    snprintf(out, CHOICES_MOST, "%.*s (default)%s", first, all, all + first);
}

static void put_options(FILE *out, const struct command_option *options)
{
    char term[TERM_MOST], choices[CHOICES_MOST];
    int widest = 0;
    for (const struct command_option *option = options; option->name; option++) {
        int length = term_of(option, term);
        if (length > widest && length <= WIDEST_TERM) widest = length;
    }
    fputc('\n', out);
    for (const struct command_option *option = options; option->name; option++) {
        const char *help = option->help;
        if (!help) choices_help(option->choices, choices);
        int column = widest + 4, length = term_of(option, term);
        /* A term that is too long has a line to itself. */
        fprintf(out, length > widest ? "  %s\n%*s" : "  %s%*s", term,
                length > widest ? column : widest - length + 2, "");
        text_wrap(out, help ? help : choices, column, column, WIDTH);
    }
}

/* -------------------------------------------------------------------- help -- */

static void put_examples(FILE *out, const char *examples)
{
    static const char first[] = "example: ";
    for (const char *begin = first; *examples; begin = "") {
        int length = (int)strcspn(examples, "\n");
        fprintf(out, "%*s%.*s\n", (int)strlen(first), begin, length, examples);
        examples += length + (examples[length] != '\0');
    }
}

void help_write(FILE *out, const struct command *command)
{
    put_synopsis(out, command);
    fprintf(out, "\n%s", command->about);
    if (command->options) put_options(out, command->options);
    if (command->notes) fprintf(out, "\n%s", command->notes);
    if (command->examples) {
        fputc('\n', out);
        put_examples(out, command->examples);
    }
    if (!command->exit) return;
    fputs("\nExit: ", out);
    text_wrap(out, command->exit, 6, 0, WIDTH);
}

void help_print(const struct command *command)
{
    help_write(stdout, command);
    if (command != &program) return;
    fputs("\nCommands:\n", stdout);
    for (const struct command *const *each = commands; *each; each++)
        if ((*each)->summary) printf("  %-9s  %s\n", (*each)->name, (*each)->summary);
    for (const struct manual_section *section = program_sections; section->heading; section++)
        printf("\n%s:\n%s", section->heading, section->text);
}

/* ----------------------------------------------------------------- command -- */

struct arguments {
    struct given given;
    bool man;
    const struct command *command;
};

static int check(void *given)
{
    struct arguments *arguments = given;
    const char *name = arguments->given.word[0];
    arguments->command = name && !arguments->man ? command_find(name, false) : &program;
    if (name && arguments->man) return assay_error("--man is of all commands, not of '%s'", name);
    return arguments->command ? 0 : -1;
}

static int run(void *given)
{
    const struct arguments *arguments = given;
    struct program_info info;
    if (!arguments->man) {
        help_print(arguments->command);
        return EXIT_FINE;
    }
    provenance_program(&info);
    return manual_page(stdout, info.version) ? -1 : EXIT_FINE;
}

static const struct command_option options[] = {
    {"man", VALUE_FLAG, .at = AT(man), .help = "the help of all commands as a man page"},
    {0},
};

const struct command cmd_help = {
    .name = "help",
    .summary = "the manual of a command",
    .options = options,
    .words = {{"COMMAND", .kind = VALUE_COMMAND}},
    .most = 1,
    .only = "one command at a time",
    .synopsis = "[COMMAND]\n--man",
    .about = "Prints the manual of a command; without one, the list of commands.\n",
    .examples = "assay help run\n"
                "assay help --man >assay.1",
    .size = sizeof(struct arguments),
    .check = check,
    .run = run,
};
