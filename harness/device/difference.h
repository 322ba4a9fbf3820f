/*
 * difference.h - how much two elements differ, for host and device code; see struct difference.
 */
#pragma once

#include <math.h>

#include "base/fill.h"

FILL_FUNCTION double difference_of(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b))) return 0;
    double by = fabs(a - b);
    return isnan(by) ? (double)INFINITY : by;
}
