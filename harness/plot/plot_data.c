#include <math.h>
#include <string.h>

#include "base/text.h"
#include "case/case_name.h"
#include "plot/plot_data.h"

/* gnuplot interprets quotes, a leading # as a comment and \n in a label as a line end, and has
 * no escape for them, so they are replaced by similar characters. */
void plot_text(FILE *out, const char *text)
{
    if (*text == '#') fputs("\xef\xbc\x83", out), text++; /* U+FF03 */
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

int plot_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* ---------------------------------------------------------------- settings -- */

void plot_setting(FILE *out, const char *name, const char *text)
{
    if (!text[0]) return; /* gnuplot reads no empty field */
    fprintf(out, "%s\t", name);
    plot_text(out, text);
    fputc('\n', out);
}

void plot_setting_number(FILE *out, const char *name, double value)
{
    fprintf(out, "%s\t%.9g\n", name, value);
}

void plot_block_end(FILE *out)
{
    fputs("\n\n", out);
}

/* "NVIDIA H200, driver 580.159.04, clock cupti" */
static void device_text(const struct device_info *device, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s%s, clock %s", device->simulated ? "SIMULATED " : "", device->name,
             !device->driver[0]            ? ""
             : device->place == ASSAY_HOST ? ", kernel "
                                           : ", driver ",
             device->driver, clock_name((enum clock_source)device->clock));
}

void plot_head(FILE *out, const struct stored_run *run, const char *title, const char *note)
{
    char device[512], text[1024];
    plot_setting(out, "title", title);
    if (run) {
        snprintf(text, sizeof text, "run %.8s, %.10s", run->run.id, run->started_at);
        if (run->launch_count) {
            device_text(&run->launches[0].device, device, sizeof device);
            snprintf(text, sizeof text, "%s; run %.8s, %.10s", device, run->run.id,
                     run->started_at);
        }
        plot_setting(out, "subtitle", text);
    }
    plot_setting(out, "note", note ? note : "");
}

void plot_size(FILE *out, int wide, int high, int lines)
{
    plot_setting_number(out, "wide", wide);
    plot_setting_number(out, "high", high);
    plot_setting_number(out, "lines", lines);
}

void plot_size_rows(FILE *out, int rows, int chars)
{
    int pitch = rows <= 12 ? 30 : rows <= 30 ? 22 : 17;
    plot_size(out, 1100 + (chars > 45 ? 8 * (chars - 45) : 0), 160 + pitch * rows, rows + 12);
}

/* ------------------------------------------------------------------- units -- */

static const struct plot_scale byte_rates[] = {
    {1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1, "B/s"}};
static const struct plot_scale op_rates[] = {
    {1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1, "FLOP/s"}};
static const struct plot_scale times[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};

enum { SCALES = 4 };

static const struct plot_scale *scale_for(const struct plot_scale *scales, double largest)
{
    for (int i = 0; i < SCALES - 1; i++)
        if (largest >= scales[i].factor) return &scales[i];
    return &scales[SCALES - 1];
}

const struct plot_scale *plot_byte_rate(double largest)
{
    return scale_for(byte_rates, largest);
}

const struct plot_scale *plot_op_rate(double largest)
{
    return scale_for(op_rates, largest);
}

const struct plot_scale *plot_time(double largest)
{
    return scale_for(times, largest);
}

bool plot_ceiling_is_ops(const char *name)
{
    for (int a = 0; a < ASSAY_ARITHMETICS; a++)
        if (!strcmp(name, arithmetic_name((enum assay_arithmetic)a))) return true;
    return false;
}

/* ------------------------------------------------------------------- cases -- */

bool plot_takes(const struct plot_request *request, const struct case_id *id)
{
    char rest[RESULT_MAX_SHAPE + 16];
    if (request->operation && strcmp(request->operation, id->operation) != 0) return false;
    if (request->cases && !case_matches(request->cases, id)) return false;
    snprintf(rest, sizeof rest, "%s%s%s", id->shape, id->shape[0] ? " " : "",
             temperature_name((enum assay_temperature)id->temperature));
    return !request->only || text_glob(request->only, rest);
}

enum plot_outcome plot_nothing(const struct plot_request *request, const char *what)
{
    assay_error("nothing to draw: %s%s%s%s%s%s%s", what, request->operation ? "; operation " : "",
                request->operation ? request->operation : "", request->cases ? "; case " : "",
                request->cases ? request->cases : "", request->only ? "; only " : "",
                request->only ? request->only : "");
    return PLOT_NOTHING;
}

double plot_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}
