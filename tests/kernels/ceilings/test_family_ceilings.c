/*
 * test_family_ceilings.c - the operations that measure the machine: their host
 * variants against their references at awkward sizes, and the references and
 * work figures against what their headers promise.
 */
#include "tests/kernels/bench.h"
#include "case/shape.h"
#include "kernels/ceilings/arithmetic.h"
#include "kernels/ceilings/link.h"
#include "kernels/ceilings/memory.h"

/* A shape from its text. */
static struct assay_shape shape_of(const char *operation, const char *text)
{
    struct assay_shape shape;
    assert_int_equal(shape_parse(registry_operation(operation), text, &shape), 0);
    return shape;
}

/* ----------------------------------------------------------------- memory -- */

static const char *const mixes[] = {"read", "r4w1", "copy", "write"};

/* Bytes whose words leave every remainder of the fan-ins and of a vector, and
 * sizes around a slice, a page and a thread's part. */
static const int64_t memory_bytes[] = {64,   68,   72,   76,    80,    84,     88,     4096,  4100,
                                       4104, 8200, 8204, 16396, 40004, 123456, 262148, 999992};

static void memory_shape(char text[64], int64_t bytes, const char *mix)
{
    snprintf(text, 64, "bytes=%lld mix=%s", (long long)bytes, mix);
}

TEST(host_variants_of_memory_agree_with_the_reference_at_odd_sizes)
{
    for (size_t s = 0; s < sizeof memory_bytes / sizeof *memory_bytes; s++) {
        for (size_t mix = 0; mix < 4; mix++) {
            char text[64];
            if (mix == MEMORY_COPY && memory_bytes[s] % 8) continue;
            memory_shape(text, memory_bytes[s], mixes[mix]);
            bench_all(shape_of("memory", text), "omp");
        }
    }
}

TEST(bytes_of_every_mix_add_up_to_the_dim)
{
    for (size_t s = 0; s < sizeof memory_bytes / sizeof *memory_bytes; s++) {
        for (size_t mix = 0; mix < 4; mix++) {
            char text[64];
            struct bench bench;
            double in_buffers = 0;
            if (mix == MEMORY_COPY && memory_bytes[s] % 8) continue;
            memory_shape(text, memory_bytes[s], mixes[mix]);
            bench_init(&bench, shape_of("memory", text));
            struct assay_work work = bench.shape.operation->work(&bench.shape);
            for (int b = 0; b < bench.buffers.count; b++)
                in_buffers += (double)bench_bytes(&bench, b);
            assert_true(work.read_bytes + work.write_bytes == (double)memory_bytes[s]);
            assert_true(in_buffers == (double)memory_bytes[s]);
            bench_release(&bench);
        }
    }
}

TEST(shares_written_are_those_of_the_mix)
{
    static const double share[] = {1.0 / 1025, 0.2, 0.5, 1};
    for (size_t mix = 0; mix < 4; mix++) {
        char text[64];
        struct assay_shape shape;
        memory_shape(text, 41000000, mixes[mix]);
        assert_int_equal(shape_parse(registry_operation("memory"), text, &shape), 0);
        struct assay_work work = shape.operation->work(&shape);
        assert_true(fabs(work.write_bytes / 41e6 - share[mix]) < 1e-6);
    }
}

TEST(a_read_that_misses_one_bit_is_wrong)
{
    struct bench bench;
    bench_init(&bench, shape_of("memory", "bytes=16396 mix=read"));
    bench_run(&bench, bench_variant("memory", "omp"));
    ((unsigned char *)bench.buffers.data[MEMORY_IN])[4 * 1500] ^= 1;
    bench_expect(&bench);
    assert_int_equal(bench_judge(&bench).wrong, 1);
    bench_release(&bench);
}

TEST(memory_refuses_broken_words_with_a_reason)
{
    const struct assay_operation *memory = registry_operation("memory");
    struct assay_shape shape = {.operation = memory};
    shape.value[MEMORY_BYTES] = 1002;
    assert_non_null(memory->supports(&shape));
    shape.value[MEMORY_BYTES] = 1004;
    assert_null(memory->supports(&shape));
    shape.value[MEMORY_MIX] = MEMORY_COPY;
    assert_non_null(memory->supports(&shape));
}

TEST(hot_traffic_measures_the_cache_and_cold_the_memory)
{
    const struct assay_operation *memory = registry_operation("memory");
    struct assay_shape shape = shape_default(memory);
    assert_string_equal(memory->ceiling(&shape, ASSAY_COLD), "memory_copy");
    assert_string_equal(memory->ceiling(&shape, ASSAY_HOT), "cache_copy");
}

/* ------------------------------------------------------------- arithmetic -- */

TEST(host_chains_have_the_bits_of_fmaf)
{
    bench_all(shape_of("arithmetic", "iterations=1 chains=1"), "fma");
    bench_all(shape_of("arithmetic", "iterations=777 chains=131"), "fma");
    bench_all(shape_of("arithmetic", "iterations=4096 chains=257"), "fma");
}

TEST(one_step_too_few_shows_at_the_largest_number_of_iterations)
{
    struct bench bench;
    bench_init(&bench, shape_of("arithmetic", "iterations=32767 chains=64"));
    bench_run(&bench, bench_variant("arithmetic", "fma"));
    bench.shape.value[ARITHMETIC_ITERATIONS] = 32768;
    bench_expect(&bench);
    assert_int_equal(bench_judge(&bench).wrong, 64);
    bench_release(&bench);
}

TEST(a_multiply_add_counts_as_two_operations)
{
    struct assay_shape shape;
    assert_int_equal(
        shape_parse(registry_operation("arithmetic"), "iterations=10 chains=7", &shape), 0);
    assert_true(shape.operation->work(&shape).ops[ASSAY_FP32] == 140);
}

/* ------------------------------------------------------------------- link -- */

TEST(host_copies_arrive_in_both_directions)
{
    static const char *const shapes[] = {
        "bytes=1 direction=h2d memory=pageable", "bytes=100003 direction=h2d memory=pageable",
        "bytes=1 direction=d2h memory=pageable", "bytes=100003 direction=d2h memory=pageable"};
    for (size_t i = 0; i < 4; i++)
        bench_all(shape_of("link", shapes[i]), "host_memcpy");
}

TEST(a_copy_to_the_host_that_did_not_happen_is_caught)
{
    struct assay_shape shape;
    uint8_t host[1003];
    assert_int_equal(
        shape_parse(registry_operation("link"), "bytes=1003 direction=d2h memory=pinned", &shape),
        0);
    link_host_prepare(&shape, host);
    assert_int_equal(link_host_check(&shape, host), -1);
    for (int64_t i = 0; i < 1003; i++)
        host[i] = link_byte(i);
    assert_int_equal(link_host_check(&shape, host), 0);
    assert_int_equal(link_host_check(&shape, host), -1); /* poisoned again */
    for (int64_t i = 0; i < 1003; i++)
        host[i] = link_byte(i);
    host[1002] ^= 4;
    assert_int_equal(link_host_check(&shape, host), -1);
}

/* ----------------------------------------------------------------- floors -- */

TEST(operations_without_output_have_no_buffers_and_no_work)
{
    static const char *const names[] = {"empty", "launch_overhead"};
    for (size_t i = 0; i < 2; i++) {
        struct assay_shape shape = shape_default(registry_operation(names[i]));
        struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
        struct assay_work work = shape.operation->work(&shape);
        assert_null(shape.operation->reference);
        assert_int_equal(shape.operation->buffers(&shape, buffer), 0);
        assert_true(work.read_bytes == 0 && work.write_bytes == 0);
    }
    bench_all(shape_of("empty", "threads=32"), "call");
    bench_all(shape_of("launch_overhead", "launches=17"), "calls");
}
