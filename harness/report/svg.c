/* svg.c - a scanner of tags, sufficient for what gnuplot writes. */
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

static const char blanks[] = " \t\r\n";

/* Check an attribute: no event handler, and only references within the picture. */
static int check_attribute(const char *name, size_t length, const char *value)
{
    if (!strncasecmp(name, "on", 2)) return assay_error("the picture has an event handler");
    bool is_reference = length >= 4 && !strncasecmp(name + length - 4, "href", 4);
    return is_reference && *value != '#' ? assay_error("the picture refers to something outside")
                                         : 0;
}

/* Check the attributes from `at` to the end of the tag. They are written as XML has them,
 * NAME="VALUE" without '<': of anything else, readers of HTML disagree where the tag ends. Returns
 * its '>'; NULL with assay_error. */
static const char *check_attributes(const char *at)
{
    for (;;) {
        at += strspn(at, blanks);
        if (*at == '/' && at[1] == '>') at++;
        if (*at == '>') return at;
        size_t name = strcspn(at, "=<>\"'/ \t\r\n");
        const char *quote = at + name, *end = NULL;
        quote += strspn(quote, blanks);
        bool has_value = name > 0 && *quote == '=';
        if (has_value) quote += 1 + strspn(quote + 1, blanks);
        if (has_value && (*quote == '"' || *quote == '\'')) end = strchr(quote + 1, *quote);
        if (!end || memchr(quote, '<', (size_t)(end - quote))) {
            assay_error("the picture is cut short, or no XML");
            return NULL;
        }
        if (check_attribute(at, name, quote + 1) != 0) return NULL;
        at = end + 1;
    }
}

/* Check a tag; returns its '>', NULL with assay_error. */
static const char *check_tag(const char *tag)
{
    const char *name = tag + 1 + (tag[1] == '/');
    size_t length = strcspn(name, " \t\r\n/>");
    if (is_element(name, length)) return check_attributes(name + length);
    assay_error("the picture has an element <%.*s>", (int)(length < 40 ? length : 40), name);
    return NULL;
}

static int check(const char *svg, const char *stop)
{
    for (const char *p = svg; (p = strchr(p, '<')) && p < stop;)
        if (!(p = check_tag(p))) return -1;
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
