/* comparison_html.c - a comparison as one self-contained HTML file, or a part of one. */
#include <errno.h>
#include <string.h>

#include "base/markup.h"
#include "show/comparison_formats.h"
#include "show/page.h"

static int document(FILE *out, const void *comparison)
{
    return comparison_json(out, comparison);
}

int comparison_html_part(FILE *out, const struct comparison *comparison)
{
    char base[WORDS_LINE], candidate[WORDS_LINE];
    side_text(&comparison->base, base);
    side_text(&comparison->candidate, candidate);
    xml_print(out, "<p><b>base</b> %s</p>\n<p><b>candidate</b> %s</p>\n", base, candidate);
    for (int i = 0; i < comparison->note_count; i++)
        xml_print(out, "<p>%s</p>\n", comparison->note[i]);
    if (comparison->next[0])
        xml_print(out, "<p>For a verdict on what has too few launches: <code>%s</code> %s</p>\n",
                  comparison->next, comparison->next_lacks);
    page_place(out, "changes", true, "assay compare");
    return page_document(out, "comparison", document, comparison);
}

int comparison_html(FILE *out, const struct comparison *comparison)
{
    char counts[WORDS_LINE];
    counts_text(comparison, counts);
    page_begin(out, counts);
    if (comparison_html_part(out, comparison)) return -1;
    fputs("<h2>Geometric means</h2>\n", out);
    page_table(out, "Geometric means", "Of the changes of each operation",
               (const char *const[]){"operation", "change", "cases", NULL});
    for (int i = 0; i < comparison->family_count; i++) {
        const struct comparison_family *family = &comparison->families[i];
        char change[UNITS_MAX];
        comparison_change_text(family->ratio, 1, change);
        xml_print(out, "<tr><th scope=\"row\">%s</th>", family->operation);
        page_figure(out, change, family->ratio);
        xml_print(out, "<td class=\"n\" data-v=\"%d\">%d</td></tr>\n", family->cases,
                  family->cases);
    }
    page_table_end(out);
    page_end(out, true);
    return ferror(out) ? assay_error("cannot write the report: %s", strerror(errno)) : 0;
}
