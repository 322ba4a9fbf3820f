#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/markup.h"
#include "base/text.h"

/* Within a word an underscore begins nothing (CommonMark 6.2), and a name can be copied. */
static bool is_inner(const char *text, const char *at)
{
    return *at == '_' && at > text && isalnum((unsigned char)at[-1]) &&
           isalnum((unsigned char)at[1]);
}

void markup_md(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        if (strchr("|\\`*_<>[]", *at) && !is_inner(text, at)) fputc('\\', out);
        fputc((unsigned char)*at < ' ' ? ' ' : *at, out);
    }
}

static const char *xml_entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\n':
    case '\t':
        return " ";
    default:
        return (unsigned char)c < ' ' || c == 0x7f ? "?" : NULL;
    }
}

void markup_xml(FILE *out, const char *text)
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
