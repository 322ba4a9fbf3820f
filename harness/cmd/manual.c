/* manual.c - see manual.h. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "cmd/help.h"

/* A piece of the text that is no string of its own. */
struct piece {
    const char *begin;
    size_t length;
};

static struct piece line_at(const char *text)
{
    return (struct piece){text, strcspn(text, "\n")};
}

static const char *after(struct piece line)
{
    const char *end = line.begin + line.length;
    return *end ? end + 1 : end;
}

static struct piece without_blanks(struct piece piece)
{
    while (piece.length && *piece.begin == ' ') {
        piece.begin++;
        piece.length--;
    }
    return piece;
}

static bool begins(struct piece piece, const char *word)
{
    return piece.length >= strlen(word) && strncmp(piece.begin, word, strlen(word)) == 0;
}

/* Two blanks and no third: a term of a list. */
static bool is_term(struct piece line)
{
    return begins(line, "  ") && line.length > 2 && line.begin[2] != ' ';
}

/* What roff would take for its own, or set as something else than it was typed. */
static const char *escaped(char c)
{
    static const struct {
        char plain;
        const char *roff;
    } escapes[] = {
        {'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'^', "\\(ha"}, {'~', "\\(ti"},
    };
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
        if (escapes[i].plain == c) return escapes[i].roff;
    return NULL;
}

/* The text of a line; `literal` says whether a ` is open and outlives the line. */
static void put_text(FILE *out, struct piece text, bool *literal)
{
    if (text.length && *text.begin == '.') fputs("\\&", out);
    for (size_t i = 0; i < text.length; i++) {
        const char *roff = escaped(text.begin[i]);
        if (literal && text.begin[i] == '`') {
            *literal = !*literal;
            fputs(*literal ? "\\fB" : "\\fR", out);
        } else if (roff) {
            fputs(roff, out);
        } else {
            fputc(text.begin[i], out);
        }
    }
    fputc('\n', out);
}

/* Lines that stand as they are, less `indent` leading characters. */
static const char *put_verbatim(FILE *out, const char *text, size_t indent)
{
    fputs(".nf\n", out);
    for (struct piece line = line_at(text); line.length; line = line_at(text)) {
        size_t cut = line.length < indent ? line.length : indent;
        text = after(line);
        put_text(out, (struct piece){line.begin + cut, line.length - cut}, NULL);
    }
    fputs(".fi\n", out);
    return text;
}

/* "  term  what it is": the term and where the rest begins. */
static struct piece split_term(struct piece line, struct piece *rest)
{
    struct piece term = {line.begin + 2, line.length - 2};
    size_t end = 0;
    while (end < term.length && strncmp(term.begin + end, "  ", 2) != 0)
        end++;
    *rest = without_blanks((struct piece){term.begin + end, term.length - end});
    term.length = end;
    return term;
}

static const char *put_list(FILE *out, const char *text)
{
    bool literal = false;
    for (struct piece line = line_at(text); line.length; line = line_at(text)) {
        struct piece rest = without_blanks(line);
        if (is_term(line)) {
            fputs(".TP\n\\fB", out);
            struct piece term = split_term(line, &rest);
            for (size_t i = 0; i < term.length; i++)
                escaped(term.begin[i]) ? (void)fputs(escaped(term.begin[i]), out)
                                       : (void)fputc(term.begin[i], out);
            fputs("\\fR\n", out);
        }
        if (rest.length) put_text(out, rest, &literal);
        text = after(line);
    }
    return text;
}

static const char *put_prose(FILE *out, const char *text)
{
    bool literal = false;
    for (struct piece line = line_at(text); line.length; line = line_at(text)) {
        put_text(out, line, &literal);
        text = after(line);
    }
    return text;
}

void manual_text(FILE *out, const char *text)
{
    static const char usage[] = "usage: ", example[] = "example: ";
    for (bool first = true; *text; first = false) {
        struct piece line = line_at(text);
        if (line.length == 0) {
            text = after(line);
            continue;
        }
        if (is_term(line)) {
            text = put_list(out, text);
            continue;
        }
        if (!first) fputs(".PP\n", out);
        if (begins(line, usage)) {
            text = put_verbatim(out, text, strlen(usage));
        } else if (begins(line, example)) {
            fputs("Example:\n.PP\n", out);
            text = put_verbatim(out, text, strlen(example));
        } else {
            text = put_prose(out, text);
        }
    }
}

/* man(7) has its headings in capitals. */
static void put_heading(FILE *out, const char *heading)
{
    fputs(".SH \"", out);
    for (; *heading; heading++)
        fputc(toupper((unsigned char)*heading), out);
    fputs("\"\n", out);
}

/* The help of a command as man macros. */
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
