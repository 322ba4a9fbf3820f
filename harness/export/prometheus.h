/*
 * prometheus.h - the text format of Prometheus (0.0.4), for the textfile collector of its node
 * exporter: few labels, no timestamps, base units (seconds, bytes). A file is replaced atomically
 * (out_file.h), as the collector requires. A line is a name, labels and a value.
 */
#pragma once

#include <stdio.h>

/* What a metric is, before its lines. */
void prometheus_help(FILE *out, const char *name, const char *help);
/* One label; `before` is '{' for the first of a line, ',' for the others. */
void prometheus_label(FILE *out, char before, const char *name, const char *value);
/* The end of a line. */
void prometheus_value(FILE *out, double value);
