/* gate_calibrate.c - launches of one program against itself: what noise looks like. */
#include "commands.h"
#include "gate_run_state.h"

int calibrate_run(struct store *store, const struct gate_options *options, int rounds, int *cases)
{
    struct gate_run run;
    struct comparison comparison;
    *cases = 0;
    if (gate_begin(&run, store, options, &comparison) != 0) return EXIT_USAGE;
    run.is_calibration = true;
    int code = gate_launch_rounds(&run, 0, rounds, false, options->filter);
    if (code == GATE_MADE) code = gate_read_noise(&run) == 0 ? EXIT_FINE : EXIT_USAGE;
    const struct timings *base = &run.pool[ARM_BASE];
    for (int i = 0; code == EXIT_FINE && i < base->count; i++) {
        const struct timing *row = &base->rows[i];
        struct gate_rounds block;
        if (i > 0 && case_id_order(&row->id, &base->rows[i - 1].id) == 0) continue;
        gate_collect(&block, &run, ARM_CANDIDATE, &row->id, 0, rounds);
        if (!(row->time_ns > 0)) continue;
        if (gate_keep_block(&run, &row->id, row->time_ns, &block, "calibrate") != 0)
            code = EXIT_USAGE;
        *cases += block.count >= GATE_LEAST_ROUNDS;
    }
    if (code == EXIT_FINE && *cases == 0) {
        assay_error("no case had a time in %d pairs of launches", GATE_LEAST_ROUNDS);
        code = EXIT_NOTHING;
    }
    gate_end(&run);
    return code;
}
