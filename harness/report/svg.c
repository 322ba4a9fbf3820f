/* svg.c - a scanner of tags, sufficient for what gnuplot writes. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "assay.h"
#include "report/svg.h"

/* All elements that gnuplot's terminal writes; none has active content. */
static const char *const elements[] = {
    "svg",     "g",           "path",           "line",     "rect",
    "circle",  "ellipse",     "polygon",        "polyline", "text",
    "tspan",   "defs",        "clipPath",       "mask",     "title",
    "desc",    "use",         "pattern",        "filter",   "feFlood",
    "feBlend", "feComposite", "feGaussianBlur", "symbol",   NULL,
};

/* Where attribute values name ids. */
static const char *const references[] = {"url(#", "href='#", "href=\"#", " id=\"", " id='", NULL};

static bool is_element(const char *name, size_t length)
{
    for (int i = 0; elements[i]; i++)
        if (strlen(elements[i]) == length && !strncmp(elements[i], name, length)) return true;
    return false;
}

/* Check the attributes of a tag: no event handler, and only references within the picture. */
static int check_attributes(const char *at, const char *end)
{
    for (const char *p = at; p < end; p++) {
        if (!isspace((unsigned char)*p) && !strchr("/\"'", *p)) continue;
        if (!strncasecmp(p + 1, "on", 2)) return assay_error("the picture has an event handler");
    }
    for (const char *p = at; p < end; p++)
        if (!strncasecmp(p, "href=", 5) && p[6] != '#')
            return assay_error("the picture refers to something outside");
    return 0;
}

static int check_tag(const char *tag, const char *end)
{
    const char *name = tag + 1 + (tag[1] == '/');
    size_t length = strcspn(name, " \t\r\n/>");
    if (!is_element(name, length))
        return assay_error("the picture has an element <%.*s>", (int)(length < 40 ? length : 40),
                           name);
    return check_attributes(name + length, end);
}

/* The '>' that ends a tag, ignoring quoted ones; NULL when there is none. */
static const char *tag_end(const char *tag)
{
    char quote = '\0';
    for (const char *p = tag; *p; p++) {
        if (quote && *p == quote)
            quote = '\0';
        else if (!quote && (*p == '"' || *p == '\''))
            quote = *p;
        else if (!quote && *p == '>')
            return p;
    }
    return NULL;
}

static int check(const char *svg, const char *stop)
{
    for (const char *p = svg; (p = strchr(p, '<')) && p < stop;) {
        const char *end = tag_end(p);
        if (!end) return assay_error("the picture is cut short");
        if (check_tag(p, end)) return -1;
        p = end + 1;
    }
    return 0;
}

/* The length of a reference's introduction at `p`, or 0. */
static size_t reference_at(const char *p)
{
    for (int i = 0; references[i]; i++)
        if (!strncmp(p, references[i], strlen(references[i]))) return strlen(references[i]);
    return 0;
}

/* Copy from within the tag <svg on. */
static void copy(FILE *out, const char *from, const char *stop, const char *prefix)
{
    bool in_tag = true;
    for (const char *p = from; p < stop;) {
        if (*p == '<') in_tag = true;
        if (*p == '>') in_tag = false;
        size_t length = in_tag ? reference_at(p) : 0;
        fwrite(p, 1, length ? length : 1, out);
        if (length) fputs(prefix, out);
        p += length ? length : 1;
    }
}

char *svg_inline(const char *text, const char *prefix)
{
    const char *from = strstr(text, "<svg"), *stop = NULL;
    for (const char *p = text; (p = strstr(p, "</svg>")); p += 6)
        stop = p + 6;
    if (!from || !stop || stop < from) {
        assay_error("it is no SVG");
        return NULL;
    }
    if (check(from, stop)) return NULL;
    char *result = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&result, &size);
    if (!out) {
        assay_error("out of memory for a picture");
        return NULL;
    }
    fputs("<svg aria-hidden=\"true\" focusable=\"false\"", out);
    copy(out, from + 4, stop, prefix);
    if (fclose(out)) {
        free(result);
        assay_error("out of memory for a picture");
        return NULL;
    }
    return result;
}
