/* history_html.c - a history as one self-contained HTML file, which draws the document of
 * history_json. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/markup.h"
#include "judge/history.h"
#include "show/page.h"
#include "show/show.h"

static int document(FILE *out, const void *history)
{
    return history_print_json(out, history);
}

static void summary(FILE *out, const struct history *history)
{
    int changes = 0, borders = 0, last = history->run_count - 1;
    for (int i = 0; i < history->series_count; i++)
        for (int j = 0; j < history->series[i].change_count; j++)
            ++*(history->series[i].changes[j].causes ? &borders : &changes);
    xml_print(out, "<p id=\"summary\">Runs of %.10s to %.10s: ",
              last < 0 ? "" : history->runs[0].started_at,
              last < 0 ? "" : history->runs[last].started_at);
    fprintf(out,
            "%d case%s, %d change%s of level, %d border%s (another device, driver, clock).</p>\n",
            history->series_count, history->series_count == 1 ? "" : "s", changes,
            changes == 1 ? "" : "s", borders, borders == 1 ? "" : "s");
}

int history_html(FILE *out, const struct history *history, const char *cases)
{
    char title[CASE_TEXT];
    snprintf(title, sizeof title, "%s over runs", cases);
    page_begin(out, "assay: ", title);
    summary(out, history);
    page_place(out, "trend", true, "assay history");
    if (page_document(out, "history", document, history)) return -1;
    page_end(out, true);
    return ferror(out) ? assay_error("cannot write the history: %s", strerror(errno)) : 0;
}
