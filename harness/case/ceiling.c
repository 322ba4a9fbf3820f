#include "case/ceiling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A mix of reads and writes whose bandwidth is measured. Reads and writes share one bus,
 * which loses time whenever it changes direction. */
enum { MIXES = 4 };

struct mix {
    double written_share;
    const char *name;
};

static const struct mix memory_mixes[MIXES] = {
    {0, "memory_read"},
    {0.2, "memory_r4w1"},
    {0.5, "memory_copy"},
    {1, "memory_write"},
};

static const struct mix cache_mixes[MIXES] = {
    {0, "cache_read"},
    {0.2, "cache_r4w1"},
    {0.5, "cache_copy"},
    {1, "cache_write"},
};

/* The two directions of the host link, measured with page-locked memory. */
static const char link_up[] = "link_h2d", link_down[] = "link_d2h";

static double work_bytes(const struct case_work *work)
{
    return work->read_bytes + work->write_bytes;
}

const struct ceiling *ceiling_named(const struct ceilings *ceilings, const char *name)
{
    for (int i = 0; i < ceilings->count; i++)
        if (strcmp(ceilings->item[i].name, name) == 0) return &ceilings->item[i];
    return NULL;
}

/* The rate of a ceiling; NAN when it was not measured or is not known. */
static double ceiling_rate(const struct ceilings *ceilings, const char *name)
{
    const struct ceiling *item = ceiling_named(ceilings, name);
    return item ? item->rate : NAN;
}

/* How much of `work` a ceiling limits: operations if it has an arithmetic's name, else bytes. */
static double ceiling_amount(const char *name, const struct case_work *work)
{
    for (int i = 0; i < ARITHMETICS; i++)
        if (strcmp(name, arithmetic_name((enum assay_arithmetic)i)) == 0) return work->ops[i];
    if (work->over_link && strcmp(name, link_up) == 0) return work->write_bytes;
    if (work->over_link && strcmp(name, link_down) == 0) return work->read_bytes;
    return work_bytes(work);
}

static struct ceiling *find_or_add(struct ceilings *ceilings, const char *name)
{
    for (int i = 0; i < ceilings->count; i++)
        if (strcmp(ceilings->item[i].name, name) == 0) return &ceilings->item[i];
    if (ceilings->count == CEILING_MAX) return NULL;
    struct ceiling *item = &ceilings->item[ceilings->count++];
    *item = (struct ceiling){.rate = NAN};
    snprintf(item->name, sizeof item->name, "%s", name);
    return item;
}

/* A case that takes from `shortest_ns` to `longest_ns`. */
static void add(struct ceilings *ceilings, const char *name, const struct case_work *work,
                double shortest_ns, double longest_ns)
{
    double amount = ceiling_amount(name, work);
    double least = amount / longest_ns * 1e9, most = amount / shortest_ns * 1e9;
    /* No time, or nothing moved (a launch's overhead): no rate. */
    if (!isfinite(least) || least <= 0) return;
    struct ceiling *item = find_or_add(ceilings, name);
    if (!item) return;
    item->least = fmax(item->least, least);
    item->most = fmax(item->most, most);
    item->rate = item->least >= item->most ? item->least : NAN;
}

void ceilings_add(struct ceilings *ceilings, const char *name, const struct case_work *work,
                  double time_ns)
{
    add(ceilings, name, work, time_ns, time_ns);
}

void ceilings_learn(struct ceilings *ceilings, const char *name, const struct case_result *result,
                    double most_spread)
{
    if (result->status != STATUS_OK) return;
    if (result_is_noisy(result, most_spread))
        add(ceilings, name, &result->work, result->lo_ns, result->hi_ns);
    else
        ceilings_add(ceilings, name, &result->work, result->time_ns);
}

static bool stays_in_cache(const struct case_work *work, enum assay_temperature temperature,
                           int64_t cache_bytes)
{
    return temperature == ASSAY_HOT && work_bytes(work) <= 0.5 * (double)cache_bytes;
}

/* The mix nearest to that of the work, among those that `measured` has (NULL: all). */
static const struct mix *nearest_mix(const struct mix *mixes, const struct case_work *work,
                                     const struct ceilings *measured)
{
    double share = work->write_bytes / work_bytes(work);
    const struct mix *nearest = NULL;
    for (int i = 0; i < MIXES; i++) {
        if (measured && !ceiling_named(measured, mixes[i].name)) continue;
        double away = fabs(mixes[i].written_share - share);
        if (!nearest || away < fabs(nearest->written_share - share)) nearest = &mixes[i];
    }
    return nearest;
}

int ceilings_needed(const struct case_work *work, enum assay_temperature temperature,
                    int64_t cache_bytes, const char *names[CEILING_MAX])
{
    int count = 0;
    if (work->over_link) {
        if (work->write_bytes > 0) names[count++] = link_up;
        if (work->read_bytes > 0) names[count++] = link_down;
    } else if (work_bytes(work) > 0) {
        bool cached = stays_in_cache(work, temperature, cache_bytes);
        names[count++] = nearest_mix(cached ? cache_mixes : memory_mixes, work, NULL)->name;
    }
    for (int i = 0; i < ARITHMETICS; i++)
        if (work->ops[i] > 0) names[count++] = arithmetic_name((enum assay_arithmetic)i);
    return count;
}

/* Name of the measured bandwidth that applies to this work; NULL: none was measured. */
static const char *measured_bandwidth(const struct ceilings *ceilings, const struct case_work *work,
                                      enum assay_temperature temperature, int64_t cache_bytes)
{
    if (!(work_bytes(work) > 0)) return NULL;
    const struct mix *mix = NULL;
    if (stays_in_cache(work, temperature, cache_bytes))
        mix = nearest_mix(cache_mixes, work, ceilings);
    if (!mix) mix = nearest_mix(memory_mixes, work, ceilings);
    return mix ? mix->name : NULL;
}

/* ------------------------------------------------------------- binding -- */

/* Above this, work is arithmetic by its shape: near the machine balance of today's processors. */
static const double OPS_PER_BYTE = 16;

/* The shape is overruled where the other limit asks for more than this times as long. Ceilings
 * differ by less than that from run to run, unless they are noisy. */
static const double CLEARLY = 1.25;

bool ceiling_is_arithmetic(const struct case_work *work)
{
    double ops = 0;
    for (int i = 0; i < ARITHMETICS; i++)
        ops += work->ops[i];
    return ops > OPS_PER_BYTE * work_bytes(work);
}

struct least {
    double s; /* at most, where the ceiling is not known */
    const char *name;
    bool is_unknown;
};

/* A limit that was not measured (NAN) or has nothing to do is not longer. */
static void lengthen(struct least *least, const char *name, double amount, double rate)
{
    if (!(amount / rate > least->s)) return;
    least->s = amount / rate;
    least->name = name;
}

static struct least longest(const struct ceilings *ceilings, const struct case_work *work,
                            const char *const *names, int count)
{
    struct least least = {0, "", false};
    for (int i = 0; i < count; i++) {
        const struct ceiling *item = ceiling_named(ceilings, names[i]);
        if (!item) continue;
        lengthen(&least, names[i], ceiling_amount(names[i], work), item->least);
        if (strcmp(least.name, names[i]) == 0) least.is_unknown = isnan(item->rate);
    }
    return least;
}

/* Of the bytes: the link, where they cross it. */
static struct least bytes_limit(const struct ceilings *ceilings, const struct case_work *work,
                                enum assay_temperature temperature, int64_t cache_bytes)
{
    const char *const link[] = {link_up, link_down};
    if (work->over_link) return longest(ceilings, work, link, 2);
    const char *name = measured_bandwidth(ceilings, work, temperature, cache_bytes);
    return longest(ceilings, work, &name, name != NULL);
}

bool ceiling_binding(const struct ceilings *ceilings, const struct case_work *work,
                     enum assay_temperature temperature, int64_t cache_bytes, double time_ns,
                     char name[ASSAY_MAX_NAME], double *fraction)
{
    struct least bytes = bytes_limit(ceilings, work, temperature, cache_bytes);
    struct least ops = longest(ceilings, work, arithmetic_words.list, ARITHMETICS);
    bool by_ops = ceiling_is_arithmetic(work);
    struct least binding = by_ops ? ops : bytes, other = by_ops ? bytes : ops;
    /* Where the limit that the shape names was not measured, the other says nothing. */
    if (binding.s > 0 && other.s > CLEARLY * binding.s) binding = other;
    snprintf(name, ASSAY_MAX_NAME, "%s", binding.name);
    *fraction = binding.s > 0 && !binding.is_unknown ? binding.s * 1e9 / time_ns : NAN;
    return binding.s > 0;
}

/* ---------------------------------------------------------- least time -- */

static double fastest(const struct ceilings *ceilings, const struct mix *mixes)
{
    double rate = NAN; /* fmax leaves it out */
    for (int i = 0; i < MIXES; i++)
        rate = fmax(rate, ceiling_rate(ceilings, mixes[i].name));
    return rate;
}

/* The rate that an arithmetic may have. Tensor cores can make a product in fp32 from six in bf16,
 * of parts of its operands, faster than others make multiply-adds in fp32. */
static double fastest_ops(const struct ceilings *ceilings, enum assay_arithmetic arithmetic)
{
    const double BF16_PRODUCTS = 6, AT_MOST = 3; /* times the multiply-adds, if bf16 is not known */
    double rate = ceiling_rate(ceilings, arithmetic_name(arithmetic));
    if (arithmetic != ASSAY_FP32) return rate;
    double parts = ceiling_rate(ceilings, arithmetic_name(ASSAY_BF16_OPS)) / BF16_PRODUCTS;
    return isnan(parts) ? AT_MOST * rate : fmax(rate, parts);
}

double ceiling_least_ns(const struct ceilings *ceilings, const struct case_work *work,
                        enum assay_temperature temperature, int64_t cache_bytes,
                        char name[ASSAY_MAX_NAME])
{
    struct least least = {0, "", false};
    if (work->over_link) {
        lengthen(&least, link_up, work->write_bytes, ceiling_rate(ceilings, link_up));
        lengthen(&least, link_down, work->read_bytes, ceiling_rate(ceilings, link_down));
    } else {
        double kept = temperature == ASSAY_HOT ? work_bytes(work) : work->write_bytes;
        double through = work_bytes(work) - fmin(kept, (double)cache_bytes);
        lengthen(&least, "memory", through, fastest(ceilings, memory_mixes));
        lengthen(&least, "cache", work_bytes(work), fastest(ceilings, cache_mixes));
    }
    for (int i = 0; i < ARITHMETICS; i++) {
        const enum assay_arithmetic arithmetic = (enum assay_arithmetic)i;
        lengthen(&least, arithmetic_name(arithmetic), work->ops[i],
                 fastest_ops(ceilings, arithmetic));
    }
    snprintf(name, ASSAY_MAX_NAME, "%s", least.name);
    return least.s * 1e9;
}
