/* report_html_rows.c - the table of cases: one row per case, whose id is the target of links. */
#include <math.h>
#include <string.h>

#include "base/markup.h"
#include "report/report.h"
#include "show/page.h"
#include "show/show.h"

/* "1.02x [1.01, 1.03]": a line may be broken before the interval but not within it. */
static void ratio(FILE *out, const char *text, double value)
{
    int head = (int)strcspn(text, "[");
    if (isnan(value))
        fputs("<td class=\"n i\" data-v=\"\">", out);
    else
        fprintf(out, "<td class=\"n i\" data-v=\"%.6g\">", value);
    fprintf(out, "%.*s", head, text);
    if (text[head]) fprintf(out, "<span>%s</span>", text + head);
    fputs("</td>", out);
}

/* A name in which lines may be broken after underscores. */
static void name_text(FILE *out, const char *name)
{
    char part[ASSAY_MAX_NAME];
    while (*name) {
        size_t length = strcspn(name, "_");
        length += name[length] == '_';
        snprintf(part, sizeof part, "%.*s", (int)length, name);
        name += length;
        xml_print(out, *name ? "%s<wbr>" : "%s", part);
    }
}

static double spread_of(const struct case_result *result)
{
    return fmax(result->hi_ns - result->time_ns, result->time_ns - result->lo_ns) / result->time_ns;
}

static const char *class_of(int status)
{
    if (status == STATUS_OK) return "";
    return status == STATUS_SKIPPED ? " class=\"soft\"" : " class=\"bad\"";
}

static void row_head(FILE *out, const struct view *view, int index, const char *name)
{
    const struct case_id *id = &view->rows[index].result.id;
    const char *status = status_name(view->rows[index].result.status);
    fprintf(out, "<tr id=\"r%d\" data-s=\"%s\"><td>", index, status);
    name_text(out, id->operation);
    xml_print(out, "</td><td class=\"s\">%s</td><td>%s</td><th scope=\"row\">", id->shape,
              temperature_name(id->temperature));
    name_text(out, name);
    fprintf(out, "</th><td>%s</td><td%s>%s</td>", kind_name(id->kind),
            class_of(view->rows[index].result.status), status);
}

/* The stages of a launch, in the cell of notes, because separate rows would be sorted away
 * from their case. */
static void stage_lines(FILE *out, const struct case_result *result, bool follows)
{
    struct show_stage stage[SHOW_STAGES];
    int count = show_stages(result, stage);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%s: %lld calls, %s in all, %s each", i || follows ? "<br>" : "",
                stage[i].name, (long long)stage[i].calls, stage[i].total, stage[i].each);
}

static void row_line(FILE *out, const struct view *view, int index)
{
    const struct view_row *row = &view->rows[index];
    const struct case_result *result = &row->result;
    bool ok = result->status == STATUS_OK;
    struct show_words words;
    show_words(&words, view, row);
    row_head(out, view, index, result->id.variant);
    page_figure(out, "n", words.cell[CELL_TIME], result->time_ns);
    page_figure(out, "n", words.cell[CELL_SPREAD], spread_of(result));
    page_figure(out, "n", words.cell[CELL_RATE], row->rate);
    page_figure(out, "n", words.cell[CELL_SHARE], row->ceiling_fraction);
    xml_print(out, "<td>%s</td>", words.cell[CELL_CEILING]);
    bool is_base = ok && result->is_baseline && row->baseline[0];
    ratio(out, words.cell[CELL_RATIO], is_base ? 1 : row->speedup.mid);
    xml_print(out, "<td>%s", ok ? words.cell[CELL_MARKS] : result->reason);
    if (ok && result->note[0])
        xml_print(out, "%s%s", words.cell[CELL_MARKS][0] ? "; " : "", result->note);
    stage_lines(out, result, words.cell[CELL_MARKS][0] || result->note[0]);
    fputs("</td></tr>\n", out);
}

static void filter(FILE *out)
{
    fputs("<form id=\"filter\" class=\"filter\" role=\"search\" hidden>"
          "<label>words that a row must have"
          "<input id=\"words\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></label>"
          "<label>status<select id=\"state\"><option value=\"\">any</option>",
          out);
    for (int s = 0; s < STATUSES; s++)
        fprintf(out, "<option>%s</option>", status_name(s));
    fputs("</select></label><span id=\"shown\" role=\"status\"></span></form>\n", out);
}

static void marks(FILE *out)
{
    fputs("<p class=\"soft\">", out);
    for (const struct show_mark *mark = show_marks; mark->letter; mark++)
        xml_print(out, "%s<b>%c</b> %s", mark == show_marks ? "" : "; ", mark->letter,
                  mark->meaning);
    fputs(".</p>\n", out);
}

void report_html_rows(FILE *out, const struct view *view)
{
    fputs("<h2 id=\"rows\">Cases</h2>\n", out);
    filter(out);
    page_table(out, " id=\"cases\"", "Cases",
               "Median time with the half width of its 95 % interval; speed-up is the time of the "
               "group's baseline over this one",
               (const char *const[]){"operation", "shape", "caches", "variant", "kind", "status",
                                     "time", "interval", "rate", "of ceiling", "ceiling",
                                     "speed-up", "notes", NULL});
    for (int i = 0; i < view->count; i++)
        if (!view->rows[i].is_hidden) row_line(out, view, i);
    page_table_end(out);
    marks(out);
}
