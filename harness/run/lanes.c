/*
 * lanes.c - see lanes.h. A lane is a thread with a copy of the runner, a worker and a launch of its
 * own. One lane at a time has the turn, and gives it away only while it waits (interrupt_poll, and
 * here): all that they share, the database and the deal, needs no other lock.
 */
#include "run/lanes.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "case/shape.h"
#include "device/device.h"
#include "run/device_lock.h"
#include "run/interrupt.h"
#include "store/store_shard.h"

enum { LANES_MOST = 64, LOOK_MS = 200 };

/* In this order; a stage begins when all of the one before are measured. */
enum stage { STAGE_CEILINGS, STAGE_CEILINGS_ALONE, STAGE_CASES, STAGE_CASES_ALONE };

/* A group that is to be measured, by one lane or by any. */
struct unit {
    const struct group *group;
    enum stage stage;
    int lane;  /* the only one that may; -1: any */
    int home;  /* the one that rather should; -1: any */
    int first; /* of its cases in the plan of the round, from 1 */
    enum { UNIT_OPEN, UNIT_TAKEN, UNIT_DONE } state;
};

struct lane {
    struct runner runner;
    struct lanes *lanes;
    pthread_t thread;
    int number; /* from 0 */
    bool has_thread;
    char where[RESULT_MAX_SPEC];
};

struct lanes {
    struct runner *master;
    struct lane lane[LANES_MOST];
    int count;
    struct plan plan; /* of this round */
    int round;        /* from 1 */
    int threads;      /* of each worker, for checks */
    struct unit *unit;
    int units, taken, busy;  /* taken: so far; busy: being measured now */
    int opening;             /* lanes whose worker is not there yet */
    int *owner;              /* of each group of the whole plan: the lane that had it; -1: none */
    struct group_past *past; /* of each group likewise, from earlier runs */
    bool has_begun;          /* the launch of the first lane, in this round */
    enum attempt_end end;    /* ATTEMPT_DONE, or how the first lane that did not go on ended */
    char why[1024];          /* assay_error of that lane */
    pthread_cond_t changed;
};

/* ------------------------------------------------------------------ turns -- */

/* One for the whole process, as the hook of interrupt.h takes no argument. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void pass_turn(bool begins)
{
    int kept = errno;
    if (begins)
        pthread_mutex_unlock(&turn);
    else
        pthread_mutex_lock(&turn);
    errno = kept;
}

/* Until another lane has changed something, or for a moment: a signal changes nothing. */
static void await_change(struct lanes *lanes)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&lanes->changed, &turn, &until);
}

static bool goes_on(const struct lanes *lanes)
{
    return lanes->end == ATTEMPT_DONE && interrupt_signal() == 0;
}

/* The first end that is none of all groups is that of the run. */
static void note_end(struct lanes *lanes, enum attempt_end end)
{
    if (end != ATTEMPT_DONE && lanes->end == ATTEMPT_DONE) {
        lanes->end = end;
        snprintf(lanes->why, sizeof lanes->why, "%s", assay_last_error());
    }
    pthread_cond_broadcast(&lanes->changed);
}

/* ------------------------------------------------------------------- deal -- */

/* Whether it loads what the GPUs of a machine share: the link to the host, or the host. */
static bool wants_host(const struct group *group, const struct device_info *device)
{
    struct case_work work = shape_work(&group->shape);
    if (work.over_link || (device->place == ASSAY_HOST && !device->simulated)) return true;
    for (int i = 0; i < group->variant_count; i++)
        if (!group->skip[i][0] && group->variant[i]->clock == ASSAY_CLOCK_WALL) return true;
    return false;
}

static enum stage stage_of(const struct lanes *lanes, const struct group *group)
{
    const struct runner *master = lanes->master;
    bool alone = !master->options->side_by_side && wants_host(group, &master->launch.device);
    return (group->purpose == PURPOSE_CEILING ? STAGE_CEILINGS : STAGE_CASES) + alone;
}

static void add_unit(struct lanes *lanes, const struct group *group, int lane, int first)
{
    lanes->unit[lanes->units++] = (struct unit){
        .group = group, .stage = stage_of(lanes, group), .lane = lane, .home = -1, .first = first};
}

/* What this round measures, in the order of the plan. */
static void deal_begin(struct lanes *lanes)
{
    const struct runner *master = lanes->master;
    int first = 1;
    lanes->plan = launch_plan(&master->plan, lanes->round);
    lanes->units = lanes->taken = lanes->busy = 0;
    for (int i = 0; i < lanes->plan.count; i++) {
        const struct group *group = &lanes->plan.groups[i];
        int owner = lanes->owner[group - master->plan.groups];
        for (int k = 0; master->options->replicate && k < lanes->count; k++)
            add_unit(lanes, group, k, first);
        if (!master->options->replicate) add_unit(lanes, group, owner, first);
        first += group->variant_count;
    }
}

/* The first that this lane may measure now. NULL: none, and (*waits) one may come. Lanes wait for
 * each other at the beginning and at the end of a round: a worker that comes or goes loads the
 * host, beside which nothing is to be measured. */
static struct unit *find_unit(struct lanes *lanes, int number, bool *waits)
{
    enum stage stage = STAGE_CASES_ALONE;
    *waits = false;
    for (int i = 0; i < lanes->units; i++) {
        if (lanes->unit[i].state == UNIT_DONE) continue;
        if (lanes->unit[i].stage < stage) stage = lanes->unit[i].stage;
        *waits = true;
    }
    bool is_alone = stage == STAGE_CEILINGS_ALONE || stage == STAGE_CASES_ALONE;
    if (lanes->opening > 0 || (is_alone && lanes->busy > 0)) return NULL;
    struct unit *found = NULL;
    for (int i = 0; i < lanes->units; i++) {
        struct unit *unit = &lanes->unit[i];
        if (unit->state != UNIT_OPEN || unit->stage != stage) continue;
        if (unit->lane >= 0 && unit->lane != number) continue;
        if (unit->home < 0 || unit->home == number) return unit;
        found = unit; /* from the end, where their own lane comes last */
    }
    return found;
}

/* A group is at home on the GPU that measured it last: two runs are then compared card by card. */
static void find_homes(struct lanes *lanes, int number, const char *uuid)
{
    const struct group *groups = lanes->master->plan.groups;
    for (int i = 0; i < lanes->units; i++) {
        const struct group_past *past = &lanes->past[lanes->unit[i].group - groups];
        if (past->uuid[0] && strcmp(past->uuid, uuid) == 0) lanes->unit[i].home = number;
    }
}

static struct unit *take_unit(struct lanes *lanes, int number)
{
    bool waits = true;
    while (waits && goes_on(lanes)) {
        struct unit *unit = find_unit(lanes, number, &waits);
        if (unit) {
            unit->state = UNIT_TAKEN;
            lanes->taken++;
            lanes->busy++;
            return unit;
        }
        if (waits) await_change(lanes);
    }
    return NULL;
}

/* ------------------------------------------------------------------- lane -- */

/* Its worker, on a GPU of the same model as the others'. */
static enum attempt_end open_worker(struct lane *lane)
{
    const struct runner *master = lane->lanes->master;
    const struct device_info *first = &master->launch.device, *own = &lane->runner.child.device;
    enum attempt_end end = ensure_child(&lane->runner, master->options->use_events);
    if (end != ATTEMPT_DONE) return end;
    if (strcmp(first->name, own->name) != 0)
        return assay_error_as(
            ATTEMPT_FAILED,
            "%s is another model (%s) than %s (%s): a suite is divided between GPUs of one "
            "model, which CUDA_VISIBLE_DEVICES chooses",
            own->spec, own->name, first->spec, first->name);
    bool is_first = lane->number == 0 || lane->lanes->round > 1; /* it was locked before */
    if (!is_first && master->options->is_own_job &&
        device_lock(own, master->options->shard.group) < 0)
        return ATTEMPT_FAILED;
    return ATTEMPT_DONE;
}

/* The launch of the first lane begins first. It names all cases, and hands over those that are
 * dealt to others: what is never measured is still known to be missing. */
static enum attempt_end begin(struct lane *lane)
{
    struct lanes *lanes = lane->lanes;
    const struct plan nothing = {0};
    while (lane->number > 0 && !lanes->has_begun && goes_on(lanes))
        await_change(lanes);
    if (!goes_on(lanes)) return ATTEMPT_STOPPED;
    find_homes(lanes, lane->number, lane->runner.child.device.uuid);
    bool has_plan = lane->number == 0 || lanes->master->options->replicate;
    int number = (lanes->round - 1) * lanes->count + lane->number + 1;
    if (launch_begin(&lane->runner, has_plan ? &lanes->plan : &nothing, number) < 0)
        return ATTEMPT_FAILED;
    lanes->has_begun = true;
    pthread_cond_broadcast(&lanes->changed);
    return ATTEMPT_DONE;
}

static enum attempt_end measure(struct lane *lane, struct unit *unit)
{
    struct lanes *lanes = lane->lanes;
    struct runner *runner = &lane->runner;
    const struct launch_info *launch = &lanes->lane[0].runner.launch;
    bool is_alone = unit->stage == STAGE_CEILINGS_ALONE || unit->stage == STAGE_CASES_ALONE;
    bool hands_over = lane->number > 0 && !lanes->master->options->replicate;
    if (hands_over && store_hand_over(runner->store, launch->id, runner->launch.id, unit->first,
                                      unit->group->variant_count) < 0)
        return ATTEMPT_FAILED;
    runner->threads = is_alone ? 0 : lanes->threads;
    runner->progress.group = lanes->taken - 1;
    enum attempt_end end = attempt_group(runner, unit->group);
    unit->state = UNIT_DONE;
    lanes->busy--;
    lanes->owner[unit->group - lanes->master->plan.groups] = lane->number;
    return end;
}

static enum attempt_end run_lane(struct lane *lane)
{
    struct lanes *lanes = lane->lanes;
    struct runner *runner = &lane->runner;
    enum attempt_end end = open_worker(lane);
    if (end == ATTEMPT_DONE) end = begin(lane);
    if (end != ATTEMPT_DONE) return end;
    lanes->opening--;
    pthread_cond_broadcast(&lanes->changed);
    snprintf(lane->where, sizeof lane->where, "%s", runner->launch.device.spec);
    progress_begin(&runner->progress, stderr, lanes->units, run_plan_cases(&lanes->plan));
    runner->progress.where = lane->where;
    runner->progress.terminal = false; /* bars of several would be drawn over each other */
    struct unit *unit;
    while (end == ATTEMPT_DONE && (unit = take_unit(lanes, lane->number))) {
        end = measure(lane, unit);
        note_end(lanes, end);
    }
    if (end == ATTEMPT_DONE && !goes_on(lanes)) end = ATTEMPT_STOPPED;
    if (end != ATTEMPT_DONE) return end;
    return launch_end(runner) < 0 ? ATTEMPT_FAILED : end;
}

static void *lane_main(void *given)
{
    struct lane *lane = given;
    pthread_mutex_lock(&turn);
    note_end(lane->lanes, run_lane(lane));
    if (lane->runner.child.pid > 0) child_reap(&lane->runner.child, NULL, 0);
    pthread_mutex_unlock(&turn);
    return NULL;
}

/* ------------------------------------------------------------------ rounds -- */

/* A worker dies with the thread that started it: the master's is the first lane's, in this one. */
static void run_round(struct lanes *lanes)
{
    lanes->has_begun = false;
    lanes->opening = lanes->count;
    deal_begin(lanes);
    for (int k = 1; k < lanes->count; k++) {
        struct lane *lane = &lanes->lane[k];
        int error = pthread_create(&lane->thread, NULL, lane_main, lane);
        lane->has_thread = error == 0;
        if (error == 0) continue;
        assay_error("a thread for %s: %s", lane->runner.options->device, strerror(error));
        pthread_mutex_lock(&turn);
        note_end(lanes, ATTEMPT_FAILED);
        pthread_mutex_unlock(&turn);
    }
    lane_main(&lanes->lane[0]);
    for (int k = 1; k < lanes->count; k++)
        if (lanes->lane[k].has_thread) pthread_join(lanes->lane[k].thread, NULL);
}

/* Workers do not check all of their time, nor all at the same time: each has twice its part of the
 * cores, and leaves one to each of the others, which may be launching kernels then. */
static int threads_of(int cores, int lanes)
{
    int most = cores - (lanes - 1), part = 2 * cores / lanes;
    int threads = part < most ? part : most;
    return threads > 1 ? threads : 1;
}

static void make_lanes(struct lanes *lanes)
{
    struct runner *master = lanes->master;
    struct host_info host;
    host_describe(&host, "");
    lanes->threads = threads_of(host.cores, lanes->count);
    for (int k = 0; k < lanes->count; k++) {
        struct lane *lane = &lanes->lane[k];
        *lane = (struct lane){.runner = *master, .lanes = lanes, .number = k};
        lane->runner.pick = k + 1;
        lane->runner.known = &master->ceilings;
        if (master->options->replicate) lane->runner.known = &lane->runner.ceilings;
        if (k > 0) lane->runner.child = (struct child){.socket = -1};
    }
    /* What later workers are compared with; the lanes' launches are their own. */
    master->launch.device = master->child.device;
    master->child = (struct child){.socket = -1};
}

enum attempt_end lanes_run(struct runner *runner)
{
    struct lanes *lanes = calloc(1, sizeof *lanes);
    enum attempt_end end = ATTEMPT_FAILED;
    size_t groups = (size_t)runner->plan.count + 1;
    if (lanes == NULL) goto out;
    lanes->master = runner;
    lanes->count =
        runner->child.device.peers < LANES_MOST ? runner->child.device.peers : LANES_MOST;
    lanes->unit = calloc(groups * (size_t)lanes->count, sizeof *lanes->unit);
    lanes->owner = calloc(groups, sizeof *lanes->owner);
    lanes->past = calloc(groups, sizeof *lanes->past);
    if (!lanes->unit || !lanes->owner || !lanes->past) goto out;
    if (store_group_past(runner->store, &(struct shard){0}, NULL, runner->run.simulated,
                         &runner->plan, lanes->past) < 0) {
        snprintf(lanes->why, sizeof lanes->why, "%s", assay_last_error());
        goto out;
    }
    for (size_t i = 0; i < groups; i++)
        lanes->owner[i] = -1;
    pthread_cond_init(&lanes->changed, NULL);
    make_lanes(lanes);
    interrupt_around_waits(pass_turn);
    for (lanes->round = 1; lanes->round <= runner->options->launches && goes_on(lanes);
         lanes->round++)
        run_round(lanes);
    interrupt_around_waits(NULL);
    pthread_cond_destroy(&lanes->changed);
    end = lanes->end == ATTEMPT_DONE && interrupt_signal() ? ATTEMPT_STOPPED : lanes->end;
    if (end == ATTEMPT_FAILED) assay_error("%s", lanes->why);
out:
    if (end == ATTEMPT_FAILED && !(lanes && lanes->why[0]))
        assay_error("out of memory for the GPUs");
    if (lanes) {
        free(lanes->unit);
        free(lanes->owner);
        free(lanes->past);
    }
    free(lanes);
    return end;
}
