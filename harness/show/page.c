/* page.c - see page.h. The style and the scripts are files in page/, which the makefile turns into
 * bytes with Chart.js (scripts/page.sh). */
#include <math.h>
#include <stdlib.h>

#include "assay.h"
#include "base/markup.h"
#include "page.inc"
#include "show/page.h"

void page_begin(FILE *out, const char *title)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'sha256-%s'; script-src 'sha256-%s' 'sha256-%s'; img-src data:; "
            "base-uri 'none'; form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n",
            page_style_hash, page_script_hash, page_library_hash);
    xml_print(out, "<title>assay: %s</title>\n", title);
    fprintf(out, "<style>%s</style>\n</head>\n<body>\n", page_style);
    xml_print(out, "<header><h1>%s</h1></header>\n", title);
}

static bool has_library(void)
{
    return page_library[0] != '\0';
}

void page_place(FILE *out, const char *id, bool charts, const char *command)
{
    fprintf(out,
            "<noscript><p>Charts and tables of cases need scripting; <code>%s</code> prints the "
            "same.</p></noscript>\n",
            command);
    if (!charts)
        fputs("<p>Charts were left out, as asked for.</p>\n", out);
    else if (!has_library())
        fputs(
            "<p>This program was built without Chart.js (package libjs-chart.js), so there are no "
            "charts. The table has every figure.</p>\n",
            out);
    fprintf(out, "<div id=\"%s\"></div>\n", id);
}

/* What the licence of Chart.js asks of a copy. */
static const char licence[] =
    "<footer class=\"soft\"><details><summary id=\"library\">Chart.js</summary>\n"
    "<p>Chart.js, copyright Chart.js contributors, and its part @kurkle/color, copyright Jukka "
    "Kurkela; both under the MIT licence:</p>\n"
    "<p>Permission is hereby granted, free of charge, to any person obtaining a copy of this "
    "software and associated documentation files (the \"Software\"), to deal in the Software "
    "without restriction, including without limitation the rights to use, copy, modify, merge, "
    "publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to "
    "whom the Software is furnished to do so, subject to the following conditions: The above "
    "copyright notice and this permission notice shall be included in all copies or substantial "
    "portions of the Software. THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, "
    "EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS "
    "FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT "
    "HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF "
    "CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE "
    "USE OR OTHER DEALINGS IN THE SOFTWARE.</p></details></footer>\n";

void page_end(FILE *out, bool charts)
{
    if (charts && has_library()) fprintf(out, "%s<script>%s</script>\n", licence, page_library);
    fprintf(out, "<script>%s</script>\n</body>\n</html>\n", page_script);
}

int page_document(FILE *out, const char *id, int (*write)(FILE *out, const void *what),
                  const void *what)
{
    char *text = NULL;
    size_t size = 0;
    FILE *buffer = open_memstream(&text, &size);
    if (!buffer) return assay_error("out of memory for a page");
    int failed = write(buffer, what);
    if (fclose(buffer) && !failed) failed = assay_error("out of memory for a page");
    fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
    if (!failed) markup_script(out, text);
    fputs("</script>\n", out);
    free(text);
    return failed;
}

void page_table(FILE *out, const char *name, const char *caption, const char *const *heads)
{
    fprintf(out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
            "<table class=\"sortable\"><caption>%s</caption>\n<thead><tr>",
            name, caption);
    for (; *heads; heads++)
        xml_print(out, "<th scope=\"col\">%s</th>", *heads);
    fputs("</tr></thead>\n<tbody>\n", out);
}

void page_table_end(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}

void page_figure(FILE *out, const char *text, double value)
{
    char key[32] = "";
    if (!isnan(value)) snprintf(key, sizeof key, "%.6g", value);
    xml_print(out, "<td class=\"n\" data-v=\"%s\">%s</td>", key, text);
}
