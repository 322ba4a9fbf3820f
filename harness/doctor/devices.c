#include <string.h>

#include "base/json.h"
#include "base/table.h"
#include "base/units.h"
#include "doctor/doctor.h"
#include "run/child.h"

enum { MAX_DEVICES = 64 };

int devices_probe(const char *spec, bool try_counters, struct device_info *info)
{
    struct child child;
    struct device_options options = {.spec = spec, .try_counters = try_counters, .flush = -1};
    if (child_start(&child, &options) < 0) return -1;
    *info = child.device;
    child_quit(&child, NULL);
    return 0;
}

static int find_devices(struct device_info infos[MAX_DEVICES])
{
    int count = 0;
    for (int i = 0; count < MAX_DEVICES - 1; i++) {
        char spec[RESULT_MAX_SPEC];
        snprintf(spec, sizeof spec, "cuda:%d", i);
        if (devices_probe(spec, false, &infos[count]) < 0) break;
        count++;
    }
    if (devices_probe("host", false, &infos[count]) == 0) count++;
    return count;
}

static int print_table(FILE *out, const struct device_info *infos, int count, int width)
{
    static const char *const headings[] = {"device",  ">units", ">cache",
                                           ">memory", "clock",  "name"};
    struct table table;
    table_init(&table, headings, sizeof headings / sizeof *headings);
    for (int i = 0; i < count; i++) {
        char bytes[UNITS_MAX];
        table_cell(&table, "%s", infos[i].spec);
        table_cell(&table, "%d", infos[i].multiprocessors);
        table_cell(&table, "%s", units_bytes(bytes, (double)infos[i].cache_bytes));
        table_cell(&table, "%s", units_bytes(bytes, (double)infos[i].memory_bytes));
        table_cell(&table, "%s", clock_name(infos[i].clock));
        table_cell(&table, "%s", infos[i].name);
    }
    return table_print(&table, out, width);
}

static int print_json(FILE *out, const struct device_info *infos, int count)
{
    struct json json;
    json_begin(&json, out, 2);
    json_begin_object(&json);
    json_int_member(&json, "format", 1);
    json_array_member(&json, "devices");
    for (int i = 0; i < count; i++) {
        json_begin_object(&json);
        json_text_member(&json, "device", infos[i].spec);
        json_text_member(&json, "name", infos[i].name);
        json_text_member(&json, "uuid", infos[i].uuid);
        json_int_member(&json, "multiprocessors", infos[i].multiprocessors);
        json_int_member(&json, "cache_bytes", infos[i].cache_bytes);
        json_int_member(&json, "memory_bytes", infos[i].memory_bytes);
        json_text_member(&json, "clock", clock_name(infos[i].clock));
        json_number_member(&json, "event_floor_ns", infos[i].event_floor_ns);
        json_end(&json);
    }
    return json_finish(&json);
}

int devices_list(FILE *out, const char *format, int width)
{
    struct device_info infos[MAX_DEVICES];
    int count = find_devices(infos);
    if (count == 0) return assay_error("no device opens");
    if (strcmp(format, "json") == 0) return print_json(out, infos, count);
    return print_table(out, infos, count, width);
}
