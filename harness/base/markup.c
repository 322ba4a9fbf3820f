#include <string.h>

#include "base/markup.h"
#include "base/text.h"

void markup_md(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\`*_<>[]", *text)) fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
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
