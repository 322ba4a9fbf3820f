#include "device/cuda/energy.h"

#include <math.h>

static const double RESOLVED = 5;       /* errors; the result is then within a fifth */
static const double COUNTER_NS = 100e6; /* the counter is not older than this */

double energy_per_launch(const struct energy_stretch *stretch, double *error)
{
    double each = stretch->launches > 0 ? stretch->energy_mj / stretch->launches : NAN;
    *error = each * fmin(stretch->group_ns, COUNTER_NS) / stretch->ns;
    return each;
}

double energy_behind_flush(const struct energy_stretch *both, const struct energy_stretch *flush)
{
    double both_error, flush_error;
    double each = energy_per_launch(both, &both_error);
    each -= energy_per_launch(flush, &flush_error);
    return each >= RESOLVED * (both_error + flush_error) ? each : NAN;
}
