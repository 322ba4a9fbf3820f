#include "judge/account.h"

#include <math.h>

const char *account_term_name(int term)
{
    static const char *const names[ACCOUNT_TERMS] = {"launches", "gaps",         "clock",
                                                     "bytes",    "instructions", "waits"};
    return names[term];
}

/* One for both sides: that of an empty kernel is of the device, not of the code. */
static double start_of(const struct account_facts *base, const struct account_facts *candidate)
{
    if (isnan(base->launches) || isnan(candidate->launches)) return 0;
    if (isnan(base->start_ns)) return isnan(candidate->start_ns) ? 0 : candidate->start_ns;
    return isnan(candidate->start_ns) ? base->start_ns : (base->start_ns + candidate->start_ns) / 2;
}

/* Gaps are between launches: count x length, whose change is that of the count at the mean length
 * and that of the length at the mean count. Where one side has no room for a gap its length is the
 * other's. */
static void divide_gaps(struct account *account, const struct account_facts *base,
                        const struct account_facts *candidate)
{
    double change = candidate->gaps_ns - base->gaps_ns, more = 0;
    double before = fmax(base->launches - 1, 0), after = fmax(candidate->launches - 1, 0);
    if (isnan(change)) return;
    if (before > 0 && after > 0)
        more = (after - before) * (base->gaps_ns / before + candidate->gaps_ns / after) / 2;
    else if (before > 0)
        more = -base->gaps_ns;
    else if (after > 0)
        more = candidate->gaps_ns;
    if (isnan(account->term_ns[TERM_LAUNCHES])) more = 0;
    account->term_ns[TERM_LAUNCHES] += more;
    account->term_ns[TERM_GAPS] = change - more;
}

static double known(double value)
{
    return isnan(value) ? 0 : value;
}

static double logarithmic_mean(double a, double b)
{
    double ratio = log(a / b);
    return fabs(ratio) < 1e-9 ? (a + b) / 2 : (a - b) / ratio;
}

/* How much of the work is bound by the memory, 0 to 1. What is not known does not bind. */
static double memory_part(const struct account_facts *base, const struct account_facts *candidate)
{
    double share = (base->memory_share + candidate->memory_share) / 2;
    double part = (share - MEMORY_IDLE) / (MEMORY_BUSY - MEMORY_IDLE);
    return part > 0 ? fmin(part, 1) : 0;
}

/* ln of how much a factor of the work grew; NAN unless it is known on both sides. */
static double growth(double base, double candidate)
{
    return base > 0 && candidate > 0 ? log(candidate / base) : NAN;
}

/* A factor that has no part in the work adds nothing, known or not. */
static double weighed(double weight, double value)
{
    return weight > 0 ? weight * value : 0;
}

static void divide_work(struct account *account, const struct account_facts *base,
                        const struct account_facts *candidate, double before_ns, double after_ns)
{
    double part = memory_part(base, candidate);
    double mean_ns = logarithmic_mean(before_ns, after_ns);
    double bytes = growth(base->bytes, candidate->bytes);
    double instructions = growth(base->instructions, candidate->instructions);
    double issued = growth(base->issue_share, candidate->issue_share);
    double moved = growth(base->memory_share, candidate->memory_share);
    /* A share that is not of counted bytes says nothing of how the memory was used. */
    if (isnan(bytes)) moved = NAN;
    double *term_ns = account->term_ns;
    term_ns[TERM_CLOCK] = mean_ns * (1 - part) * growth(candidate->sm_mhz, base->sm_mhz);
    if (!isnan(bytes)) term_ns[TERM_BYTES] = mean_ns * weighed(part, bytes);
    if (!isnan(instructions))
        term_ns[TERM_INSTRUCTIONS] = mean_ns * weighed(1 - part, instructions);
    term_ns[TERM_WAITS] = -mean_ns * (weighed(1 - part, issued) + weighed(part, moved));
}

struct account account_make(const struct account_facts *base, const struct account_facts *candidate)
{
    struct account account = {.difference_ns = candidate->time_ns - base->time_ns};
    double start_ns = start_of(base, candidate), work_ns[2];
    const struct account_facts *sides[] = {base, candidate};
    for (int i = 0; i < ACCOUNT_TERMS; i++)
        account.term_ns[i] = NAN;
    for (int i = 0; i < 2; i++)
        work_ns[i] =
            sides[i]->time_ns - known(sides[i]->gaps_ns) - known(sides[i]->launches) * start_ns;
    if (!(work_ns[0] > 0 && work_ns[1] > 0) && start_ns > 0) {
        /* Launches that overlap do not each take the time of an empty one. */
        for (int i = 0; i < 2; i++)
            work_ns[i] += known(sides[i]->launches) * start_ns;
        start_ns = 0;
    }
    account.term_ns[TERM_LAUNCHES] = (candidate->launches - base->launches) * start_ns;
    divide_gaps(&account, base, candidate);
    /* Neither a start nor a gap is known of those that are more. */
    if (candidate->launches != base->launches && start_ns == 0 && isnan(account.term_ns[TERM_GAPS]))
        account.term_ns[TERM_LAUNCHES] = NAN;
    if (work_ns[0] > 0 && work_ns[1] > 0)
        divide_work(&account, base, candidate, work_ns[0], work_ns[1]);
    account.unexplained_ns = account.difference_ns;
    for (int i = 0; i < ACCOUNT_TERMS; i++)
        account.unexplained_ns -= known(account.term_ns[i]);
    return account;
}
