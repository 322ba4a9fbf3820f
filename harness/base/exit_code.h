/*
 * exit_code.h - exit codes of the program; scripts and CI rely on them.
 */
#pragma once

enum {
    EXIT_FINE = 0,
    EXIT_REGRESSED = 1, /* or wrong */
    EXIT_USAGE = 2,     /* or configuration */
    EXIT_UNDECIDED = 3, /* measured but undecided, only with --fail-on */
    EXIT_NOTHING = 4,   /* nothing measured or nothing comparable */
    EXIT_LOST = 5,      /* a case crashed, timed out or went missing */
    EXIT_INTERRUPTED = 130,
};
