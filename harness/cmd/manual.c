/* manual.c - the man page; see help.h. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "cmd/help.h"

/* Two blanks and no third: a term of a list. */
static bool is_term(const char *line, size_t length)
{
    return length > 2 && strncmp(line, "  ", 2) == 0 && line[2] != ' ';
}

/* Escapes what roff would take for its own, or set as something else than it was typed.
 * `literal` says whether a ` is open and outlives the line; NULL: a ` is one. */
static void put_escaped(FILE *out, const char *text, size_t length, bool *literal)
{
    static const char plain[] = "\\-'^~";
    static const char *const roff[] = {"\\e", "\\-", "\\(aq", "\\(ha", "\\(ti"};
    for (size_t i = 0; i < length; i++) {
        const char *special = strchr(plain, text[i]);
        if (literal && text[i] == '`') {
            *literal = !*literal;
            fputs(*literal ? "\\fB" : "\\fR", out);
        } else if (special) {
            fputs(roff[special - plain], out);
        } else {
            fputc(text[i], out);
        }
    }
}

static void put_line(FILE *out, const char *text, size_t length, bool *literal)
{
    if (length && *text == '.') fputs("\\&", out);
    put_escaped(out, text, length, literal);
    fputc('\n', out);
}

/* "  term  what it is", or what goes on below it. */
static void put_item(FILE *out, const char *line, size_t length, bool *literal)
{
    size_t at = 0;
    if (is_term(line, length)) {
        for (at = 2; at < length && strncmp(line + at, "  ", 2) != 0;)
            at++;
        fputs(".TP\n\\fB", out);
        put_escaped(out, line + 2, at - 2, NULL);
        fputs("\\fR\n", out);
    }
    at += strspn(line + at, " ");
    if (at < length) put_line(out, line + at, length - at, literal);
}

void manual_text(FILE *out, const char *text)
{
    static const char usage[] = "usage: ", example[] = "example: ";
    enum { NONE, LIST, PROSE, VERBATIM } block = NONE;
    size_t length, indent = 0;
    bool literal = false;
    for (const char *line = text; *line; line += length + (line[length] != '\0')) {
        length = strcspn(line, "\n");
        if (length == 0) {
            if (block == VERBATIM) fputs(".fi\n", out);
            block = NONE;
            continue;
        }
        if (block == NONE) {
            bool is_example = strncmp(line, example, strlen(example)) == 0;
            indent = is_example ? strlen(example) : strlen(usage);
            literal = false;
            block = is_term(line, length)                             ? LIST
                    : is_example || strncmp(line, usage, indent) == 0 ? VERBATIM
                                                                      : PROSE;
            if (block != LIST && line != text) fputs(".PP\n", out);
            if (is_example) fputs("Example:\n.PP\n", out);
            if (block == VERBATIM) fputs(".nf\n", out);
        }
        size_t cut = block != VERBATIM ? 0 : length < indent ? length : indent;
        if (block == LIST)
            put_item(out, line, length, &literal);
        else
            put_line(out, line + cut, length - cut, block == PROSE ? &literal : NULL);
    }
    if (block == VERBATIM) fputs(".fi\n", out);
}

/* man(7) has its headings in capitals. */
static void put_heading(FILE *out, const char *heading)
{
    fputs(".SH \"", out);
    for (; *heading; heading++)
        fputc(toupper((unsigned char)*heading), out);
    fputs("\"\n", out);
}

static int put_help(FILE *out, const struct command *command)
{
    char *text = NULL;
    size_t size = 0;
    FILE *help = open_memstream(&text, &size);
    if (!help) return assay_error("out of memory");
    help_write(help, command);
    int failed = fclose(help) ? assay_error("out of memory") : 0;
    if (!failed) manual_text(out, text);
    free(text);
    return failed;
}

int manual_page(FILE *out, const char *version)
{
    fprintf(out,
            ".\\\" Written by assay help --man from the help of the commands.\n"
            ".TH ASSAY 1 \"\" \"Assay %s\" \"User Commands\"\n"
            ".SH NAME\n"
            "assay \\- measure GPU kernels and say with statistics what is faster than what\n"
            ".SH DESCRIPTION\n",
            version);
    int failed = put_help(out, &program);
    put_heading(out, "Commands");
    for (const struct command *const *command = commands; *command && !failed; command++) {
        if (!(*command)->summary) continue;
        fprintf(out, ".SS %s\n", (*command)->name);
        failed = put_help(out, *command);
    }
    const struct manual_section *section = program_sections;
    for (; section->heading && !failed; section++) {
        put_heading(out, section->heading);
        manual_text(out, section->text);
    }
    put_heading(out, "See also");
    fputs(".BR gnuplot (1),\n.BR sqlite3 (1)\n", out);
    return failed;
}
