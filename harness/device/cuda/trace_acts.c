#define _GNU_SOURCE /* vasprintf */
#include "device/cuda/trace_acts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MOST_LINES = 1 << 18 };
/* Of one launch: so many the host enqueues while the stream is held for it (measurement.c). With
 * more, how fast it does so may show. */
enum { MANY_ACTS = 100 };

struct setting {
    const void *handle;
    int id;
    struct code_hash value;
};

/* A graph, or an executable one: what was captured into it. */
struct graph {
    const void *handle;
    struct code_hash content;
    int kernels;
};

struct trace_acts {
    struct trace_places places;
    bool is_open;
    int launch;   /* number of the one that is traced; 0: the setup */
    char **lines; /* of this part */
    int count;
    int kernels;             /* that run in this part */
    int times;               /* that the setup took */
    struct code_hash trials; /* what it did for them */
    int trial_count;
    bool has_waited, needs_program;
    char doubt[ASSAY_MAX_REASON];

    /* These stay from case to case. */
    struct setting *settings;
    int setting_count;
    bool is_capturing;
    struct graph capture;
    struct graph *graphs;
    int graph_count;
};

struct trace_acts *trace_acts_new(trace_lookup *lookup, trace_plain *plain)
{
    struct trace_acts *acts = calloc(1, sizeof *acts);
    if (!acts) return NULL;
    acts->places.lookup = lookup;
    acts->places.plain = plain;
    return acts;
}

static void clear_lines(struct trace_acts *acts)
{
    for (int i = 0; i < acts->count; i++)
        free(acts->lines[i]);
    free(acts->lines);
    acts->lines = NULL;
    acts->count = 0;
}

void trace_acts_free(struct trace_acts *acts)
{
    if (!acts) return;
    clear_lines(acts);
    trace_places_forget(&acts->places);
    free(acts->settings);
    free(acts->graphs);
    free(acts);
}

bool trace_acts_open(const struct trace_acts *acts)
{
    return acts->is_open;
}

/* ------------------------------------------------------------------ parts -- */

void trace_acts_doubt(struct trace_acts *acts, const char *format, ...)
{
    va_list arguments;
    if (acts->doubt[0]) return;
    va_start(arguments, format);
    vsnprintf(acts->doubt, sizeof acts->doubt, format, arguments);
    va_end(arguments);
}

/* The steps of a setup that times candidates, which may be thousands, are one fact, behind all
 * others: what it chose, and how that differs, is seen in the launches. */
static void fold_trials(struct trace_acts *acts)
{
    acts->trial_count = acts->count;
    for (int i = 0; i < acts->count; i++)
        code_hash_add(&acts->trials, acts->lines[i], strlen(acts->lines[i]));
}

static void tell_trials(const struct trace_acts *acts, struct fingerprint *print)
{
    if (acts->trial_count > 0)
        fingerprint_add(print, "trials of the setup: steps %d; content %016" PRIx64 "%016" PRIx64,
                        acts->trial_count, acts->trials.word[0], acts->trials.word[1]);
}

static void tell_part(struct trace_acts *acts, int kernels, struct fingerprint *print)
{
    char part[32] = "setup";
    if (acts->times > 0) {
        fold_trials(acts);
        clear_lines(acts);
    }
    if (acts->launch > 0) snprintf(part, sizeof part, "launch %d", acts->launch);
    for (int i = 0; i < acts->count; i++)
        fingerprint_add(print, "%s, step %d: %s", part, i + 1, acts->lines[i]);
    if (acts->launch > 0 && acts->count > MANY_ACTS) acts->needs_program = true;
    if (acts->launch > 0 && acts->count == 0)
        fingerprint_add(print, "%s: nothing is launched", part);
    if (kernels >= 0 && kernels != acts->kernels)
        trace_acts_doubt(acts, "%s ran %d kernels, and %d were seen launched", part, kernels,
                         acts->kernels);
}

static void begin_part(struct trace_acts *acts, int launch)
{
    clear_lines(acts);
    acts->launch = launch;
    acts->kernels = 0;
    acts->times = 0;
    acts->has_waited = false;
}

static void begin_case(struct trace_acts *acts)
{
    begin_part(acts, 0);
    trace_places_forget(&acts->places);
    acts->trials = (struct code_hash){{0, 0}};
    acts->trial_count = 0;
    acts->is_open = true;
    acts->needs_program = false;
    acts->doubt[0] = '\0';
}

void trace_acts_step(struct trace_acts *acts, enum trace_step step, int kernels,
                     struct fingerprint *print)
{
    if (step == TRACE_SETUP) {
        begin_case(acts);
        return;
    }
    tell_part(acts, kernels, print);
    begin_part(acts, acts->launch + 1);
    if (step != TRACE_END) return;
    tell_trials(acts, print);
    acts->is_open = false;
    print->needs_program |= acts->needs_program;
    if (acts->is_capturing) trace_acts_doubt(acts, "a stream is still captured");
    if (acts->places.is_incomplete)
        trace_acts_doubt(acts, "out of memory for its handles and allocations");
    if (acts->doubt[0]) fingerprint_doubt(print, "%s", acts->doubt);
}

/* ------------------------------------------------------------------- acts -- */

static void keep_line(struct trace_acts *acts, char *text)
{
    char **line = acts->count < MOST_LINES
                      ? grow_add(&acts->lines, &acts->count, sizeof *line, "a trace")
                      : NULL;
    if (line) {
        *line = text;
        return;
    }
    free(text);
    trace_acts_doubt(acts, "it enqueues more than can be kept");
}

void trace_act(struct trace_acts *acts, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        trace_acts_doubt(acts, "out of memory for its trace");
        return;
    }
    if (acts->is_capturing) code_hash_add(&acts->capture.content, text, (size_t)length);
    if (acts->is_capturing || !acts->is_open) {
        free(text);
        return;
    }
    /* The host came between two things that it enqueued for one launch. */
    if (acts->launch > 0 && acts->has_waited) acts->needs_program = true;
    keep_line(acts, text);
}

void trace_acts_kernels(struct trace_acts *acts, int kernels)
{
    if (acts->is_capturing)
        acts->capture.kernels += kernels;
    else
        acts->kernels += kernels;
}

void trace_acts_waited(struct trace_acts *acts)
{
    acts->has_waited = true;
}

void trace_acts_host(struct trace_acts *acts)
{
    acts->needs_program = true;
}

void trace_acts_read(struct trace_acts *acts)
{
    if (acts->is_capturing) acts->needs_program = true;
}

float trace_acts_timed(struct trace_acts *acts)
{
    if (acts->launch == 0) return (float)++acts->times;
    acts->needs_program = true;
    return 0;
}

/* ----------------------------------------------------------------- places -- */

int trace_handle(struct trace_acts *acts, const void *handle)
{
    return trace_places_handle(&acts->places, handle);
}

void trace_handle_gone(struct trace_acts *acts, const void *handle)
{
    trace_places_handle_gone(&acts->places, handle);
}

void trace_address(struct trace_acts *acts, uint64_t address, char out[TRACE_ADDRESS])
{
    trace_places_address(&acts->places, address, out);
}

bool trace_is_device(struct trace_acts *acts, uint64_t address)
{
    return trace_places_is_device(&acts->places, address);
}

struct code_hash trace_bytes(struct trace_acts *acts, const void *bytes, size_t size)
{
    return trace_places_hash(&acts->places, bytes, size, &acts->needs_program);
}

/* --------------------------------------------------------------- settings -- */

void trace_set(struct trace_acts *acts, const void *handle, int id, const void *value, size_t size)
{
    struct setting *setting = NULL;
    for (int i = 0; i < acts->setting_count && !setting; i++)
        if (acts->settings[i].handle == handle && acts->settings[i].id == id)
            setting = &acts->settings[i];
    if (!setting)
        setting = grow_add(&acts->settings, &acts->setting_count, sizeof *setting, "settings");
    if (!setting) {
        trace_acts_doubt(acts, "out of memory for settings");
        return;
    }
    *setting = (struct setting){handle, id, trace_bytes(acts, value, size)};
}

/* In whatever order they were set. */
uint64_t trace_settings(const struct trace_acts *acts, const void *handle)
{
    uint64_t sum = 0;
    for (int i = 0; i < acts->setting_count; i++) {
        const struct setting *setting = &acts->settings[i];
        if (setting->handle != handle) continue;
        const uint64_t parts[] = {(uint64_t)setting->id, setting->value.word[0],
                                  setting->value.word[1]};
        sum += code_hash_of(parts, sizeof parts).word[0];
    }
    return sum;
}

/* ----------------------------------------------------------------- graphs -- */

void trace_capture_begin(struct trace_acts *acts)
{
    if (acts->is_capturing) trace_acts_doubt(acts, "two streams are captured at a time");
    acts->is_capturing = true;
    acts->capture = (struct graph){0};
}

static struct graph *graph_of(struct trace_acts *acts, const void *handle)
{
    for (int i = 0; i < acts->graph_count; i++)
        if (acts->graphs[i].handle == handle) return &acts->graphs[i];
    return NULL;
}

/* A handle is used again after its graph is gone. */
static void keep_graph(struct trace_acts *acts, const void *handle, const struct graph *content)
{
    struct graph *graph = graph_of(acts, handle);
    if (!graph) graph = grow_add(&acts->graphs, &acts->graph_count, sizeof *graph, "graphs");
    if (!graph) {
        trace_acts_doubt(acts, "out of memory for graphs");
        return;
    }
    *graph = *content;
    graph->handle = handle;
}

void trace_capture_end(struct trace_acts *acts, const void *graph)
{
    acts->is_capturing = false;
    if (graph) keep_graph(acts, graph, &acts->capture);
}

void trace_graph_made(struct trace_acts *acts, const void *graph, const void *executable)
{
    const struct graph *content = graph_of(acts, graph);
    if (content) {
        struct graph copy = *content;
        keep_graph(acts, executable, &copy);
    } else {
        trace_acts_doubt(acts, "it makes a graph otherwise than by capturing a stream");
    }
}

void trace_graph_launched(struct trace_acts *acts, const void *executable, const void *stream)
{
    const struct graph *graph = graph_of(acts, executable);
    if (!graph) {
        trace_acts_doubt(acts, "it launches a graph that was not seen captured");
        return;
    }
    trace_acts_kernels(acts, graph->kernels);
    trace_act(acts, "graph of %d kernels; content %016" PRIx64 "; stream %d", graph->kernels,
              graph->content.word[0], trace_handle(acts, stream));
}
