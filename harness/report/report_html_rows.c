/* report_html_rows.c - the table of cases: one row per case, whose id is the target of links. */
#include <math.h>
#include <string.h>

#include "base/markup.h"
#include "report/report.h"
#include "show/show.h"
#include "show/show_stages.h"

static const struct show_options rows_only = {.ceilings = false};

/* Begin a cell with the number that it is sorted by. */
static void begin_figure(FILE *out, const char *class, double value)
{
    if (isnan(value))
        fprintf(out, "<td class=\"%s\" data-v=\"\">", class);
    else
        fprintf(out, "<td class=\"%s\" data-v=\"%.6g\">", class, value);
}

static void figure(FILE *out, const char *text, double value)
{
    begin_figure(out, "n", value);
    markup_xml(out, text);
    fputs("</td>", out);
}

/* "1.02x [1.01, 1.03]": a line may be broken before the interval but not within it. */
static void ratio(FILE *out, const char *text, double value)
{
    int head = (int)strcspn(text, "[");
    begin_figure(out, "n i", value);
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
        markup_xml(out, part);
        name += length;
        if (*name) fputs("<wbr>", out);
    }
}

static void cell(FILE *out, const char *text)
{
    fputs("<td>", out);
    markup_xml(out, text);
    fputs("</td>", out);
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
    const char *status = status_name((enum case_status)view->rows[index].result.status);
    fprintf(out, "<tr id=\"r%d\" data-s=\"%s\"><td>", index, status);
    name_text(out, id->operation);
    fputs("</td><td class=\"s\">", out);
    markup_xml(out, id->shape);
    fprintf(out, "</td><td>%s</td><th scope=\"row\">",
            temperature_name((enum assay_temperature)id->temperature));
    name_text(out, name);
    fprintf(out, "</th><td>%s</td><td%s>%s</td>", kind_name((enum assay_kind)id->kind),
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
    figure(out, words.cell[CELL_TIME], ok ? result->time_ns : NAN);
    figure(out, words.cell[CELL_SPREAD], ok ? spread_of(result) : NAN);
    figure(out, words.cell[CELL_RATE], ok ? row->rate : NAN);
    figure(out, words.cell[CELL_SHARE], ok ? row->ceiling_fraction : NAN);
    cell(out, words.cell[CELL_CEILING]);
    bool is_base = ok && result->is_baseline && row->baseline[0];
    ratio(out, words.cell[CELL_RATIO], is_base ? 1 : ok ? row->speedup.mid : NAN);
    fputs("<td>", out);
    markup_xml(out, ok ? words.cell[CELL_MARKS] : result->reason);
    if (ok && result->note[0]) {
        fputs(words.cell[CELL_MARKS][0] ? "; " : "", out);
        markup_xml(out, result->note);
    }
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
        fprintf(out, "<option>%s</option>", status_name((enum case_status)s));
    fputs("</select></label><span id=\"shown\" role=\"status\"></span></form>\n", out);
}

static void marks(FILE *out)
{
    fputs("<p class=\"soft\">", out);
    for (const struct show_mark *mark = show_marks; mark->letter; mark++) {
        fprintf(out, "%s<b>%c</b> ", mark == show_marks ? "" : "; ", mark->letter);
        markup_xml(out, mark->meaning);
    }
    fputs(".</p>\n", out);
}

void report_html_rows(FILE *out, const struct view *view)
{
    static const char *const heads[] = {
        "operation", "shape", "caches",     "variant", "kind",     "status", "time",
        "interval",  "rate",  "of ceiling", "ceiling", "speed-up", "notes"};
    fputs("<h2 id=\"rows\">Cases</h2>\n", out);
    filter(out);
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Cases\">"
          "<table id=\"cases\" class=\"sortable\"><caption>Median time with the half width of its "
          "95 % interval; speed-up is the time of the group's baseline over this one</caption>\n"
          "<thead><tr>",
          out);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        fprintf(out, "<th scope=\"col\">%s</th>", heads[i]);
    fputs("</tr></thead>\n<tbody>\n", out);
    for (int i = 0; i < view->count; i++)
        if (show_has(view, i, &rows_only)) row_line(out, view, i);
    fputs("</tbody></table></div>\n", out);
    marks(out);
}
