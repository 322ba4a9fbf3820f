/*
 * sim_spec.h - what a simulated device is asked to be: the text after
 * `--device sim:`, as data. Pure. docs/simulated.md is its manual.
 */
#ifndef SIM_SPEC_H
#define SIM_SPEC_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_MAX_RULES = 32, SIM_MAX_GLOB = 100 };

/* What befalls the cases whose operation/variant matches a glob. */
enum sim_fate {
    SIM_SLOW,
    SIM_CRASH,
    SIM_HANG,
    SIM_WRONG,
    SIM_MISSING,
    SIM_FATES,
};

struct sim_rule {
    enum sim_fate fate;
    char glob[SIM_MAX_GLOB];
    double pct; /* of SIM_SLOW: how much longer; below 0 is faster */
};

struct sim_spec {
    uint64_t seed;
    double noise_pct;      /* within a launch: standard deviation of a sample's logarithm */
    double launch_pct;     /* between launches: the same of a case's median */
    double drift_pct;      /* a simulated minute */
    double mode_share;     /* of the launches of a case that are in the second mode */
    double mode_pct;       /* how much longer it takes in that mode */
    double throttle_share; /* of the blocks */
    int rule_count;
    struct sim_rule rules[SIM_MAX_RULES];
};

/* Read "sim" or "sim:KEY=VALUE,...". -1 with assay_error, one line that says what
 * is right, for anything else. */
int sim_spec_parse(const char *text, struct sim_spec *spec);

/* Whether a rule of this fate matches. */
bool sim_spec_has(const struct sim_spec *spec, enum sim_fate fate, const char *operation,
                  const char *variant);

/* The product of 1 + PCT / 100 over the SIM_SLOW rules that match. */
double sim_spec_slowdown(const struct sim_spec *spec, const char *operation, const char *variant);

#endif
