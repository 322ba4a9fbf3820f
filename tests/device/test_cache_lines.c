/* test_cache_lines.c - what the host's flushes leave in the caches: nothing. */

#include <stdlib.h>

#include "tests/test.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/stats.h"
#include "device/device.h"
#include "device/host/host_cache.h"

/* A closed walk through every line of a piece that any L2 holds, in an order that no
 * prefetcher guesses: a step waits for the one before it, 5 ns or so from L2 and some
 * 100 from memory. COLDER is far below the one and far above noise. */
enum { LINE = 64, LINES = 2048, WALK_BYTES = LINE * LINES, REPEATS = 25 };
static const double COLDER = 3;

static void lay_walk(void *memory)
{
    struct rng rng;
    int order[LINES];
    uint64_t *word = memory;
    rng_seed(&rng, 7);
    for (int i = 0; i < LINES; i++)
        order[i] = i;
    rng_shuffle(&rng, order, LINES);
    for (int i = 0; i < LINES; i++)
        word[order[i] * LINE / 8] = (uint64_t)(order[(i + 1) % LINES] * LINE / 8);
}

static uint64_t walk(const void *memory)
{
    const volatile uint64_t *word = memory;
    uint64_t at = 0;
    for (int i = 0; i < LINES; i++)
        at = word[at];
    return at;
}

static double time_walk(const void *memory)
{
    double start = clock_ns();
    assert_int_equal(walk(memory), 0); /* closed */
    return clock_ns() - start;
}

static void *new_walk(void)
{
    void *memory = aligned_alloc(4096, WALK_BYTES);
    assert_non_null(memory);
    lay_walk(memory);
    return memory;
}

static void need_eviction(void)
{
    if (!cache_lines_can_evict()) skip();
}

TEST(evicted_lines_come_from_memory)
{
    need_eviction();
    double hot[REPEATS], cold[REPEATS];
    void *memory = new_walk();
    for (int i = 0; i < REPEATS; i++) {
        walk(memory);
        hot[i] = time_walk(memory);
        cache_lines_evict(memory, WALK_BYTES);
        cold[i] = time_walk(memory);
    }
    double quick = stats_median(hot, REPEATS), slow = stats_median(cold, REPEATS);
    if (slow < COLDER * quick) fail_msg("%.0f ns after eviction, %.0f before", slow, quick);
    free(memory);
}

TEST(eviction_changes_no_byte)
{
    need_eviction();
    enum { BYTES = 20 << 20 }; /* several threads' worth */
    static const size_t offset[] = {0, 1, 63, 64, 4095};
    unsigned char *memory = malloc(BYTES);
    assert_non_null(memory);
    for (size_t i = 0; i < BYTES; i++)
        memory[i] = (unsigned char)(i * 31 >> 3);
    for (size_t i = 0; i < sizeof offset / sizeof *offset; i++)
        cache_lines_evict(memory + offset[i], BYTES - 2 * offset[i]);
    cache_lines_evict(memory + 5, 0);
    for (size_t i = 0; i < BYTES; i++)
        if (memory[i] != (unsigned char)(i * 31 >> 3)) fail_msg("byte %zu has changed", i);
    free(memory);
}

/* ------------------------------------------------------- the host's samples -- */

static int walk_buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    out[0] = (struct assay_buffer){
        .name = "walk", .role = ASSAY_IN, .type = ASSAY_I64, .count = WALK_BYTES / 8};
    return 1;
}

static int launch_over_buffer(struct assay_call *call)
{
    return walk(call->buffer[0]) == 0 ? 0 : -1;
}

static int launch_over_workspace(struct assay_call *call)
{
    return walk(call->state) == 0 ? 0 : -1;
}

static const struct assay_operation walking = {.name = "walking", .buffers = walk_buffers};
static const struct assay_shape shape = {.operation = &walking};

/* Median time of samples on a host that flushes so. */
static double sample_time(enum cache_flush flush, enum assay_temperature temperature,
                          bool in_workspace)
{
    struct device_options options = {.spec = "host", .flush = flush};
    struct device *device;
    struct block_sample samples[REPEATS];
    struct code_seen code;
    struct block_totals totals;
    double times[REPEATS];
    struct assay_variant variant = {
        .name = "walk", .launch = in_workspace ? launch_over_workspace : launch_over_buffer};
    struct assay_call call = {.shape = &shape, .workspace_bytes = in_workspace ? WALK_BYTES : 0};
    struct block block = {
        .variant = &variant, .call = &call, .temperature = temperature, .count = REPEATS};
    call.buffer[0] = new_walk();
    call.state = new_walk();
    assert_int_equal(device_host.open(&options, &device), 0);
    assert_int_equal(device_host.sample(device, &block, samples, &totals, &code), 0);
    device_host.close(device);
    for (int i = 0; i < REPEATS; i++)
        times[i] = samples[i].time_ns;
    free(call.buffer[0]);
    free(call.state);
    return stats_median(times, REPEATS);
}

/* A neighbour on the machine can disturb either walk; not three times in a row. */
static void hold_cold_against_hot(enum cache_flush flush, bool in_workspace)
{
    double cold = 0, hot = 0;
    for (int attempt = 0; attempt < 3; attempt++) {
        hot = sample_time(flush, ASSAY_HOT, in_workspace);
        cold = sample_time(flush, ASSAY_COLD, in_workspace);
        if (cold >= COLDER * hot) return;
    }
    fail_msg("%s: %.0f ns cold, %.0f hot", flush_name(flush), cold, hot);
}

TEST(each_flush_makes_the_operands_cold)
{
    for (int flush = 0; flush < FLUSHES; flush++)
        if (flush != FLUSH_LINES || cache_lines_can_evict())
            hold_cold_against_hot((enum cache_flush)flush, false);
}

TEST(a_workspace_is_cold_too)
{
    need_eviction();
    hold_cold_against_hot(FLUSH_LINES, true);
}

TEST(the_host_says_how_it_flushes)
{
    const int own = cache_lines_can_evict() ? FLUSH_LINES : FLUSH_READ;
    const struct {
        int asked, got;
    } cases[] = {{-1, own}, {FLUSH_READ, FLUSH_READ}, {FLUSH_WRITE, FLUSH_WRITE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct device_options options = {.spec = "host", .flush = cases[i].asked};
        struct device_info info;
        struct device *device;
        assert_int_equal(device_host.open(&options, &device), 0);
        device_host.describe(device, &info);
        assert_int_equal(info.flush, cases[i].got);
        device_host.close(device);
    }
}

int main(void)
{
    /* What other tests are told is smaller, for speed; a workspace is cold if all of it is read. */
    if (setenv("ASSAY_HOST_CACHE", "32Mi", 1) != 0) return 1;
    return test_main(NULL, NULL);
}
