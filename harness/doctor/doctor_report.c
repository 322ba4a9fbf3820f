/* doctor_report.c - writes the findings as a table and as JSON. */
#include "base/field.h"
#include "base/json.h"
#include "base/text.h"
#include "doctor/doctor.h"

enum { TEXT_COLUMN = 29 };

static void print_advice(FILE *out, const char *label, const char *text, int width)
{
    if (!text[0]) return;
    fprintf(out, "%*s%-7s", TEXT_COLUMN, "", label);
    text_wrap(out, text, TEXT_COLUMN + 7, TEXT_COLUMN + 7, width);
}

static void print_finding(FILE *out, const struct doctor_finding *finding, int width)
{
    fprintf(out, "%-9s%-*s", words_name(&doctor_state_words, finding->state), TEXT_COLUMN - 9,
            finding->name);
    text_wrap(out, finding->found, TEXT_COLUMN, TEXT_COLUMN, width);
    print_advice(out, "means:", finding->means, width);
    print_advice(out, "do:", finding->remedy, width);
}

void doctor_write_table(FILE *out, const struct doctor_facts *facts,
                        const struct doctor_finding *findings, int count, int width)
{
    for (int i = 0; i < count; i++)
        print_finding(out, &findings[i], width);
    const char *gpu = facts->gpu.is_open ? facts->gpu.info.spec : "";
    const char *host = facts->host.is_open ? "host" : "";
    fprintf(out, "\nCan be measured: %s%s%s\n", gpu, gpu[0] && host[0] ? ", " : "",
            gpu[0] || host[0] ? host : "nothing");
}

static void write_device(struct json *json, const char *spec, const struct doctor_device *device)
{
    if (!device->is_asked) return;
    json_begin_object(json);
    json_known_member(json, "device", device->is_open ? device->info.spec : spec);
    json_bool_member(json, "measurable", device->is_open);
    json_known_member(json, "name", device->info.name);
    json_known_member(json, "uuid", device->info.uuid);
    json_text_member(json, "clock", device->is_open ? clock_name(device->info.clock) : NULL);
    json_known_member(json, "reason", device->error);
    json_end(json);
}

static FIELD_TABLE(finding_fields, FIELDS(doctor_finding, name),
                   FIELD_OF_WORDS(doctor_finding, state, doctor_state_words),
                   FIELDS(doctor_finding, found, means, remedy));

int doctor_write_json(FILE *out, const struct doctor_facts *facts,
                      const struct doctor_finding *findings, int count)
{
    struct json json;
    json_begin(&json, out, 2);
    json_begin_object(&json);
    json_known_member(&json, "assay", facts->version);
    json_int_member(&json, "format", 1);
    json_array_member(&json, "devices");
    write_device(&json, "cuda", &facts->gpu);
    write_device(&json, "host", &facts->host);
    json_end(&json);
    json_array_member(&json, "checks");
    for (int i = 0; i < count; i++)
        json_fields_element(&json, finding_fields, &findings[i]);
    json_end(&json);
    json_int_member(&json, "exit", doctor_exit(facts));
    return json_finish(&json);
}
