/*
 * options.h - what commands share in reading their arguments with getopt_long.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <getopt.h>

/* After getopt_long (with ":" in front of the short options) returned '?' or
 * ':': -1 through assay_error, which names the argument and suggests the option
 * that was likely meant. */
int option_misused(char **argv, int returned, const struct option *options);

/* Whether each of the files named can be read ("-" is standard input), before anything is
 * made for their sake; -1 with assay_error, which names the first that cannot. */
int option_check_readable(char *const *paths, int count);

/* "assay NAME: " and the last error on standard error; returns EXIT_USAGE. For
 * what failed after the arguments were understood, where command_misused would
 * point at the help in vain. */
int command_failed(const char *name);

#endif
