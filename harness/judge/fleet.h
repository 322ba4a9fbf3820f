/*
 * fleet.h - every card of a fleet against the other cards of its model. Pure.
 *
 * Cards are compared within a cohort: one model, program, driver and way of measuring. Of each case
 * the card's time (the median of its launches) is held against the median over the cohort, so that
 * only equal work is compared; the median of these log ratios over a card's cases is its deviation.
 * The cohort says how far healthy cards lie apart: median and Qn (Rousseeuw and Croux, JASA 88
 * (1993)), which slow cards hardly move. A deviation over that spread is taken as a draw from
 * Student's t with as many degrees of freedom as the spread is worth. Holm's procedure over all
 * cards keeps the probability of any false alarm in a sweep of healthy cards at most `alpha`, if
 * deviations are normal: most of it for times, the rest for all ceilings and clocks. And a card is
 * only found if it is off by `threshold` or more.
 *
 * What a card says of itself needs no statistics: lanes and generation of its link, ECC, power
 * limit, slow-downs; nor do answers that are wrong on this card and right on others.
 */
#pragma once

#include "case/run_record.h"

enum {
    FLEET_LEAST_CARDS = 6, /* of a cohort that is judged */
    FLEET_MEASURES = 32,   /* of a card, at most */
    FLEET_REASON = 512,
};

/* The first two measures; those that follow are ceilings. */
enum { MEASURE_TIME, MEASURE_CLOCK, MEASURE_CEILINGS };

#define FLEET_ALPHA     0.01
#define FLEET_THRESHOLD 0.01

/* What may be found of a card, one bit each. */
enum fleet_finding {
    FLEET_SLOW,     /* its times are longer */
    FLEET_CEILING,  /* a ceiling is lower */
    FLEET_CLOCK,    /* its SM clock is lower */
    FLEET_LINK,     /* its link has fewer lanes, or an older generation */
    FLEET_ECC,      /* ECC is not as on the others, or saw errors that it could not correct */
    FLEET_POWER,    /* a lower power limit */
    FLEET_THROTTLE, /* a hardware slow-down was reported */
    FLEET_WRONG,    /* a wrong answer, where most cards are right */
    FLEET_LOST,     /* a case crashed, timed out or is missing, where most cards have it */
    FLEET_FINDINGS,
};
extern const struct words fleet_words; /* "slow", "ceiling", ... */

/* How far a card is from its cohort: above 0 is worse (slower, lower), a fraction. */
struct fleet_deviation {
    double away; /* NAN: not measured, or not judged */
    double p;    /* one-sided */
    int cases;
    bool found;
};

/* One physical card in one host. */
struct fleet_card {
    /* given */
    char uuid[RESULT_MAX_PROPERTY]; /* what --device took, where the device has none */
    char host[RESULT_MAX_PROPERTY];
    char run[STORE_ID], started_at[32]; /* of its newest run */
    int cohort;
    bool is_asked;       /* for; the others are what it is held against */
    int launches, cases; /* that could be held against others */
    double power_limit_w;
    int32_t ecc;
    int64_t ecc_uncorrected;                      /* since the driver was loaded; -1 unknown */
    int32_t link_width, link_width_max;           /* lanes; -1 unknown */
    int32_t link_generation, link_generation_max; /* of PCIe */
    uint64_t clock_reasons;                       /* seen in any case */
    /* found */
    int wrong, lost; /* cases, as the findings have them */
    struct fleet_deviation measure[FLEET_MEASURES];
    unsigned findings; /* 1 << enum fleet_finding */
    char reason[FLEET_REASON];
};

struct fleet_cohort {
    char model[RESULT_MAX_PROPERTY], driver[RESULT_MAX_PROPERTY];
    char version[RESULT_MAX_PROPERTY], commit[RESULT_MAX_PROPERTY];
    char key[STORE_ID]; /* a hash of all that its cards have in common */
    bool simulated;
    int cards;     /* all */
    int judged;    /* those whose times could be judged */
    double spread; /* standard deviation of healthy cards' times, a fraction; NAN unknown */
    double least;  /* a card that is slower by this is found with 80 % power; NAN unknown */
};

/* What one launch of a card says of one case. Those of a case are adjacent. */
struct fleet_value {
    int card, case_number;
    int measure;    /* a ceiling that the case measures; else MEASURE_TIME */
    int status;     /* enum case_status; -1: the plan has it, and there is no row */
    double time_ns; /* NAN unless it has a time */
    double sm_mhz;  /* NAN unknown */
};

struct fleet {
    struct fleet_card *cards;
    int card_count;
    struct fleet_cohort *cohorts;
    int cohort_count;
    char ceiling[FLEET_MEASURES][ASSAY_MAX_NAME]; /* of MEASURE_CEILINGS and on */
    int measures;
    double alpha, threshold;
};

void fleet_release(struct fleet *fleet);

/* "time", "clock", or the ceiling's name. */
const char *fleet_measure_name(const struct fleet *fleet, int measure);

/* Whether a card's times were held against others. */
bool fleet_is_judged(const struct fleet_card *card);

/* A count of a card's facts; NAN where it is not known. */
double fleet_count(int64_t count);

/* What is said of the cards that were asked for. */
struct fleet_tally {
    int cards, judged, found; /* found: with a finding */
    int lost;                 /* with a case lost */
    int exit;                 /* EXIT_LOST, EXIT_REGRESSED, EXIT_NOTHING where none is judged */
};
struct fleet_tally fleet_tally(const struct fleet *fleet);

/* Find what there is to find. `values` is reordered within its cases. -1 with assay_error when out
 * of memory. */
int fleet_judge(struct fleet *fleet, struct fleet_value *values, int count);
