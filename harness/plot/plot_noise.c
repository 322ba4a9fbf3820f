/* plot_noise.c - the data of plots/noise.gp: how much unchanged code differed from itself on
 * the run's device, as stored by `assay calibrate` and gates. */
#include "case/case_name.h"
#include "plot/plot_data.h"
#include "store/store_gate.h"

/* The smallest value drawn, in per cent, because a logarithmic axis has no zero. */
static const double least_pct = 0.001;

static double percent(double logarithm)
{
    return fmax(100 * expm1(logarithm), least_pct);
}

/* Returns the number of blocks. */
static int write_noise(struct plot *plot, const struct noise *noise)
{
    char name[CASE_TEXT];
    int count = 0, sessions = noise_sessions(noise);
    for (int i = 0; i < noise->count; i++) {
        const struct noise_block *b = &noise->blocks[i];
        if (!plot_takes(plot->request, &b->id)) continue;
        count++;
        case_text(&b->id, name);
        plot_line(plot, NULL, name, "%.9g\t%.6g\t%.6g\t%d", b->time_ns, percent(b->spread),
                  percent(b->shift), b->rounds);
    }
    plot_block_end(plot);
    fputs("NaN\tNaN\n", plot->out); /* gnuplot does not count an empty block */
    for (int d = 0; d < NOISE_DECADES; d++)
        if (!isnan(noise->pooled[d]))
            fprintf(plot->out, "%.9g\t%.6g\n%.9g\t%.6g\n\n", pow(10, d), percent(noise->pooled[d]),
                    pow(10, d + 1), percent(noise->pooled[d]));
    plot_title(plot, "noise of unchanged code: %d block%s of launches, %d session%s", count,
               count == 1 ? "" : "s", sessions, sessions == 1 ? "" : "s");
    plot_size(plot, 1000, 540, 34);
    return count;
}

enum plot_outcome plot_noise(struct plot *plot)
{
    char key[STORE_ID];
    struct noise noise = {0};
    const struct plot_request *request = plot->request;
    enum plot_outcome outcome = PLOT_FAILED;
    if (!request->run->launch_count) return plot_nothing(plot, "the run has no launch");
    if (store_comparability(request->store, request->run->launches[0].id, key) != 0 ||
        store_read_noise(request->store, key, "time", NULL, &noise) != 0)
        return PLOT_FAILED;
    if (noise_prepare(&noise) == 0)
        outcome = write_noise(plot, &noise)
                      ? PLOT_DRAWN
                      : plot_nothing(plot, "no noise is stored for this device "
                                           "(assay calibrate measures it)");
    noise_release(&noise);
    return outcome;
}
