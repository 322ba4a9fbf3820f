#include "gate/gate_calibrate.h"

#include <math.h>

#include "base/clock.h"
#include "base/exit_code.h"
#include "gate/gate_run_state.h"
#include "store/store_gate.h"
#include "suite/suite_find.h"

struct calibrating {
    struct gate_run run;
    const struct calibrate_options *options;
    struct calibration *made;
    double start_s;
};

static int resume(struct calibrating *calibrating)
{
    struct gate_run *run = &calibrating->run;
    struct calibration *made = calibrating->made;
    char suite[ASSAY_MAX_NAME];
    int last;
    suite_name_of(run->options->suite, suite);
    if (store_last_calibration(run->store, suite, run->session, &last) != 0) return -1;
    for (int round = 0; round < last; round++) {
        int found = gate_take_round(run, round, false);
        if (found < 0) return -1;
        made->pairs += found;
    }
    made->resumed = made->pairs;
    run->label_skip = last - made->pairs;
    return 0;
}

/* What the launches are kept under; those that were resumed have it from another time. */
static int check_device(struct gate_run *run)
{
    const struct timings *base = &run->pool[ARM_BASE];
    return gate_check_device(run, base->run.launches[base->run.launch_count - 1].id);
}

/* Over the launches [from, to) of a case whose rows begin there. */
static double median_time(const struct timing *row, const struct timing *end, int from, int to)
{
    double time[SIGNED_RANK_MAX];
    const struct case_id *id = &row->id;
    int count = 0;
    for (; row < end && case_id_order(&row->id, id) == 0 && count < SIGNED_RANK_MAX; row++)
        if (row->launch >= from && row->launch < to && row->time_ns > 0)
            time[count++] = row->time_ns;
    return stats_median(time, count);
}

static int keep_block(struct calibrating *calibrating, int from, int to)
{
    struct gate_run *run = &calibrating->run;
    const struct timings *base = &run->pool[ARM_BASE];
    int cases = 0;
    if (to - from < GATE_LEAST_ROUNDS) return 0;
    for (int i = 0; i < base->count; i++) {
        const struct timing *row = &base->rows[i];
        struct gate_rounds block;
        if (i > 0 && case_id_order(&row->id, &base->rows[i - 1].id) == 0) continue;
        gate_collect(&block, run, ARM_CANDIDATE, &row->id, from, to);
        double time_ns = median_time(row, base->rows + base->count, from, to);
        if (!(time_ns > 0)) continue;
        if (gate_keep_block(run, &row->id, time_ns, &block, "calibrate", from) != 0) return -1;
        cases += block.count >= GATE_LEAST_ROUNDS;
    }
    if (cases == 0) return 0;
    calibrating->made->blocks++;
    calibrating->made->cases = cases;
    return 0;
}

static bool has_time_for_another(const struct calibrating *calibrating)
{
    int limit_s = calibrating->options->limit_s;
    double pair_s = calibrating->made->pair_s;
    if (limit_s == 0 || isnan(pair_s)) return true;
    return clock_s() - calibrating->start_s + pair_s <= limit_s;
}

/* Pairs up to `full`, the end of the block. GATE_MADE, also where the limit came before, or the
 * exit code of a failure. */
static int fill_block(struct calibrating *calibrating, int full)
{
    struct calibration *made = calibrating->made;
    while (made->pairs < full && has_time_for_another(calibrating)) {
        double start_s = clock_s();
        int code = gate_launch_rounds(&calibrating->run, made->pairs, made->pairs + 1, false,
                                      calibrating->run.options->filter);
        if (code != GATE_MADE) return code;
        if (check_device(&calibrating->run) != 0) return EXIT_USAGE;
        made->pairs++;
        made->pair_s = clock_s() - start_s;
    }
    return GATE_MADE;
}

static int make_blocks(struct calibrating *calibrating)
{
    const struct calibrate_options *options = calibrating->options;
    struct calibration *made = calibrating->made;
    int code = GATE_MADE;
    for (int block = 0; block < options->blocks && code == GATE_MADE; block++) {
        int from = block * options->rounds, full = from + options->rounds;
        code = fill_block(calibrating, full);
        if (keep_block(calibrating, from, made->pairs < full ? made->pairs : full) != 0)
            return EXIT_USAGE;
        if (made->pairs < full) break;
    }
    if (code != GATE_MADE) return code;
    if (made->blocks > 0) return EXIT_FINE;
    if (made->pairs < GATE_LEAST_ROUNDS)
        assay_error("%d pair%s in %d s: a block needs %d (--resume goes on with them)", made->pairs,
                    made->pairs == 1 ? "" : "s", options->limit_s, GATE_LEAST_ROUNDS);
    else
        assay_error("no case had a time in %d pairs of launches", GATE_LEAST_ROUNDS);
    return EXIT_NOTHING;
}

int calibrate_run(struct store *store, const struct gate_options *gate,
                  const struct calibrate_options *options, struct calibration *made)
{
    struct calibrating calibrating = {.options = options, .made = made, .start_s = clock_s()};
    struct comparison comparison;
    *made = (struct calibration){.pair_s = NAN};
    if (gate_begin(&calibrating.run, store, gate, &comparison) != 0) return EXIT_USAGE;
    calibrating.run.is_calibration = true;
    int code =
        options->resume && resume(&calibrating) != 0 ? EXIT_USAGE : make_blocks(&calibrating);
    gate_end(&calibrating.run);
    return code;
}
