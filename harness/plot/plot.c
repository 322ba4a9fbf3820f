#include <string.h>

#include "base/text.h"
#include "plot/plot_data.h"
#include "plot/plot_gnuplot.h"

const struct plot_kind plot_kinds[] = {
    {"roofline", PLOT_RUN | PLOT_STORE | PLOT_TAKES_AGAINST, plot_roofline, NULL},
    {"sweep", PLOT_RUN | PLOT_TAKES_METRIC, plot_sweep, "bars"},
    {"bars", PLOT_RUN, plot_bars, NULL},
    {"speedup", PLOT_RUN, plot_speedup, NULL},
    {"forest", PLOT_RUN | PLOT_AGAINST | PLOT_TAKES_AGAINST, plot_forest, NULL},
    {"dist", PLOT_RUN, plot_dist, NULL},
    {"timeline", PLOT_RUN, plot_timeline, NULL},
    {"history", PLOT_STORE, plot_history, NULL},
    {"pareto", PLOT_RUN | PLOT_TAKES_METRIC, plot_pareto, NULL},
    {"pipeline", PLOT_RUN, plot_pipeline, NULL},
    {"noise", PLOT_RUN | PLOT_STORE | PLOT_OF_GATES, plot_noise, NULL},
    {0},
};

enum { MOST_KINDS = 16 };

const struct plot_kind *plot_find(const char *name)
{
    const char *names[MOST_KINDS];
    char all[256] = "";
    int count = 0;
    for (; plot_kinds[count].name && count < MOST_KINDS; count++) {
        if (!strcmp(plot_kinds[count].name, name)) return &plot_kinds[count];
        names[count] = plot_kinds[count].name;
        text_add(all, sizeof all, ", ", "%s", names[count]);
    }
    const char *near = text_nearest(name, names, count);
    if (near)
        assay_error("no kind of plot '%s'; did you mean '%s'?", name, near);
    else
        assay_error("no kind of plot '%s' (there are %s)", name, all);
    return NULL;
}

enum plot_outcome plot_draw(const struct plot_kind *kind, const struct plot_request *request)
{
    struct plot plot;
    enum plot_outcome outcome = PLOT_FAILED;
    if (gnuplot_output_check(request->output)) return PLOT_FAILED;
    if (plot_open(&plot, kind, request) == 0) outcome = kind->query(&plot);
    if (outcome == PLOT_DRAWN && gnuplot_draw(&plot)) outcome = PLOT_FAILED;
    plot_close(&plot);
    if (outcome != PLOT_NOTHING || !kind->otherwise) return outcome;
    const struct plot_kind *other = plot_find(kind->otherwise);
    bool takes_metric = other->needs & PLOT_TAKES_METRIC;
    return request->metric && !takes_metric ? outcome : plot_draw(other, request);
}
