/*
 * sim_spec.h - the parsed settings of a simulated device, from the text after
 * `--device sim:`. Pure. docs/simulated.md is the manual.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { SIM_MAX_RULES = 32, SIM_MAX_GLOB = 100, SIM_MAX_GPUS = 64 };

/* What a rule does to the cases whose operation/variant matches its glob. */
enum sim_fate {
    SIM_SLOW,
    SIM_BIAS, /* slower too, with the same machine code */
    SIM_CRASH,
    SIM_HANG,
    SIM_WRONG,
    SIM_MISSING,
    SIM_FATES,
};

struct sim_rule {
    enum sim_fate fate;
    char glob[SIM_MAX_GLOB];
    double pct; /* for SIM_SLOW and SIM_BIAS: how much longer; below 0 is faster */
};

struct sim_spec {
    uint64_t seed;
    double noise_pct;      /* standard deviation of ln(sample) within a launch, in per cent */
    double launch_pct;     /* standard deviation of ln(median) between launches, in per cent */
    double drift_pct;      /* per simulated minute */
    double mode_share;     /* share of the launches of a case that are in the second mode */
    double mode_pct;       /* how much longer the second mode takes */
    double place_share;    /* share of the twins of a case in a launch that lie worse */
    double place_pct;      /* how much longer these take */
    double throttle_share; /* share of the blocks that are throttled */
    int gpus;              /* of the machine; 0: it was not said, and there is one */
    int gpu;               /* which of them, from 0; -1: none is named, or all are (gpu=all) */
    double step_ns;        /* of the clock, which reads multiples of it; 0: any time */
    double code;           /* the number of the build that its machine code is of; NAN: unsaid */
    int rule_count;
    struct sim_rule rules[SIM_MAX_RULES];
};

/* Parse "sim" or "sim:KEY=VALUE,...". -1 with assay_error, which says what is expected. */
int sim_spec_parse(const char *text, struct sim_spec *spec);

/* Whether a rule with this fate matches. */
bool sim_spec_has(const struct sim_spec *spec, enum sim_fate fate, const char *operation,
                  const char *variant);

/* The product over the SIM_SLOW rules alone: what a change of the code adds to its work. */
double sim_spec_work(const struct sim_spec *spec, const char *operation, const char *variant);

/* What its machine code is made of, as text: the build, and the SIM_SLOW rules that match. */
enum { SIM_CODE = 128 };
void sim_spec_code(const struct sim_spec *spec, const char *operation, const char *variant,
                   char out[SIM_CODE]);

/* The product of 1 + PCT / 100 over the SIM_SLOW and SIM_BIAS rules that match. */
double sim_spec_slowdown(const struct sim_spec *spec, const char *operation, const char *variant);
