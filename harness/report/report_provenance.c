/* report_provenance.c - the provenance of a run. The host's name is left out, because a report
 * is made to be shared. */
#include <math.h>
#include <stdarg.h>

#include "base/text.h"
#include "base/units.h"
#include "report/report.h"

struct facts {
    void (*each)(void *context, const char *name, const char *value);
    void *context;
};

/* A fact that is unknown is left out. */
__attribute__((format(printf, 3, 4))) static void fact(const struct facts *facts, const char *name,
                                                       const char *format, ...)
{
    char value[2 * RESULT_MAX_PROPERTY + 1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    if (value[0]) facts->each(facts->context, name, value);
}

static void of_run(const struct facts *facts, const struct stored_run *run)
{
    fact(facts, "run", "%s", run->run.id);
    fact(facts, "label", "%s", run->run.label);
    fact(facts, "suite", "%s", run->run.suite);
    fact(facts, "command", "%s", run->run.command);
    fact(facts, "started (UTC)", "%s", run->started_at);
    fact(facts, "ended (UTC)", "%s", run->ended_at);
    fact(facts, "status", "%s%s", run->status, run->run.simulated ? ", SIMULATED" : "");
}

static void of_program(const struct facts *facts, const struct program_info *program)
{
    fact(facts, "assay", "%s", program->version);
    fact(facts, "commit", "%s%s", program->commit,
         program->diff_hash[0] ? ", with uncommitted changes" : "");
    fact(facts, "compiler", "%s", program->compiler);
    fact(facts, "flags", "%s", program->flags);
    fact(facts, "nvcc", "%s", program->nvcc);
    fact(facts, "nvcc flags", "%s", program->nvcc_flags);
}

static void of_host(const struct facts *facts, const struct host_info *host)
{
    char memory[UNITS_MAX];
    fact(facts, "processor", "%s", host->cpu);
    if (host->cores > 0) fact(facts, "cores", "%d", host->cores);
    if (host->memory_bytes > 0)
        fact(facts, "host memory", "%s", units_bytes(memory, (double)host->memory_bytes));
    fact(facts, "system", "%s%s%s", host->os, host->os[0] && host->kernel[0] ? ", " : "",
         host->kernel);
    fact(facts, "container", "%s", host->container);
}

static void of_device(const struct facts *facts, const struct device_info *device)
{
    static const char *const switches[] = {"off", "on"};
    char text[UNITS_MAX];
    fact(facts, "device", "%s%s", device->name, device->simulated ? " (simulated)" : "");
    fact(facts, "uuid", "%s", device->uuid);
    fact(facts, "vbios", "%s", device->vbios);
    fact(facts, "driver", "%s", device->driver);
    fact(facts, "CUDA runtime", "%s", device->runtime);
    fact(facts, "library", "%s", device->library);
    if (device->multiprocessors > 0) fact(facts, "multiprocessors", "%d", device->multiprocessors);
    if (device->cache_bytes > 0)
        fact(facts, "cache", "%s", units_bytes(text, (double)device->cache_bytes));
    if (device->memory_bytes > 0)
        fact(facts, "memory", "%s", units_bytes(text, (double)device->memory_bytes));
    if (device->power_limit_w > 0) fact(facts, "power limit", "%.0f W", device->power_limit_w);
    if (device->ecc >= 0) fact(facts, "ECC", "%s", switches[device->ecc != 0]);
    if (device->mig >= 0) fact(facts, "MIG", "%s", switches[device->mig != 0]);
    fact(facts, "clock", "%s", clock_name(device->clock));
    units_time(text, device->event_floor_ns);
    if (!isnan(device->event_floor_ns)) fact(facts, "event floor", "%s", text);
    fact(facts, "not measurable", "%s", device->lost);
}

static void of_object(const struct facts *facts, const struct object_info *object)
{
    fact(facts, "object", object->commit[0] ? "%s, SHA-256 %s, commit %s" : "%s, SHA-256 %s",
         object->name, object->sha256, object->commit);
}

static void of_launch(const struct facts *facts, const struct launch_info *launch)
{
    char name[32], text[256] = "";
    const struct device_state *start = &launch->start;
    snprintf(name, sizeof name, "launch %d", launch->number);
    text_add(text, sizeof text, "", "seed %llu, flush %s", (unsigned long long)launch->seed,
             flush_name(launch->device.flush));
    if (!isnan(start->sm_mhz)) text_add(text, sizeof text, ", ", "%.0f MHz", start->sm_mhz);
    if (!isnan(start->temperature_c))
        text_add(text, sizeof text, ", ", "%.0f degrees C at its start", start->temperature_c);
    fact(facts, name, "%s", text);
}

void report_provenance(const struct stored_run *run,
                       void (*each)(void *context, const char *name, const char *value),
                       void *context)
{
    struct facts facts = {each, context};
    of_run(&facts, run);
    of_program(&facts, &run->program);
    for (int i = 0; i < run->run.object_count; i++)
        of_object(&facts, &run->run.objects[i]);
    of_host(&facts, &run->host);
    if (run->launch_count) of_device(&facts, &run->launches[0].device);
    for (int i = 0; i < run->launch_count; i++)
        of_launch(&facts, &run->launches[i]);
}
