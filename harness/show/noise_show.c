/* noise_show.c - what a database knows of the noise of unchanged code. */
#include "show/show.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "judge/noise.h"
#include "store/store_gate.h"

static const char *const legend =
    "p50, p95 and max: by how much the two launches of a pair differ. floor: what ten rounds of a "
    "gate must exceed in a case that has not yet twenty blocks of three sessions of its own.";

struct known {
    struct noise_device device;
    int blocks, sessions;
    struct noise_band bands[NOISE_DECADES];
    int band_count;
};

/* A floor is of one card, and a name is of many: the beginning of its uuid ("GPU-d65d7fc4"). */
enum { UUID_SHOWN = 12 };

static void title_of(const struct known *known, char *out, size_t size)
{
    const struct noise_device *device = &known->device;
    snprintf(out, size, "%s%s%s%.*s%s%s, clock %s, flush %s: %d block%s, %d session%s",
             device->simulated ? "SIMULATED, " : "", device->name, device->uuid[0] ? " " : "",
             UUID_SHOWN, device->uuid, device->driver[0] ? ", driver " : "", device->driver,
             device->clock, device->flush, known->blocks, known->blocks == 1 ? "" : "s",
             known->sessions, known->sessions == 1 ? "" : "s");
}

/* "10 to 100 us". */
static void span_of(const struct noise_band *band, char out[UNITS_MAX])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int unit = 0;
    double least = band->least_ns;
    for (; least >= 1000 && unit < 3; unit++)
        least /= 1000;
    if (least == 100 && unit < 3)
        snprintf(out, UNITS_MAX, "100 %s to 1 %s", units[unit], units[unit + 1]);
    else
        snprintf(out, UNITS_MAX, "%.0f to %.0f %s", least, 10 * least, units[unit]);
}

static void add_row(struct table *table, const struct noise_band *band)
{
    char text[UNITS_MAX];
    span_of(band, text);
    table_cell(table, "%s", text);
    table_cell(table, "%d", band->cases);
    table_cell(table, "%d", band->blocks);
    table_cell(table, "%d", band->pairs);
    table_cell(table, "%s", units_percent(text, band->p50));
    table_cell(table, "%s", units_percent(text, band->p95));
    table_cell(table, "%s", units_percent(text, band->max));
    table_cell(table, "%s", units_percent(text, band->floor));
}

static int write_rows(FILE *out, const struct known *known, int width, bool is_md)
{
    static const char *const headings[] = {"time", ">cases", ">blocks", ">pairs",
                                           ">p50", ">p95",   ">max",    ">floor"};
    struct table table;
    table_init(&table, headings, sizeof headings / sizeof *headings);
    table.is_md = is_md;
    for (int i = 0; i < known->band_count; i++)
        add_row(&table, &known->bands[i]);
    if (is_md) fputc('\n', out);
    return table_print(&table, out, width);
}

static FIELD_TABLE(device_fields, FIELDS(noise_device, comparability),
                   FIELD_AS("device", noise_device, name),
                   FIELDS(noise_device, uuid, driver, clock, flush, simulated));
static FIELD_TABLE(band_fields,
                   FIELDS(noise_band, least_ns, cases, blocks, pairs, p50, p95, max, floor));

static void device_value(struct json *json, const struct known *known)
{
    json_begin_object(json);
    json_fields(json, device_fields, &known->device);
    json_int_member(json, "blocks", known->blocks);
    json_int_member(json, "sessions", known->sessions);
    show_json_list(json, "bands", band_fields, known->bands, known->band_count,
                   sizeof *known->bands);
    json_end(json);
}

static int write_json(FILE *out, const struct known *known, int count)
{
    struct json json;
    json_begin(&json, out, 2);
    json_begin_object(&json);
    json_int_member(&json, "format", 1);
    json_array_member(&json, "devices");
    for (int i = 0; i < count; i++)
        device_value(&json, &known[i]);
    return json_finish(&json);
}

static int write_text(FILE *out, const struct known *known, int count, int width, bool is_md)
{
    for (int i = 0; i < count; i++) {
        char title[512];
        title_of(&known[i], title, sizeof title);
        if (i > 0) fputc('\n', out);
        text_wrap(out, title, 0, 2, width);
        if (write_rows(out, &known[i], width, is_md) != 0) return -1;
    }
    fputc('\n', out);
    text_wrap(out, legend, 0, 0, width);
    return ferror(out) ? assay_error("cannot write the noise of unchanged code") : 0;
}

static int write_known(FILE *out, const struct known *known, int count, const char *format,
                       int width)
{
    if (strcmp(format, "json") == 0) return write_json(out, known, count);
    if (strcmp(format, "md") == 0) return write_text(out, known, count, TERMINAL_ENDLESS, true);
    if (strcmp(format, "table") == 0) return write_text(out, known, count, width, false);
    return assay_error("noise is not shown as '%s'", format);
}

struct known_list {
    struct known *item;
    int count;
};

static int note_device(const struct noise_device *device, void *context)
{
    struct known_list *list = context;
    struct known *known =
        grow_add(&list->item, &list->count, sizeof *known, "the noise of devices");
    if (known) known->device = *device;
    return known ? 0 : -1;
}

static int read_device(struct known *known, struct store *store)
{
    const char *key = known->device.comparability;
    struct noise noise = {0};
    struct noise_pair *pairs = NULL;
    int count = 0;
    int status = store_read_noise(store, key, "time", NULL, &noise);
    if (status == 0) status = store_read_noise_pairs(store, key, &pairs, &count);
    if (status == 0) {
        known->blocks = noise.count;
        known->sessions = noise_sessions(&noise);
        known->band_count = noise_bands_make(known->bands, &noise, pairs, count);
    }
    free(pairs);
    noise_release(&noise);
    return status;
}

int noise_show(FILE *out, struct store *store, const char *format, int width)
{
    struct known_list list = {0};
    int status = store_each_noise_device(store, note_device, &list);
    for (int i = 0; status == 0 && i < list.count; i++)
        status = read_device(&list.item[i], store);
    if (status == 0)
        status = list.count ? write_known(out, list.item, list.count, format, width) : 1;
    free(list.item);
    return status;
}
