#include "device/demangle.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the C++ runtime, which nvcc links: "The Itanium C++ ABI", section 3.4. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status)
    __attribute__((weak));

void demangle(const char *mangled, char *out, size_t size)
{
    int status = 0;
    /* A kernel of C may be called `a`, which as a mangled type is a signed char. */
    bool is_mangled = strncmp(mangled, "_Z", 2) == 0 && __cxa_demangle;
    char *name = is_mangled ? __cxa_demangle(mangled, NULL, NULL, &status) : NULL;
    snprintf(out, size, "%s", status == 0 && name ? name : mangled);
    free(name);
}

/* What follows takes a demangled name apart. Brackets nest, and what is within them ("<int, 4>",
 * "(anonymous namespace)", "{lambda(int)#1}") belongs to the name that they follow. */
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
