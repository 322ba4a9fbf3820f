/* plot_noise.c - the data of plots/noise.gp: how much unchanged code differed from itself on
 * the run's device, as stored by `assay calibrate` and gates. */
#include <math.h>
#include <string.h>

#include "case/case_name.h"
#include "plot/plot_data.h"
#include "store/store_gate.h"

/* The smallest value drawn, in per cent, because a logarithmic axis has no zero. */
static const double least_pct = 0.001;

static double percent(double logarithm)
{
    return fmax(100 * expm1(logarithm), least_pct);
}

static int taken(const struct plot_request *request, const struct noise *noise)
{
    int count = 0;
    for (int i = 0; i < noise->count; i++)
        count += plot_takes(request, &noise->blocks[i].id);
    return count;
}

static void write_noise(FILE *out, const struct plot_request *request, const struct noise *noise,
                        int count)
{
    char title[160];
    int sessions = noise_sessions(noise);
    snprintf(title, sizeof title, "noise of unchanged code: %d block%s of launches, %d session%s",
             count, count == 1 ? "" : "s", sessions, sessions == 1 ? "" : "s");
    plot_head(out, request->run, title, NULL);
    plot_size(out, 1000, 540, 34);
    plot_block_end(out);
    for (int i = 0; i < noise->count; i++) {
        const struct noise_block *b = &noise->blocks[i];
        if (!plot_takes(request, &b->id)) continue;
        char name[CASE_TEXT];
        fprintf(out, "%.9g\t%.6g\t%.6g\t%d\t", b->time_ns, percent(b->spread), percent(b->shift),
                b->rounds);
        case_text(&b->id, name);
        plot_text(out, name);
        fputc('\n', out);
    }
    plot_block_end(out);
    fputs("NaN\tNaN\n", out); /* gnuplot does not count an empty block */
    for (int d = 0; d < NOISE_DECADES; d++) {
        if (isnan(noise->pooled[d])) continue;
        fprintf(out, "%.9g\t%.6g\n%.9g\t%.6g\n\n", pow(10, d), percent(noise->pooled[d]),
                pow(10, d + 1), percent(noise->pooled[d]));
    }
}

enum plot_outcome plot_noise(FILE *out, const struct plot_request *request)
{
    char key[STORE_ID];
    struct noise noise = {0};
    enum plot_outcome outcome = PLOT_FAILED;
    if (!request->run->launch_count) return plot_nothing(request, "the run has no launch");
    if (store_comparability(request->store, request->run->launches[0].id, key) != 0 ||
        store_read_noise(request->store, key, "time", &noise) != 0)
        return PLOT_FAILED;
    if (noise_prepare(&noise) == 0) {
        int count = taken(request, &noise);
        if (count) write_noise(out, request, &noise, count);
        outcome = count ? PLOT_DRAWN
                        : plot_nothing(request, "no noise is stored for this device "
                                                "(assay calibrate measures it)");
    }
    noise_release(&noise);
    return outcome;
}
