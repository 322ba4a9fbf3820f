/*
 * device_sim.c - a simulated device: stubs run in place of the variants, and sim_model.c
 * supplies the times. The simulated clock advances by those times without waiting. Memory
 * is host memory.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "case/fingerprint.h"
#include "case/registry.h"
#include "case/shape.h"
#include "device/counter_sets.h"
#include "device/device.h"
#include "device/host/host_memory.h"
#include "device/measure_request.h"
#include "device/sim/sim_model.h"
#include "device/sim/stub.h"

static const double SYNCHRONIZE_S = 10e-6;
static const double GAP_S = 20e-6;             /* added to each sample: flush and launch */
static const double HANG_LIMIT_S = 1;          /* real time until a simulated hang times out */
static const uint64_t THERMAL_SLOWDOWN = 0x20; /* NVML's bit */

struct role {
    struct assay_variant variant; /* first: a block's pointer to it is a pointer to the role */
    struct sim_case timing;
    double fixed_ns;         /* without any variation */
    int64_t samples, blocks; /* taken so far */
};

struct device {
    char text[RESULT_MAX_SPEC];
    struct sim_spec spec;
    int32_t flush;         /* enum cache_flush as asked for; nothing is flushed */
    double start_s, now_s; /* simulated time: start of this launch, and time since */
    bool throttled;        /* in the last block */
    struct assay_operation operation;
    struct role role[PLAN_MAX_VARIANTS];
};

/* ------------------------------------------------------------------ globs -- */

enum { NAME = 2 * ASSAY_MAX_NAME };

/* Whether the glob matches the operation/variant of one on the host, or a twin of it. */
static bool matches_any(const char *glob)
{
    const struct assay_variant *const *list;
    int count = registry_all_variants(&list);
    char plain[SIM_MAX_GLOB];
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(glob, "@"), glob);
    for (int i = 0; i < count; i++) {
        char name[NAME];
        snprintf(name, NAME, "%s/%s", list[i]->operation, list[i]->name);
        if (list[i]->place == ASSAY_HOST && text_glob(plain, name)) return true;
    }
    return false;
}

/* In the place of a glob that matches nothing: all variants of the operation with the most similar
 * name, or, where one variant was named, the most similar of it. "" when nothing is similar. */
static void suggest(const char *glob, char out[NAME])
{
    const struct assay_operation *const *operations;
    const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
    int count = registry_operations(&operations);
    const char *names[count + REGISTRY_MAX_VARIANTS], *slash = strchr(glob, '/');
    for (int i = 0; i < count; i++)
        names[i] = operations[i]->name;
    text_copy(out, NAME, glob);
    out[strcspn(out, "/*?[")] = '\0';
    const char *operation = text_nearest(out, names, count);
    snprintf(out, NAME, "%s%s", operation ? operation : "", operation ? "/*" : "");
    if (!operation || !slash || strpbrk(glob, "*?[")) return;
    int found = registry_variants(operation, variants, REGISTRY_MAX_VARIANTS);
    count = 0;
    for (int i = 0; i < found; i++)
        if (variants[i]->place == ASSAY_HOST) names[count++] = variants[i]->name;
    const char *variant = text_nearest(slash + 1, names, count);
    if (variant) snprintf(out, NAME, "%s/%s", operation, variant);
}

static int check_glob(const char *glob)
{
    char near[NAME];
    if (matches_any(glob)) return 0;
    suggest(glob, near);
    if (near[0] && matches_any(near))
        return assay_error("device 'sim': no operation/variant of the host matches '%s'; "
                           "did you mean '%s'?",
                           glob, near);
    return assay_error("device 'sim': no operation/variant of the host matches '%s' "
                       "(assay list variants)",
                       glob);
}

/* Every glob matches a host variant: a rule that matches nothing would let a test pass that tests
 * nothing. -1 with assay_error, which suggests a similar name. */
static int rules_check(const struct sim_spec *spec)
{
    for (int i = 0; i < spec->rule_count; i++)
        if (check_glob(spec->rules[i].glob) < 0) return -1;
    return 0;
}

/* ---------------------------------------------------------------- opening -- */

static int gpu_count(const struct sim_spec *spec)
{
    return spec->gpus > 0 ? spec->gpus : 1;
}

static int sim_open(const struct device_options *options, struct device **out)
{
    struct device *device = calloc(1, sizeof *device);
    if (device == NULL) return assay_error("out of memory for the simulated device");
    if (text_copy(device->text, sizeof device->text, options->spec) < 0) {
        free(device);
        return assay_error("a device is named in at most %d characters", RESULT_MAX_SPEC - 1);
    }
    int failed = sim_spec_parse(options->spec, &device->spec);
    if (!failed) failed = rules_check(&device->spec);
    if (!failed && device->spec.gpu < 0)
        failed = device_pick(options, gpu_count(&device->spec), &device->spec.gpu);
    if (failed) {
        free(device);
        return failed;
    }
    device->flush = options->flush >= 0 ? options->flush : FLUSH_READ;
    *out = device;
    return 0;
}

static void sim_close(struct device *device)
{
    free(device);
}

/* The spec with the number of the one GPU of several in the place of what named it. */
static void spec_text(const struct device *device, char out[RESULT_MAX_SPEC])
{
    const char *colon = strchr(device->text, ':');
    out[0] = '\0';
    if (device->spec.gpus == 0) {
        snprintf(out, RESULT_MAX_SPEC, "%s", device->text);
        return;
    }
    snprintf(out, RESULT_MAX_SPEC, "sim:gpu=%d", device->spec.gpu);
    for (const char *item = colon; item; item = strchr(item + 1, ','))
        if (strncmp(item + 1, "gpu=", 4) != 0)
            text_add(out, RESULT_MAX_SPEC, ",", "%.*s", (int)strcspn(item + 1, ","), item + 1);
}

/* The same on every machine, so that a suite has the same cases everywhere, and for every
 * spec, so that runs with different specs can be compared. */
static void sim_describe(struct device *device, struct device_info *info)
{
    device_info_init(info);
    info->place = ASSAY_HOST;
    info->simulated = true;
    info->simulates_counters = !isnan(device->spec.code);
    spec_text(device, info->spec);
    snprintf(info->name, sizeof info->name, "simulated device");
    info->peers = gpu_count(&device->spec);
    if (device->spec.gpus > 0) snprintf(info->uuid, sizeof info->uuid, "SIM-%d", device->spec.gpu);
    info->multiprocessors = 100;
    info->l1_bytes = (int64_t)256 << 10;
    info->cache_bytes = (int64_t)48 << 20;
    info->memory_bytes = (int64_t)64 << 30;
    info->clock = CLOCK_SIM;
    info->flush = device->flush;
    for (int i = 0; i < device->spec.rule_count; i++)
        if (device->spec.rules[i].fate == SIM_HANG) info->step_limit_s = HANG_LIMIT_S;
}

/* ---------------------------------------------------------------- staging -- */

/* How the launch ends: the first that applies, SIM_SLOW for one that is right. */
static enum sim_fate launch_fate(const struct sim_spec *spec, const struct case_id *id)
{
    static const enum sim_fate bad[] = {SIM_CRASH, SIM_HANG, SIM_WRONG};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (sim_spec_has(spec, bad[i], id->operation, id->variant)) return bad[i];
    return SIM_SLOW;
}

static int sim_stage(struct device *device, struct measure_request *request)
{
    const struct sim_spec *spec = &device->spec;
    struct sim_launch launch = sim_launch_begin(spec, request->launch_seed, request->launch);
    struct case_work work = case_work_of(&request->shape);
    struct case_id id;

    device->start_s = launch.start_s;
    for (int i = 0; i < request->count; i++) {
        const struct assay_variant *variant = request->variant[i];
        struct role *role = &device->role[i];
        case_id_of(&id, variant, &request->shape, request->temperature);
        *role = (struct role){.variant = stub_variant(variant, launch_fate(spec, &id)),
                              .timing = sim_case_begin(spec, &launch, &id, &work),
                              .fixed_ns = sim_fixed_ns(&id, &work)};
        request->variant[i] = &role->variant;
        request->lost[i] = sim_spec_has(spec, SIM_MISSING, id.operation, id.variant);
    }
    device->operation = stub_operation(request->shape.operation);
    request->shape.operation = &device->operation;
    return 0;
}

/* ----------------------------------------------------------------- timing -- */

static double sim_now_s(struct device *device)
{
    return device->start_s + device->now_s;
}

static int sim_synchronize(struct device *device)
{
    device->now_s += SYNCHRONIZE_S;
    return 0;
}

/* Runs the stub once, because the check after the last block needs its outputs. */
static int sim_sample(struct device *device, const struct block *block, struct block_sample *out,
                      struct block_totals *totals, struct code_seen *code)
{
    struct role *first = (struct role *)block->variant;
    *totals = (struct block_totals){NAN, block->count};
    if (!block->turn) code_seen_clear(code);
    if (block->variant->launch(block->call) < 0) return -1;
    device->throttled = sim_is_throttled(&device->spec, &first->timing, first->blocks++);
    for (int i = 0; i < block->count; i++) {
        struct role *role = (struct role *)block_turn_of(block, i).variant;
        double ns = sim_sample_ns(&device->spec, &role->timing, role->samples++, sim_now_s(device),
                                  device->throttled);
        device->now_s += ns * 1e-9 + GAP_S;
        out[i] = (struct block_sample){.time_ns = ns,
                                       .busy_ns = NAN,
                                       .event_ns = NAN,
                                       .mark = device->throttled ? MARK_THROTTLED : 0};
    }
    return 0;
}

/* The launch of a stub, with the machine code that the spec speaks of. */
static int sim_trace(struct device *device, enum trace_step step,
                     const struct assay_variant *variant, struct fingerprint *print)
{
    char code[SIM_CODE];
    if (step != TRACE_LAUNCH) return 0;
    sim_spec_code(&device->spec, variant->operation, variant->name, code);
    fingerprint_add(print, "launch: kernel %s; grid 1 1 1; block 16 1 1; code %s", variant->name,
                    code);
    if (isnan(device->spec.code))
        fingerprint_doubt(print, "this simulated device does not say which code it runs (code=N)");
    return 0;
}

/* One kernel of as many warp instructions as its time is long; more in the second mode. */
static int sim_profile(struct device *device, const struct block *block, struct profile *profile)
{
    const struct role *role = (const struct role *)block->variant;
    const struct assay_variant *variant = block->variant;
    double work = role->fixed_ns * sim_spec_work(&device->spec, variant->operation, variant->name) *
                  (role->timing.in_mode ? 1 + device->spec.mode_pct / 100 : 1);
    struct profile_kernel *kernel = &profile->kernels[0];
    *kernel = (struct profile_kernel){.activity = CUPTI_KERNEL,
                                      .count = 1,
                                      .grid = {100, 1, 1},
                                      .block = {128, 1, 1},
                                      .registers = 32,
                                      .busy_ns = work,
                                      .min_ns = work,
                                      .max_ns = work};
    snprintf(kernel->name, sizeof kernel->name, "%s", variant->name);
    profile->activities = profile->kernel_count = profile->passes = 1;
    profile->span_ns = profile->busy_ns = work;
    profile->idle_ns = 0;
    for (int i = 0; i < profile->counter_count; i++) {
        bool counted = strcmp(profile->counter[i], COUNTER_INSTRUCTIONS) == 0;
        profile->whole[i] = kernel->counter[i] = counted ? round(1000 * work) : 0;
    }
    return 0;
}

static void sim_state(struct device *device, struct device_state *state)
{
    device_state_init(state);
    if (device->throttled) state->clock_reasons = THERMAL_SLOWDOWN;
}

const struct device_ops device_sim = {
    .name = "sim",
    .by_name_only = true,
    .open = sim_open,
    .close = sim_close,
    .describe = sim_describe,
    HOST_MEMORY_OPS,
    .stage = sim_stage,
    .now_s = sim_now_s,
    .synchronize = sim_synchronize,
    .sample = sim_sample,
    .state = sim_state,
    .profile = sim_profile,
    .trace = sim_trace,
};
