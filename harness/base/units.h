/*
 * units.h - figures for people: three significant digits and a unit. Pure.
 *
 * A figure is rounded to three digits before its unit is chosen, so that 999.6 ns
 * is "1.00 us" and never "1000 ns". A figure that was not measured (NAN) is "-".
 * Beyond the largest unit, or far below the smallest, an exponent is shown:
 * "1.23e-09 ns". Each returns `out`, so that a call can stand in an argument.
 */
#pragma once

#include <stdbool.h>

enum { UNITS_MAX = 24 };

/* "1.23 us"; ns us ms s. */
const char *units_time(char out[UNITS_MAX], double ns);

/* "4.30 TB/s"; powers of 1000. */
const char *units_rate(char out[UNITS_MAX], double bytes_per_s);

/* "356 TFLOP/s", "915 TOP/s" for integer arithmetic. */
const char *units_ops(char out[UNITS_MAX], double ops_per_s, bool is_integer);

/* "95.3 %" for 0.953. */
const char *units_percent(char out[UNITS_MAX], double fraction);

/* "1.23x". */
const char *units_ratio(char out[UNITS_MAX], double ratio);

/* "1.00 MiB"; powers of 1024. Whole bytes below 1 KiB, and 1000 to 1023 of any unit,
 * are written without decimals: "512 B", "1016 KiB". */
const char *units_bytes(char out[UNITS_MAX], double bytes);
