#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "device/counter_sets.h"
#include "device/profile_rules.h"

/* Thresholds of the rules; docs/profile.md gives the reasons. A unit above BUSY has no
 * reserve that a kernel could rely on (DRAM itself reaches about 88 % of its peak); a unit
 * below IDLE is not the limit. Nsight Compute uses the same two thresholds. LAUNCH is
 * twice the time that a copy takes in addition to bytes over bandwidth: in anything
 * shorter, more than half is launch overhead. */
static const double BUSY_PCT = 80, IDLE_PCT = 60, LAUNCH_NS = 2200;

struct figures {
    double time_ns; /* of one kernel, from its activity record */
    double dram, l2, sm, at_work, occupancy;
    double tensor, fma, issue; /* averaged over the at_work % of the time when an SM has work */
    const char *stall;         /* the largest; NULL unknown */
    double stall_cycles;
};

/* The rules that look at more than one unit. False when the rule does not hold. */

static bool say_short(const struct figures *f, char *out, size_t size)
{
    char time[UNITS_MAX];
    if (!(f->time_ns < LAUNCH_NS)) return false;
    units_time(time, f->time_ns);
    snprintf(out, size, "launch: %s per kernel is mostly its start and end", time);
    return true;
}

/* Convert a figure that covers only SMs with work to one over all SMs and all the time. */
static double over_all(const struct figures *f, double pct)
{
    return isnan(f->at_work) ? pct : pct * f->at_work / 100;
}

static bool say_partial(const struct figures *f, char *out, size_t size)
{
    char text[32];
    double most = fmax(f->tensor, fmax(f->fma, f->issue));
    if (!(most >= BUSY_PCT && over_all(f, most) < IDLE_PCT)) return false;
    counter_text(text, sizeof text, COUNTER_PCT, f->at_work);
    snprintf(out, size,
             "parallelism: the multiprocessors are busy, but have work only %s of the time:"
             " too few blocks, or uneven ones",
             text);
    return true;
}

static double busiest(const struct figures *f)
{
    return fmax(fmax(f->dram, f->l2), fmax(f->sm, over_all(f, f->tensor)));
}

static bool say_latency(const struct figures *f, char *out, size_t size)
{
    char unit[32], occupancy[32];
    if (!(f->stall && busiest(f) <= IDLE_PCT)) return false;
    counter_text(unit, sizeof unit, COUNTER_PCT, busiest(f));
    counter_text(occupancy, sizeof occupancy, COUNTER_PCT, f->occupancy);
    snprintf(out, size,
             "latency: no unit above %s; warps wait for %s, %.1f cycles per instruction,"
             " occupancy %s",
             unit, f->stall, f->stall_cycles, occupancy);
    return true;
}

static bool say_mixed(const struct figures *f, char *out, size_t size)
{
    char dram[32], l2[32], sm[32];
    if (isnan(busiest(f))) return false;
    counter_text(dram, sizeof dram, COUNTER_PCT, f->dram);
    counter_text(l2, sizeof l2, COUNTER_PCT, f->l2);
    counter_text(sm, sizeof sm, COUNTER_PCT, f->sm);
    snprintf(out, size, "mixed: no single bound (DRAM %s, L2 %s, SM %s)%s%s", dram, l2, sm,
             f->stall ? "; warps wait for " : "", f->stall ? f->stall : "");
    return true;
}

/* A rule with a unit holds when that unit is busy; the others have their own functions. */
static const struct rule {
    bool (*say)(const struct figures *f, char *out, size_t size);
    size_t pct; /* offset of the unit's figure */
    const char *word, *unit;
} rules[] = {
    {say_short, 0, NULL, NULL},
    {NULL, offsetof(struct figures, dram), "memory", "DRAM"},
    {say_partial, 0, NULL, NULL},
    {NULL, offsetof(struct figures, tensor), "compute", "the tensor pipe"},
    {NULL, offsetof(struct figures, fma), "compute", "the FMA pipe"},
    {NULL, offsetof(struct figures, issue), "instructions", "issue"},
    {NULL, offsetof(struct figures, l2), "cache", "L2"},
    {NULL, offsetof(struct figures, sm), "compute", "a unit of the SM"},
    {say_latency, 0, NULL, NULL},
    {say_mixed, 0, NULL, NULL},
};

static bool apply(const struct rule *rule, const struct figures *f, char *out, size_t size)
{
    char text[32];
    if (rule->say) return rule->say(f, out, size);
    double pct = *(const double *)((const char *)f + rule->pct);
    if (!(pct >= BUSY_PCT)) return false;
    counter_text(text, sizeof text, COUNTER_PCT, pct);
    snprintf(out, size, "%s: %s at %s of its peak", rule->word, rule->unit, text);
    return true;
}

/* A warp that is "not selected" could issue, so it does not count as a stall. */
static bool is_stall(const struct counter_label *label)
{
    return label->unit == COUNTER_CYCLES && strcmp(label->label, "not selected") != 0;
}

const char *profile_top_stall(const struct profile *profile, const double *values, int skip,
                              double *cycles)
{
    double below = INFINITY;
    const char *found = NULL;
    *cycles = NAN;
    for (int round = 0; round <= skip; round++) {
        double most = -1;
        found = NULL;
        for (int i = 0; i < profile->counter_count; i++) {
            struct counter_label label = counter_label(profile->counter[i]);
            if (!is_stall(&label) || !(values[i] < below) || !(values[i] > most)) continue;
            most = values[i];
            found = label.label;
        }
        if (found == NULL) return NULL;
        below = *cycles = most;
    }
    return found;
}

void profile_verdict(const struct profile *profile, const double *values, double time_ns,
                     char out[PROFILE_MAX_WORDS])
{
    struct figures f = {
        .time_ns = time_ns,
        .dram = profile_counter(profile, values, COUNTER_DRAM),
        .l2 = profile_counter(profile, values, COUNTER_L2),
        .sm = profile_counter(profile, values, COUNTER_SM),
        .at_work = profile_counter(profile, values, COUNTER_AT_WORK),
        .tensor = profile_counter(profile, values, COUNTER_TENSOR),
        .fma = profile_counter(profile, values, COUNTER_FMA),
        .issue = profile_counter(profile, values, COUNTER_ISSUE),
        .occupancy = profile_counter(profile, values, COUNTER_OCCUPANCY),
    };
    f.stall = profile_top_stall(profile, values, 0, &f.stall_cycles);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (apply(&rules[i], &f, out, PROFILE_MAX_WORDS)) return;
    snprintf(out, PROFILE_MAX_WORDS, "unknown: its counters were not read");
}

bool profile_is_whole(const struct profile *profile)
{
    if (profile->passes < 0 || profile->kernel_count < 2) return false;
    for (int k = 0; k < profile->kernel_count; k++)
        for (int i = 0; i < profile->counter_count; i++)
            if (!isnan(profile->kernels[k].counter[i])) return false;
    return true;
}

void profile_kernel_verdict(const struct profile *profile, const struct profile_kernel *kernel,
                            char out[PROFILE_MAX_WORDS])
{
    out[0] = '\0';
    if (kernel->activity != CUPTI_KERNEL || profile_is_whole(profile)) return;
    /* The record's time may include a wait for the kernel before, the counter's time includes
     * the overhead of counting: the true time is below both. */
    double counted_ns = profile_counter(profile, kernel->counter, COUNTER_TIME);
    profile_verdict(profile, kernel->counter, fmin(kernel->busy_ns, counted_ns) / kernel->count,
                    out);
}

double profile_traffic_ratio(const struct profile *profile, const struct case_work *work)
{
    double moved = profile_counter(profile, profile->whole, COUNTER_DRAM_READ) +
                   profile_counter(profile, profile->whole, COUNTER_DRAM_WRITE);
    double needed = work->read_bytes + work->write_bytes;
    return needed > 0 ? moved / needed : NAN;
}
