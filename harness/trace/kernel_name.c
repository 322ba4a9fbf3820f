/*
 * kernel_name.c - takes a demangled name apart. Brackets nest, and what is within them ("<int, 4>",
 * "(anonymous namespace)", "{lambda(int)#1}") belongs to the name that they follow.
 */
#include "trace/kernel_name.h"

#include <stdbool.h>
#include <string.h>

static int step(char c)
{
    return strchr("<({[", c) ? 1 : strchr(">)}]", c) ? -1 : 0;
}

/* Where the bracket begins that ends at `end`; NULL: nowhere. */
static const char *opening(const char *begin, const char *end)
{
    int depth = 0;
    for (const char *at = end; at >= begin; at--) {
        depth -= step(*at);
        if (depth == 0) return at;
    }
    return NULL;
}

/* The end of the name: where its parameters begin, if it has any. */
static const char *name_end(const char *text)
{
    const char *end = text + strlen(text);
    if (end == text || end[-1] != ')') return end;
    const char *parameters = opening(text, end - 1);
    return parameters && parameters > text ? parameters : end;
}

/* Behind the last blank or "::" that is in no bracket. */
static const char *name_begin(const char *text, const char *end)
{
    const char *begin = text;
    int depth = 0;
    for (const char *at = text; at < end; at++) {
        depth += step(*at);
        if (depth != 0) continue;
        if (*at == ' ' || (*at == ':' && at > text && at[-1] == ':')) begin = at + 1;
    }
    return begin;
}

void kernel_short_name(const char *demangled, char *out, size_t size)
{
    const char *end = name_end(demangled);
    const char *begin = name_begin(demangled, end);
    size_t used = 0;
    if (begin == end) {
        begin = demangled;
        end = demangled + strlen(demangled);
    }
    for (const char *at = begin; at < end && used + 1 < size; at++) {
        bool follows = at > begin && at[-1] == ',';
        if (*at == ' ' && follows) continue;
        out[used++] = *at == ' ' ? '_' : *at;
    }
    out[used] = '\0';
}
