/* energy.c - see energy.h. */
#include "device/cuda/energy.h"

#include <math.h>

static const double RESOLVED = 5; /* errors; the result is then within a fifth */

double energy_per_launch(const struct energy_stretch *stretch, double *error)
{
    double each = stretch->launches > 0 ? stretch->energy_mj / stretch->launches : NAN;
    *error = each * stretch->group_ns / stretch->ns;
    return each;
}

double energy_behind_flush(const struct energy_stretch *both, const struct energy_stretch *flush)
{
    double both_error, flush_error;
    double each = energy_per_launch(both, &both_error);
    each -= energy_per_launch(flush, &flush_error);
    return each >= RESOLVED * (both_error + flush_error) ? each : NAN;
}
