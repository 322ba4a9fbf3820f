#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Units, each 1000 times the one before, with the blank between figure and unit. */
struct scale {
    int count;
    const char *unit[6];
};

static const struct scale time_scale = {4, {" ns", " us", " ms", " s"}};
static const struct scale rate_scale = {6, {" B/s", " kB/s", " MB/s", " GB/s", " TB/s", " PB/s"}};
static const struct scale flop_scale = {
    6, {" FLOP/s", " kFLOP/s", " MFLOP/s", " GFLOP/s", " TFLOP/s", " PFLOP/s"}};
static const struct scale op_scale = {6,
                                      {" OP/s", " kOP/s", " MOP/s", " GOP/s", " TOP/s", " POP/s"}};
static const struct scale percent_scale = {1, {" %"}};
static const struct scale ratio_scale = {1, {"x"}};

/* Binary units are chosen in units_bytes; each is then written as a scale of one unit. */
static const struct scale byte_scales[] = {
    {1, {" B"}}, {1, {" KiB"}}, {1, {" MiB"}}, {1, {" GiB"}}, {1, {" TiB"}},
};
enum { BYTE_SCALES = sizeof byte_scales / sizeof *byte_scales };

/* printf rounds to three digits, correctly and once; its text then gives the rounded
 * figure and the exponent, which chooses unit and decimals. */
static const char *write_figure(char out[UNITS_MAX], double value, const struct scale *scale)
{
    char digits[UNITS_MAX];
    snprintf(digits, sizeof digits, "%.2e", value);
    const char *mark = strchr(digits, 'e');
    int exponent = mark ? atoi(mark + 1) : 0;

    int unit = exponent < 0 ? 0 : exponent / 3;
    if (unit >= scale->count) unit = scale->count - 1;
    double scaled = strtod(digits, NULL) / pow(10, 3 * unit);
    int left = exponent - 3 * unit;
    if (isnan(value))
        snprintf(out, UNITS_MAX, "-");
    else if (left < -6 || left > 6)
        snprintf(out, UNITS_MAX, "%.2e%s", scaled, scale->unit[unit]);
    else
        snprintf(out, UNITS_MAX, "%.*f%s", left < 2 ? 2 - left : 0, scaled, scale->unit[unit]);
    return out;
}

static bool is_whole(double value)
{
    return value == trunc(value);
}

const char *units_time(char out[UNITS_MAX], double ns)
{
    return write_figure(out, ns, &time_scale);
}

const char *units_rate(char out[UNITS_MAX], double bytes_per_s)
{
    return write_figure(out, bytes_per_s, &rate_scale);
}

const char *units_ops(char out[UNITS_MAX], double ops_per_s, bool is_integer)
{
    return write_figure(out, ops_per_s, is_integer ? &op_scale : &flop_scale);
}

const char *units_percent(char out[UNITS_MAX], double fraction)
{
    return write_figure(out, 100 * fraction, &percent_scale);
}

const char *units_ratio(char out[UNITS_MAX], double ratio)
{
    return write_figure(out, ratio, &ratio_scale);
}

const char *units_bytes(char out[UNITS_MAX], double bytes)
{
    /* From 1023.5 on, a unit would be written as 1024, which is 1.00 of the next one. */
    int unit = 0;
    for (; fabs(bytes) >= 1023.5 && unit < BYTE_SCALES - 1; unit++)
        bytes /= 1024;
    bool plain = fabs(bytes) < 1024 && (fabs(bytes) >= 1000 || (unit == 0 && is_whole(bytes)));
    if (!plain) return write_figure(out, bytes, &byte_scales[unit]);
    snprintf(out, UNITS_MAX, "%.0f%s", bytes, byte_scales[unit].unit[0]);
    return out;
}
