#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "case/run_record.h"
#include "device/device.h"
#include "object/object.h"
#include "run/device_lock.h"
#include "run/interrupt.h"
#include "run/lanes.h"
#include "run/runner_state.h"
#include "show/view.h"
#include "store/store_shard.h"

/* Ceilings come first in the plan and are the whole run's: the first round measures them. */
struct plan launch_plan(const struct plan *plan, int round)
{
    struct plan part = *plan;
    while (round > 1 && part.count > 0 && part.groups->purpose == PURPOSE_CEILING) {
        part.groups++;
        part.count--;
    }
    return part;
}

int launch_begin(struct runner *runner, const struct plan *plan, int number)
{
    runner->launch.device = runner->child.device;
    runner->launch.start = runner->child.state;
    machine_use_read(&runner->use, "");
    surroundings_between(&runner->launch.around, &runner->use, &runner->use);
    runner->launch.around.end_load = NAN;
    if (runner->resuming) return 0; /* continues the launch that resume() found */
    runner->launch.number = number;
    runner->launch.seed = rng_mix(runner->options->seed, (uint64_t)number);
    snprintf(runner->launch.run_id, sizeof runner->launch.run_id, "%s", runner->run.id);
    return store_begin_launch(runner->store, &runner->launch, plan);
}

int launch_end(struct runner *runner)
{
    struct device_state state = runner->child.state;
    if (runner->child.pid > 0) child_quit(&runner->child, &state);
    struct surroundings around;
    struct machine_use use;
    machine_use_read(&use, ""); /* the worker's time is counted now that it has ended */
    surroundings_between(&around, &runner->use, &use);
    return store_end_launch(runner->store, runner->launch.id, &state, &around);
}

static enum attempt_end run_launch(struct runner *runner, int number)
{
    struct plan plan = launch_plan(&runner->plan, number);
    enum attempt_end end = ensure_child(runner, runner->options->use_events);
    if (end != ATTEMPT_DONE) return end;
    if (launch_begin(runner, &plan, number) < 0) return ATTEMPT_FAILED;
    progress_begin(&runner->progress, stderr, plan.count, run_plan_cases(&plan));
    for (int i = 0; i < plan.count && end == ATTEMPT_DONE; i++)
        end = attempt_group(runner, &plan.groups[i]);
    progress_end(&runner->progress);
    if (end != ATTEMPT_DONE) return end;
    return launch_end(runner) < 0 ? ATTEMPT_FAILED : end;
}

/* A launch must be measured on one device, with one clock and one flush method. */
static int check_same_conditions(const struct runner *runner)
{
    const struct device_info *then = &runner->launch.device, *now = &runner->child.device;
    if (strcmp(then->name, now->name) != 0 || strcmp(then->uuid, now->uuid) != 0)
        return assay_error("run %.8s was begun on %s (--device %s), not on %s", runner->run.id,
                           then->name, then->spec, now->name);
    if (then->clock != now->clock)
        return assay_error("run %.8s was begun with the clock %s, which is %s now", runner->run.id,
                           clock_name((enum clock_source)then->clock),
                           clock_name((enum clock_source)now->clock));
    if (then->flush != now->flush)
        return assay_error("run %.8s was begun with --flush %s", runner->run.id,
                           flush_name((enum cache_flush)then->flush));
    return 0;
}

/* What is measured under one name must be one code. */
static int check_same_objects(const struct runner *runner, const struct run_info *then)
{
    bool same = then->object_count == runner->run.object_count;
    for (int i = 0; i < then->object_count && same; i++)
        same = strcmp(then->objects[i].sha256, runner->objects[i].sha256) == 0;
    return same ? 0 : assay_error("run %.8s was begun with other objects (--load)", then->id);
}

/* The ceilings it has measured judge the rest (floor.h). Its objects must be those of now. */
static int take_over_run(struct runner *runner)
{
    struct stored_run stored;
    if (store_read_run(runner->store, runner->run.id, false, &stored) < 0) return -1;
    struct view view = {.run = &stored, .most_spread = NOISY_SPREAD};
    view_collect_ceilings(&view);
    runner->ceilings = view.ceilings;
    int status = check_same_objects(runner, &stored.run);
    stored_run_release(&stored);
    return status;
}

static const char *share_text(const struct shard *shard, char out[64])
{
    snprintf(out, 64, shard->count > 0 ? "share %d of %d" : "the whole suite", shard->index,
             shard->count);
    return out;
}

static int refuse_share(const char *run_id, const struct shard *then, const struct shard *now)
{
    char was[64], is[64], option[64];
    snprintf(option, sizeof option, then->count > 0 ? "%d/%d" : "none", then->index, then->count);
    return assay_error("run %.8s is %s, and not %s: resume it with --shard %s", run_id,
                       share_text(then, was), share_text(now, is), option);
}

/* Before the plan is made: which run is resumed, and which share it is of which job. */
static int find_resumed(struct runner *runner)
{
    struct shard then = {0}, *now = &runner->run.shard;
    struct store *store;
    if (store_open(&store, runner->options->database, STORE_WRITE) < 0) return -1;
    int status = store_find_unfinished(store, runner->run.suite, runner->resumed);
    if (status == 0) status = store_read_shard(store, runner->resumed, &then, runner->began);
    store_close(store);
    if (status != 0) return -1;
    if (then.count != now->count || then.index != now->index)
        return refuse_share(runner->resumed, &then, now);
    *now = then;
    return 0;
}

/* The run that was found, and its unfinished launch. */
static int resume(struct runner *runner, int *first)
{
    int last = 0;
    snprintf(runner->run.id, sizeof runner->run.id, "%s", runner->resumed);
    if (store_open_launch(runner->store, runner->run.id, &runner->launch) < 0) return -1;
    if (store_last_launch(runner->store, runner->run.id, &last) < 0) return -1;
    runner->resuming = runner->launch.id[0] != '\0';
    if (runner->resuming && check_same_conditions(runner) < 0) return -1;
    *first = runner->resuming ? runner->launch.number : last + 1;
    if (last == 0) return 0;
    int begun = runner->resuming ? *first : last;
    struct plan plan = launch_plan(&runner->plan, begun);
    if (store_check_plan(runner->store, runner->run.id, begun, &plan) < 0) return -1;
    return take_over_run(runner);
}

static void take_objects(struct runner *runner)
{
    const struct object *loaded;
    runner->run.objects = runner->objects;
    runner->run.object_count = objects_loaded(&loaded);
    for (int i = 0; i < runner->run.object_count; i++)
        runner->objects[i] = loaded[i].info;
    /* The last is the second copy of one. */
    if (runner->options->twin) runner->run.object_count--;
}

static int begin_run(struct runner *runner, int *first)
{
    const struct runner_options *options = runner->options;
    if (store_open(&runner->store, options->database, STORE_WRITE) < 0) return -1;
    take_objects(runner);
    if (store_check_shard(runner->store, &runner->run.shard, options->is_own_job) < 0) return -1;
    if (options->resume) return resume(runner, first);
    struct program_info program;
    struct host_info host;
    provenance_program(&program);
    host_describe(&host, "");
    *first = 1;
    runner->run.suite_text = runner->suite_text;
    runner->run.simulated = runner->child.device.simulated;
    snprintf(runner->run.label, sizeof runner->run.label, "%s",
             options->label ? options->label : "");
    snprintf(runner->run.command, sizeof runner->run.command, "%s", options->command);
    return store_begin_run(runner->store, &runner->run, &program, &host);
}

static enum runner_end end_run(struct runner *runner, enum attempt_end end)
{
    const char *word = end == ATTEMPT_DONE ? "complete" : "interrupted";
    if (end == ATTEMPT_FAILED) {
        /* Report the first failure, whatever happens when the run is closed. */
        char why[4 * ASSAY_MAX_REASON];
        snprintf(why, sizeof why, "%s", assay_last_error());
        store_end_run(runner->store, runner->run.id, word);
        return assay_error_as(RUNNER_FAILED, "%s", why);
    }
    if (store_end_run(runner->store, runner->run.id, word) < 0) return RUNNER_FAILED;
    return end == ATTEMPT_STOPPED ? RUNNER_INTERRUPTED : RUNNER_COMPLETE;
}

static int check_profilable(const struct device_info *device)
{
    if (device->simulates_counters) return 0;
    if (device->simulated)
        return assay_error("a simulated device runs no kernels: there is nothing to profile");
    if (device->place != ASSAY_CUDA)
        return assay_error("the host has no kernel records and no GPU counters to profile by;"
                           " assay run --device host times it, and perf(1) looks inside");
    if (device->clock != CLOCK_CUPTI)
        return assay_error("a profile needs CUPTI's kernel records; not measured here: %s",
                           device->lost);
    return 0;
}

static int make_plan(void *runner)
{
    return run_plan_make(runner) == 0 ? run_twins_plan(runner) : -1;
}

static bool is_divided(const struct runner *runner)
{
    return device_choice(runner->options->device) == DEVICE_ALL && runner->child.device.peers > 1;
}

static int check_divisible(const struct runner_options *options)
{
    if (options->resume)
        return assay_error("--resume goes on with a run of one GPU, and not of --device %s",
                           options->device);
    if (options->profile)
        return assay_error("a profile is taken on one GPU, and not with --device %s",
                           options->device);
    return 0;
}

static int begin_prints(struct runner *runner)
{
    const char *path = runner->options->fingerprints;
    if (!path) return 0;
    if (out_file_open(&runner->prints, path) < 0) return -1;
    return fingerprints_write_head(runner->prints.stream);
}

/* Complete or not there at all: what is missing in it would pass for a case that is not there. */
static enum runner_end end_prints(struct runner *runner, enum runner_end end)
{
    if (!runner->prints.stream) return end;
    int status = out_file_close(&runner->prints, end == RUNNER_COMPLETE ? 0 : -1);
    return end == RUNNER_COMPLETE && status != 0 ? RUNNER_FAILED : end;
}

static enum runner_end run(struct runner *runner)
{
    int first = 1;
    if (run_plan_read(runner) < 0 || run_twins_load(runner) < 0) return RUNNER_FAILED;
    if (runner->options->shard.count > 1) runner->run.shard = runner->options->shard;
    if (runner->options->resume && !runner->options->dry_run && find_resumed(runner) < 0)
        return RUNNER_FAILED;
    interrupt_catch();
    enum attempt_end end = ensure_child(runner, runner->options->use_events);
    if (end == ATTEMPT_STOPPED) return RUNNER_INTERRUPTED;
    if (end == ATTEMPT_FAILED) return RUNNER_FAILED;
    if (is_divided(runner) && check_divisible(runner->options) < 0) return RUNNER_FAILED;
    if (runner->options->is_own_job && device_choice(runner->options->device) != DEVICE_ONE &&
        device_lock(&runner->child.device, runner->options->shard.group) < 0)
        return RUNNER_FAILED;
    if (runner->options->profile && check_profilable(&runner->child.device) < 0)
        return RUNNER_NOTHING;
    if (objects_try("when the plan was made", make_plan, runner) < 0) return RUNNER_FAILED;
    if (runner->options->dry_run) {
        run_plan_print(&runner->plan);
        return RUNNER_COMPLETE;
    }
    const char *lost = runner->child.device.lost;
    if (lost[0]) fprintf(stderr, "assay: not measured here: %s\n", lost);
    if (runner->options->wait_quiet_s > 0 && quiet_wait(runner) != 0) return RUNNER_INTERRUPTED;
    if (begin_prints(runner) < 0 || begin_run(runner, &first) < 0) {
        runner->run.id[0] = '\0';
        return RUNNER_FAILED;
    }
    if (is_divided(runner)) return end_run(runner, lanes_run(runner));
    for (int n = first; n <= runner->options->launches && end == ATTEMPT_DONE; n++) {
        end = run_launch(runner, n);
        runner->resuming = false;
    }
    return end_run(runner, end);
}

enum runner_end runner_run(const struct runner_options *options, char run_id[STORE_ID])
{
    struct runner *runner = calloc(1, sizeof *runner);
    run_id[0] = '\0';
    if (runner == NULL) return assay_error_as(RUNNER_FAILED, "out of memory");
    runner->options = options;
    runner->pick = device_choice(options->device) == DEVICE_ALL ? 0 : options->pick;
    runner->known = &runner->ceilings;
    runner->child.socket = -1;
    enum runner_end end = end_prints(runner, run(runner));
    snprintf(run_id, STORE_ID, "%s", runner->run.id);
    if (runner->child.pid > 0) child_reap(&runner->child, NULL, 0);
    if (runner->store) store_close(runner->store);
    interrupt_release();
    for (int i = 0; i < runner->suite_count; i++)
        suite_release(&runner->suite[i]);
    plan_release(&runner->plan);
    temp_folder_remove(&runner->twins);
    free(runner->suite_text);
    free(runner);
    return end;
}
