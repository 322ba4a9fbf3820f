#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plot/plot_data.h"

/* gnuplot interprets quotes, a leading # as a comment and \n in a label as a line end, and has
 * no escape for them, so they are replaced by similar characters. */
void plot_text(FILE *out, const char *text)
{
    /* A field of blanks alone is missing to it, and the column then no text. */
    if (!text[strspn(text, " \t\r\n\v\f")]) text = "\xe2\x90\xa3"; /* U+2423 */
    if (*text == '#') fputs("\xef\xbc\x83", out), text++;          /* U+FF03 */
    while (*text) {
        int length = text_utf8_length(text);
        if (*text == '"')
            fputs("\xe2\x80\x9d", out); /* U+201D */
        else if (*text == '\\')
            fputs("\xe2\x88\x96", out); /* U+2216 */
        else if (length == 0)
            fputc('?', out);
        else if ((unsigned char)*text < ' ' || *text == 127)
            fputc(' ', out);
        else
            fwrite(text, 1, (size_t)length, out);
        text += length ? length : 1;
    }
}

/* ------------------------------------------------------------------- the plot -- */

struct plot_room {
    struct plot_room *next;
    double memory[]; /* aligned for what queries keep */
};

void *plot_alloc(struct plot *plot, int count, size_t size)
{
    struct plot_room *room = calloc(1, sizeof *room + (size_t)count * size);
    if (!room) return assay_error_as(NULL, "out of memory for a plot");
    room->next = plot->rooms;
    plot->rooms = room;
    return room->memory;
}

/* "NVIDIA H200, driver 580.159.04, clock cupti; run 1a2b3c4d, 2026-11-21" */
static void subtitle(struct plot *plot, const struct stored_run *run)
{
    if (run->launch_count) {
        const struct device_info *device = &run->launches[0].device;
        const char *driver = device->place == ASSAY_HOST ? ", kernel " : ", driver ";
        snprintf(plot->subtitle, sizeof plot->subtitle, "%s%s%s%s, clock %s",
                 device->simulated ? "SIMULATED " : "", device->name,
                 device->driver[0] ? driver : "", device->driver, clock_name(device->clock));
    }
    text_add(plot->subtitle, sizeof plot->subtitle, "; ", "run %.8s, %.10s", run->run.id,
             run->started_at);
}

int plot_open(struct plot *plot, const struct plot_kind *kind, const struct plot_request *request)
{
    *plot = (struct plot){.kind = kind, .request = request};
    plot->settings = open_memstream(&plot->text[0], &plot->size[0]);
    plot->out = open_memstream(&plot->text[1], &plot->size[1]);
    if (!plot->settings || !plot->out) return assay_error("out of memory for a plot");
    if (!request->run) return 0;
    if (view_make(&plot->view, request->run)) return -1;
    plot->row = plot_alloc(plot, plot->view.count, sizeof *plot->row);
    if (!plot->row) return -1;
    for (int i = 0; i < plot->view.count; i++)
        if (plot_row_taken(request, &plot->view.rows[i]))
            plot->row[plot->count++] = &plot->view.rows[i];
    subtitle(plot, request->run);
    return 0;
}

static void write_setting(FILE *out, const char *name, const char *text)
{
    if (!text[0]) return; /* gnuplot reads no empty field */
    fprintf(out, "%s\t", name);
    plot_text(out, text);
    fputc('\n', out);
}

int plot_write(FILE *out, struct plot *plot)
{
    FILE *const parts[] = {plot->settings, plot->out};
    const char *title = plot->request->title, *theme = plot->request->theme;
    for (int i = 0; i < 2; i++)
        if (fflush(parts[i]) || ferror(parts[i])) return assay_error("out of memory for a plot");
    write_setting(out, "kind", plot->kind->name);
    write_setting(out, "title", title ? title : plot->title);
    write_setting(out, "subtitle", plot->subtitle);
    write_setting(out, "note", plot->note);
    write_setting(out, "theme", theme ? theme : "light");
    fwrite(plot->text[0], 1, plot->size[0], out);
    fputs("\n\n", out);
    fwrite(plot->text[1], 1, plot->size[1], out);
    return 0;
}

void plot_close(struct plot *plot)
{
    if (plot->settings) fclose(plot->settings);
    if (plot->out) fclose(plot->out);
    free(plot->text[0]);
    free(plot->text[1]);
    for (struct plot_room *room = plot->rooms, *next; room; room = next) {
        next = room->next;
        free(room);
    }
    view_release(&plot->older);
    view_release(&plot->view);
}

/* ----------------------------------------------------------- settings and lines -- */

void plot_setting(struct plot *plot, const char *name, const char *text)
{
    write_setting(plot->settings, name, text);
}

void plot_setting_number(struct plot *plot, const char *name, double value)
{
    fprintf(plot->settings, "%s\t%.9g\n", name, value);
}

void plot_title(struct plot *plot, const char *format, ...)
{
    va_list arguments;
    char common[PLOT_MAX_COMMON];
    va_start(arguments, format);
    vsnprintf(plot->title, sizeof plot->title, format, arguments);
    va_end(arguments);
    plot_common_text(&plot->common, common);
    if (common[0]) text_add(plot->title, sizeof plot->title, "  ", "(%s)", common);
}

void plot_size(struct plot *plot, int wide, int high, int lines)
{
    int asked = plot->request->width_px;
    plot_setting_number(plot, "wide", asked ? asked : wide);
    plot_setting_number(plot, "high", high);
    plot_setting_number(plot, "lines", lines);
}

void plot_size_rows(struct plot *plot, int rows)
{
    int pitch = rows <= 12 ? 30 : rows <= 30 ? 22 : 17;
    int beside = 15 * (plot->chars + plot->right_chars) / 2; /* of 7.5 pixels each */
    plot_size(plot, beside + 560 > 1100 ? beside + 560 : 1100, 160 + pitch * rows, rows + 12);
    plot_setting_number(plot, "chars", plot->chars);
    plot_setting_number(plot, "right_chars", plot->right_chars);
}

static void write_text(struct plot *plot, const char *text, int *chars)
{
    int width = text_width(text);
    plot_text(plot->out, text);
    if (width > *chars) *chars = width;
}

void plot_line(struct plot *plot, const char *first, const char *last, const char *format, ...)
{
    va_list arguments;
    if (first) write_text(plot, first, &plot->chars);
    if (first && format) fputc('\t', plot->out);
    va_start(arguments, format);
    if (format) vfprintf(plot->out, format, arguments);
    va_end(arguments);
    if (last && (first || format)) fputc('\t', plot->out);
    if (last) write_text(plot, last, &plot->right_chars);
    fputc('\n', plot->out);
}

void plot_block_end(struct plot *plot)
{
    fputs("\n\n", plot->out);
}

/* ------------------------------------------------------------------- units -- */

enum { SCALES = 4 };

static const struct plot_scale scales[][SCALES] = {
    [PLOT_BYTE_RATE] = {{1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1, "B/s"}},
    [PLOT_OP_RATE] = {{1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1, "FLOP/s"}},
    [PLOT_TIME] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}},
};

const struct plot_scale *plot_scale(enum plot_quantity quantity, double largest)
{
    int i = 0;
    while (i < SCALES - 1 && !(largest >= scales[quantity][i].factor))
        i++;
    return &scales[quantity][i];
}

void plot_extend(struct plot_extent *extent, double x, double y)
{
    extent->left = fmin(extent->left, x);
    extent->right = fmax(extent->right, x);
    extent->low = fmin(extent->low, y);
    extent->top = fmax(extent->top, y);
}

enum plot_outcome plot_nothing(const struct plot *plot, const char *what)
{
    const struct plot_request *request = plot->request;
    return assay_error_as(PLOT_NOTHING, "nothing to draw: %s%s%s%s%s%s%s", what,
                          request->operation ? "; operation " : "",
                          request->operation ? request->operation : "",
                          request->cases ? "; case " : "", request->cases ? request->cases : "",
                          request->only ? "; only " : "", request->only ? request->only : "");
}

double plot_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

struct interval plot_interval(double mid, double lo, double hi)
{
    return (struct interval){.mid = mid, .lo = plot_or(lo, mid), .hi = plot_or(hi, mid)};
}

struct interval plot_time_of(const struct case_result *result)
{
    return plot_interval(result->time_ns, result->lo_ns, result->hi_ns);
}
