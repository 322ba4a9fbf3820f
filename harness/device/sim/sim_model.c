#include <math.h>

#include "base/fill.h"
#include "base/rng.h"
#include "case/twins.h"
#include "device/sim/sim_model.h"

static const double START_NS = 2000, BYTES_PER_NS = 4000, OPS_PER_NS = 1e5;
static const double IDENTITY_SHARE = 0.5;             /* largest increase derived from the name */
static const double SPIKE_SHARE = 0.03;               /* of the samples */
static const double SPIKE_LEAST = 5, SPIKE_MOST = 50; /* multiples of the noise */
static const double THROTTLE_FACTOR = 1.2;

/* Independent random streams of one seed: drawing from one does not shift another. */
enum stream {
    STREAM_START = 1,
    STREAM_DEVIATION,
    STREAM_MODE,
    STREAM_BLOCK,
    STREAM_NOISE,
    STREAM_SPIKE,
    STREAM_SPIKE_SIZE,
    STREAM_STEP,
    STREAM_PLACE
};

static double draw_uniform(uint64_t seed, enum stream stream, int64_t index)
{
    return fill_uniform(fill_hash(rng_mix(seed, (uint64_t)stream), (uint64_t)index));
}

/* Median 1; the logarithm's standard deviation is pct / 100. */
static double draw_factor(double pct, uint64_t seed, enum stream stream, int64_t index)
{
    return exp(pct / 100 * fill_normal(rng_mix(seed, (uint64_t)stream), (uint64_t)index));
}

static uint64_t hash_text(uint64_t seed, const char *text)
{
    for (size_t i = 0; text[i]; i++)
        seed = rng_mix(seed, (unsigned char)text[i]);
    return rng_mix(seed, 256); /* marks the end: "ab", "c" differs from "a", "bc" */
}

/* Twins are the same code in the same launch: they differ in the noise of samples alone. */
static uint64_t hash_case(uint64_t seed, const struct case_id *id)
{
    char plain[ASSAY_MAX_NAME];
    twin_split(id->variant, plain);
    seed = hash_text(seed, id->operation);
    seed = hash_text(seed, plain);
    seed = hash_text(seed, id->shape);
    return rng_mix(seed, (uint64_t)id->temperature);
}

struct sim_launch sim_launch_begin(const struct sim_spec *spec, uint64_t launch_seed, int number)
{
    uint64_t seed = rng_mix(spec->seed, launch_seed);
    double minutes = number - 1 + draw_uniform(seed, STREAM_START, 0);
    return (struct sim_launch){.seed = seed, .start_s = 60 * minutes};
}

double sim_fixed_ns(const struct case_id *id, const struct case_work *work)
{
    double ops = 0;
    for (int i = 0; i < ARITHMETICS; i++)
        ops += work->ops[i];
    double least =
        START_NS + (work->read_bytes + work->write_bytes) / BYTES_PER_NS + ops / OPS_PER_NS;
    return least * (1 + IDENTITY_SHARE * fill_uniform(hash_case(0, id)));
}

struct sim_case sim_case_begin(const struct sim_spec *spec, const struct sim_launch *launch,
                               const struct case_id *id, const struct case_work *work)
{
    uint64_t seed = hash_case(launch->seed, id);
    bool in_mode = draw_uniform(seed, STREAM_MODE, 0) < spec->mode_share;
    double time_ns =
        sim_fixed_ns(id, work) * draw_factor(spec->launch_pct, seed, STREAM_DEVIATION, 0);
    if (in_mode) time_ns *= 1 + spec->mode_pct / 100;
    time_ns *= sim_spec_slowdown(spec, id->operation, id->variant);
    char plain[ASSAY_MAX_NAME];
    if (twin_split(id->variant, plain) >= 0) seed = hash_text(seed, id->variant);
    if (draw_uniform(seed, STREAM_PLACE, 0) < spec->place_share)
        time_ns *= 1 + spec->place_pct / 100;
    return (struct sim_case){.seed = seed, .time_ns = time_ns, .in_mode = in_mode};
}

bool sim_is_throttled(const struct sim_spec *spec, const struct sim_case *at, int64_t block)
{
    return draw_uniform(at->seed, STREAM_BLOCK, block) < spec->throttle_share;
}

/* The factor of a spike; 1 for most samples. */
static double draw_spike(const struct sim_spec *spec, const struct sim_case *at, int64_t sample)
{
    if (draw_uniform(at->seed, STREAM_SPIKE, sample) >= SPIKE_SHARE) return 1;
    double size = draw_uniform(at->seed, STREAM_SPIKE_SIZE, sample);
    return 1 + spec->noise_pct / 100 * (SPIKE_LEAST + (SPIKE_MOST - SPIKE_LEAST) * size);
}

/* What a clock reads that advances in steps, one of which begins anywhere within the launch. */
static double read_clock(double step_ns, double ns, const struct sim_case *at, int64_t sample)
{
    if (!(step_ns > 0)) return ns;
    return step_ns * floor(ns / step_ns + draw_uniform(at->seed, STREAM_STEP, sample));
}

double sim_sample_ns(const struct sim_spec *spec, const struct sim_case *at, int64_t sample,
                     double now_s, bool throttled)
{
    /* Compounded, so that a negative drift never reaches zero. */
    double drift = pow(1 + spec->drift_pct / 100, now_s / 60);
    double noise = draw_factor(spec->noise_pct, at->seed, STREAM_NOISE, sample);
    double ns = at->time_ns * drift * noise * draw_spike(spec, at, sample) *
                (throttled ? THROTTLE_FACTOR : 1);
    return read_clock(spec->step_ns, ns, at, sample);
}
