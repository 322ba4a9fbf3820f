/* view_rate.c - the rate of a row, and its fraction of the ceiling that binds it; how many rows are
 * noisy, and what was seen that may have made them so. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "case/registry.h"
#include "case/shape.h"
#include "judge/causes.h"
#include "show/view.h"

static const char *ceiling_measured(const struct case_id *id)
{
    const struct assay_operation *operation = registry_operation(id->operation);
    struct assay_shape shape;
    if (!operation || shape_parse(operation, id->shape, &shape)) return NULL;
    return shape_ceiling(&shape, id->temperature);
}

struct case_work view_work(const struct case_result *result)
{
    struct case_work work = result->work;
    const struct assay_operation *operation = registry_operation(result->id.operation);
    struct assay_shape shape;
    if (operation && !shape_parse(operation, result->id.shape, &shape))
        work.over_link = shape_work(&shape).over_link;
    return work;
}

void view_collect_ceilings(struct view *view)
{
    for (int i = 0; i < view->run->case_count; i++) {
        const struct case_result *result = &view->run->cases[i].result;
        const char *name = ceiling_measured(&result->id);
        if (name) ceilings_learn(&view->ceilings, name, result, view->most_spread);
    }
}

int view_arithmetic(const char *ceiling)
{
    for (int a = 0; a < ARITHMETICS; a++)
        if (!strcmp(ceiling, arithmetic_name(a))) return a;
    return -1;
}

double view_bytes(const struct case_work *work)
{
    return work->read_bytes + work->write_bytes;
}

double view_ops(const struct case_work *work)
{
    double sum = 0;
    for (int a = 0; a < ARITHMETICS; a++)
        sum += work->ops[a];
    return sum;
}

double view_metric(const struct case_result *result, const char *name)
{
    for (int i = 0; i < result->metric_count; i++)
        if (!strcmp(result->metrics[i].name, name)) return result->metrics[i].value;
    return NAN;
}

/* The one arithmetic of this work, or -1. */
static int arithmetic_only(const struct case_work *work)
{
    int found = -1;
    for (int a = 0; a < ARITHMETICS; a++) {
        if (!(work->ops[a] > 0)) continue;
        if (found >= 0) return -1;
        found = a;
    }
    return found;
}

static double per_second(double amount, double time_ns)
{
    return amount > 0 && time_ns > 0 ? amount / time_ns * 1e9 : NAN;
}

void view_row_rate(struct view_row *row)
{
    const struct case_work *work = &row->result.work;
    double bytes = view_bytes(work), ops = view_ops(work);
    row->arithmetic = row->ceiling[0] ? view_arithmetic(row->ceiling) : -1;
    row->rate_is_ops = row->ceiling[0] ? row->arithmetic >= 0 : ceiling_is_arithmetic(work);
    if (row->rate_is_ops && row->arithmetic < 0) row->arithmetic = arithmetic_only(work);
    double amount = !row->rate_is_ops      ? bytes
                    : row->arithmetic >= 0 ? work->ops[row->arithmetic]
                                           : ops;
    row->rate = per_second(amount, row->result.time_ns);
}

/* A case that measures a ceiling is compared with that one: a copy over the host link is not
 * a slow copy in device memory. */
void view_row_ceiling(struct view_row *row, const struct view *view)
{
    const struct case_result *result = &row->result;
    row->ceiling_fraction = NAN;
    const char *own = ceiling_measured(&result->id);
    const struct ceiling *limit = own ? ceiling_named(&view->ceilings, own) : NULL;
    if (limit) {
        memcpy(row->ceiling, limit->name, sizeof row->ceiling);
        int a = view_arithmetic(limit->name);
        double amount = a >= 0 ? result->work.ops[a] : view_bytes(&result->work);
        row->ceiling_fraction = per_second(amount, result->time_ns) / limit->rate;
        return;
    }
    const struct launch_info *launch = stored_run_launch(view->run, row->stored->launch_id);
    if (own || !launch) return;
    const struct case_work work = view_work(result);
    if (!ceiling_binding(&view->ceilings, &work, result->id.temperature, launch->device.cache_bytes,
                         result->time_ns, row->ceiling, &row->ceiling_fraction)) {
        row->ceiling[0] = '\0';
        row->ceiling_fraction = NAN;
    }
}

void view_noise(const struct view *view, struct view_noise *noise)
{
    struct clock_seen clock = {.least_mhz = INFINITY};
    *noise = (struct view_noise){0};
    for (int i = 0; i < view->count; i++) {
        const struct view_row *row = &view->rows[i];
        if (!status_has_time(row->result.status)) continue;
        noise->rows += !row->is_hidden;
        noise->noisy += !row->is_hidden && row->is_noisy;
        clock_seen_add(&clock, row->result.sm_mhz, row->result.clock_reasons);
    }
    causes_of_launches(&noise->causes, view->run->launches, view->run->launch_count);
    causes_of_clock(&noise->causes, &clock);
}

bool view_noise_text(const struct view *view, char text[NOISE_TEXT])
{
    struct view_noise noise;
    view_noise(view, &noise);
    snprintf(text, NOISE_TEXT, "%s: %d of %d rows unreliable (± above %g %%)",
             noise.causes.count ? noise.causes.text[0] : "no cause was seen", noise.noisy,
             noise.rows, 100 * view->most_spread);
    for (int i = 1; i < noise.causes.count; i++)
        text_add(text, NOISE_TEXT, i == 1 ? "\nseen as well: " : ", ", "%s", noise.causes.text[i]);
    return noise.noisy > 0;
}
