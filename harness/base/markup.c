#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/markup.h"
#include "base/text.h"

/* Within a word an underscore begins nothing (CommonMark 6.2), and a name can be copied. */
static bool is_inner(const char *text, const char *at)
{
    return *at == '_' && at > text && isalnum((unsigned char)at[-1]) &&
           isalnum((unsigned char)at[1]);
}

static void write_md(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        if (strchr("|\\`*_<>[]", *at) && !is_inner(text, at)) fputc('\\', out);
        fputc((unsigned char)*at < ' ' ? ' ' : *at, out);
    }
}

void md_code(FILE *out, const char *text)
{
    fputc('`', out);
    for (; *text; text++)
        fputc(*text == '`' ? '\'' : (unsigned char)*text < ' ' ? ' ' : *text, out);
    fputc('`', out);
}

/* Of an ASCII character; NULL: it stands for itself. */
static const char *xml_entity(char c)
{
    static const char *const entities[0x80] = {
        ['&'] = "&amp;",  ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;",
        ['\''] = "&#39;", ['\n'] = " ",   ['\t'] = " ",   [0x7f] = "?"};
    const char *entity = entities[(unsigned char)c];
    return entity ? entity : c < ' ' ? "?" : NULL;
}

static void write_xml(FILE *out, const char *text)
{
    while (*text) {
        int length = text_utf8_length(text);
        const char *entity = length == 1 ? xml_entity(*text) : length == 0 ? "?" : NULL;
        if (entity)
            fputs(entity, out);
        else
            fwrite(text, 1, (size_t)length, out);
        text += length ? length : 1;
    }
}

/* One conversion of a format, "%.1f"; returns its length. */
static size_t conversion(char spec[16], const char *at)
{
    size_t length = strcspn(at + 1, "sdcfg%") + 2;
    snprintf(spec, 16, "%.*s", (int)length, at);
    return length;
}

static void print(FILE *out, void (*escape)(FILE *out, const char *text), const char *format,
                  va_list arguments)
{
    char spec[16], cut[64];
    for (;;) {
        size_t plain = strcspn(format, "%");
        fwrite(format, 1, plain, out);
        format += plain;
        if (!*format) return;
        size_t length = conversion(spec, format);
        format += length;
        switch (spec[length - 1]) {
        case 's':
            if (length > 2) {
                snprintf(cut, sizeof cut, spec, va_arg(arguments, const char *));
                escape(out, cut);
            } else {
                escape(out, va_arg(arguments, const char *));
            }
            break;
        case 'c':
        case 'd':
            if (strchr(spec, 'l'))
                fprintf(out, spec, va_arg(arguments, long long));
            else
                fprintf(out, spec, va_arg(arguments, int));
            break;
        case '%':
            fputc('%', out);
            break;
        default:
            fprintf(out, spec, va_arg(arguments, double));
        }
    }
}

void md_print(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(out, write_md, format, arguments);
    va_end(arguments);
}

void xml_print(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(out, write_xml, format, arguments);
    va_end(arguments);
}

void markup_command(FILE *out, const char *text, int property)
{
    for (; *text; text++) {
        bool escape = *text == '%' || *text == '\r' || *text == '\n' ||
                      (property && (*text == ':' || *text == ','));
        if (escape)
            fprintf(out, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, out);
    }
}

void markup_script(FILE *out, const char *json)
{
    for (; *json; json++) /* outside of a text JSON has no '<' */
        *json == '<' ? fputs("\\u003c", out) : fputc(*json, out);
}

/* A spreadsheet takes such a text for a formula, and runs it. */
static bool is_formula(const char *field)
{
    char *end;
    if (!field[0] || !field[1] || !strchr("=+-@", field[0])) return false;
    strtod(field, &end);
    return end == field || *end;
}

void csv_write(FILE *out, const char *field, char after)
{
    const char *before = is_formula(field) ? "'" : "";
    if (strpbrk(field, ",\"\r\n")) {
        fprintf(out, "\"%s", before);
        for (const char *c = field; *c; c++) {
            if (*c == '"') fputc('"', out);
            fputc(*c, out);
        }
        fputc('"', out);
    } else {
        fprintf(out, "%s%s", before, field);
    }
    fputc(after, out);
}
