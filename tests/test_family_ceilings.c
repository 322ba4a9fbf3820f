/*
 * test_family_ceilings.c - the operations that measure the machine: their host
 * variants against their references at awkward sizes, and the references and
 * work figures against what their headers promise.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "assay.h"
#include "device.h"
#include "fill.h"
#include "kernels/ceilings/arithmetic.h"
#include "kernels/ceilings/gemm.h"
#include "kernels/ceilings/link.h"
#include "kernels/ceilings/memory.h"
#include "registry.h"
#include "shape.h"

enum { GUARD = 64, POISON = 0xa7, SEED = 20 };

/* ---------------------------------------------------------------- bench -- */

/* One shape with its buffers, filled and guarded: what a worker does, in small. */
struct bench {
    struct assay_shape shape;
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    int buffers;
    unsigned char *memory[ASSAY_MAX_BUFFERS];
};

static size_t buffer_bytes(const struct bench *bench, int index)
{
    return (size_t)bench->buffer[index].count * assay_type_bytes(bench->buffer[index].type);
}

static void fill_input(struct bench *bench, int index)
{
    const struct assay_buffer *buffer = &bench->buffer[index];
    if (buffer->fill.kind == ASSAY_FILL_CUSTOM) {
        assert_int_equal(
            bench->shape.operation->fill(&bench->shape, index, SEED, bench->memory[index]), 0);
        return;
    }
    for (int64_t i = 0; i < buffer->count; i++)
        assay_store(buffer->type, bench->memory[index], i,
                    fill_value(&buffer->fill, buffer->fill.hard, SEED + (uint64_t)index, i));
}

static void bench_init(struct bench *bench, const char *operation, const char *shape)
{
    const struct assay_operation *found = registry_operation(operation);
    assert_non_null(found);
    memset(bench, 0, sizeof *bench);
    assert_int_equal(shape_parse(found, shape, &bench->shape), 0);
    if (found->supports) assert_null(found->supports(&bench->shape));
    bench->buffers = found->buffers(&bench->shape, bench->buffer);
    for (int i = 0; i < bench->buffers; i++) {
        size_t bytes = buffer_bytes(bench, i);
        bench->memory[i] = aligned_alloc(256, (bytes + GUARD + 255) / 256 * 256);
        assert_non_null(bench->memory[i]);
        memset(bench->memory[i], POISON, bytes + GUARD);
        if (bench->buffer[i].role == ASSAY_IN) fill_input(bench, i);
    }
}

static void bench_release(struct bench *bench)
{
    for (int i = 0; i < bench->buffers; i++)
        free(bench->memory[i]);
}

/* How many output elements are outside their bound (0 where the reference sets
 * none, for none of these operations has a tolerance). */
static int64_t wrong_elements(struct bench *bench)
{
    const struct assay_operation *operation = bench->shape.operation;
    int64_t wrong = 0;
    for (int b = 0; b < bench->buffers; b++) {
        const struct assay_buffer *buffer = &bench->buffer[b];
        if (buffer->role != ASSAY_OUT) continue;
        const void *in[ASSAY_MAX_BUFFERS] = {NULL};
        for (int i = 0; i < bench->buffers; i++)
            if (bench->buffer[i].role == ASSAY_IN) in[i] = bench->memory[i];
        for (int64_t at = 0; at < buffer->count; at++) {
            double expected, bound = NAN;
            assert_int_equal(
                operation->reference(&bench->shape, in, b, at, at + 1, &expected, &bound), 0);
            double got = assay_load(buffer->type, bench->memory[b], at);
            wrong += !(fabs(got - expected) <= (isnan(bound) ? 0 : bound));
        }
    }
    return wrong;
}

static void expect_guards_whole(const struct bench *bench)
{
    for (int b = 0; b < bench->buffers; b++)
        for (size_t i = 0; i < GUARD; i++)
            assert_int_equal(bench->memory[b][buffer_bytes(bench, b) + i], POISON);
}

static void poison_outputs(struct bench *bench)
{
    for (int b = 0; b < bench->buffers; b++)
        if (bench->buffer[b].role == ASSAY_OUT)
            memset(bench->memory[b], POISON, buffer_bytes(bench, b));
}

/* Launch a variant twice, as the worker does, and judge it. */
static void expect_variant_right(struct bench *bench, const struct assay_variant *variant)
{
    struct assay_call call = {.shape = &bench->shape};
    for (int b = 0; b < bench->buffers; b++)
        call.buffer[b] = bench->memory[b];
    if (variant->setup) assert_int_equal(variant->setup(&call), 0);
    for (int launch = 0; launch < 2; launch++) {
        poison_outputs(bench);
        assert_int_equal(variant->launch(&call), 0);
        if (wrong_elements(bench)) fail_msg("%s is wrong", variant->name);
        if (variant->check) assert_int_equal(variant->check(&call), 0);
        expect_guards_whole(bench);
    }
    if (variant->teardown) variant->teardown(&call);
}

/* Every host variant that takes the shape; returns how many did. */
static int expect_host_variants_right(const char *operation, const char *shape)
{
    const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation, variants, REGISTRY_MAX_VARIANTS), ran = 0;
    struct bench bench;
    bench_init(&bench, operation, shape);
    for (int i = 0; i < count; i++) {
        if (variants[i]->place != ASSAY_HOST) continue;
        if (variants[i]->supports && variants[i]->supports(&bench.shape)) continue;
        expect_variant_right(&bench, variants[i]);
        ran++;
    }
    bench_release(&bench);
    return ran;
}

static const struct assay_variant *host_variant(const char *operation, const char *name)
{
    const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation, variants, REGISTRY_MAX_VARIANTS);
    for (int i = 0; i < count; i++)
        if (variants[i]->place == ASSAY_HOST && !strcmp(variants[i]->name, name))
            return variants[i];
    fail_msg("no host variant %s of %s", name, operation);
    return NULL;
}

/* --------------------------------------------------------------- registry -- */

static void every_operation_has_a_host_variant(void **state)
{
    (void)state;
    static const char *const names[] = {"arithmetic",      "empty", "gemm",
                                        "launch_overhead", "link",  "memory"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct assay_variant *variants[REGISTRY_MAX_VARIANTS];
        int count = registry_variants(names[i], variants, REGISTRY_MAX_VARIANTS), host = 0;
        for (int v = 0; v < count; v++)
            host += variants[v]->place == ASSAY_HOST;
        assert_non_null(registry_operation(names[i]));
        assert_true(host > 0);
    }
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

static void host_variants_of_memory_agree_with_the_reference_at_odd_sizes(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof memory_bytes / sizeof *memory_bytes; s++) {
        for (size_t mix = 0; mix < 4; mix++) {
            char text[64];
            if (mix == MEMORY_COPY && memory_bytes[s] % 8) continue;
            memory_shape(text, memory_bytes[s], mixes[mix]);
            assert_true(expect_host_variants_right("memory", text) >= 1);
        }
    }
}

static void bytes_of_every_mix_add_up_to_the_dim(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof memory_bytes / sizeof *memory_bytes; s++) {
        for (size_t mix = 0; mix < 4; mix++) {
            char text[64];
            struct bench bench;
            double in_buffers = 0;
            if (mix == MEMORY_COPY && memory_bytes[s] % 8) continue;
            memory_shape(text, memory_bytes[s], mixes[mix]);
            bench_init(&bench, "memory", text);
            struct assay_work work = bench.shape.operation->work(&bench.shape);
            for (int b = 0; b < bench.buffers; b++)
                in_buffers += (double)buffer_bytes(&bench, b);
            assert_true(work.read_bytes + work.write_bytes == (double)memory_bytes[s]);
            assert_true(in_buffers == (double)memory_bytes[s]);
            bench_release(&bench);
        }
    }
}

static void shares_written_are_those_of_the_mix(void **state)
{
    (void)state;
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

static void a_read_that_misses_one_bit_is_wrong(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "memory", "bytes=16396 mix=read");
    expect_variant_right(&bench, host_variant("memory", "omp"));
    bench.memory[MEMORY_IN][4 * 1500] ^= 1;
    assert_int_equal(wrong_elements(&bench), 1);
    bench_release(&bench);
}

static void memory_refuses_broken_words_with_a_reason(void **state)
{
    (void)state;
    const struct assay_operation *memory = registry_operation("memory");
    struct assay_shape shape = {.operation = memory};
    shape.value[MEMORY_BYTES] = 1002;
    assert_non_null(memory->supports(&shape));
    shape.value[MEMORY_BYTES] = 1004;
    assert_null(memory->supports(&shape));
    shape.value[MEMORY_MIX] = MEMORY_COPY;
    assert_non_null(memory->supports(&shape));
}

static void hot_traffic_measures_the_cache_and_cold_the_memory(void **state)
{
    (void)state;
    const struct assay_operation *memory = registry_operation("memory");
    struct assay_shape shape = shape_default(memory);
    assert_string_equal(memory->ceiling(&shape, ASSAY_COLD), "memory_copy");
    assert_string_equal(memory->ceiling(&shape, ASSAY_HOT), "cache_copy");
}

/* ------------------------------------------------------------- arithmetic -- */

static void host_chains_have_the_bits_of_fmaf(void **state)
{
    (void)state;
    assert_true(expect_host_variants_right("arithmetic", "iterations=1 chains=1") == 1);
    assert_true(expect_host_variants_right("arithmetic", "iterations=777 chains=131") == 1);
    assert_true(expect_host_variants_right("arithmetic", "iterations=4096 chains=257") == 1);
}

static void one_step_too_few_shows_at_the_largest_number_of_iterations(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "arithmetic", "iterations=32767 chains=64");
    expect_variant_right(&bench, host_variant("arithmetic", "fma"));
    bench.shape.value[ARITHMETIC_ITERATIONS] = 32768;
    assert_int_equal(wrong_elements(&bench), 64);
    bench_release(&bench);
}

static void a_multiply_add_counts_as_two_operations(void **state)
{
    (void)state;
    struct assay_shape shape;
    assert_int_equal(
        shape_parse(registry_operation("arithmetic"), "iterations=10 chains=7", &shape), 0);
    assert_true(shape.operation->work(&shape).ops[ASSAY_FP32] == 140);
}

/* ------------------------------------------------------------------- gemm -- */

static void host_gemm_is_within_its_bound_at_prime_sizes(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "m=1 n=1 k=1",   "m=1 n=7 k=1031",   "m=67 n=3 k=17",
        "m=4 n=2 k=512", "m=65 n=127 k=131", "m=130 n=66 k=1025",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s type=fp32", shapes[i]);
        assert_true(expect_host_variants_right("gemm", text) >= 1);
        snprintf(text, sizeof text, "%s type=int8", shapes[i]);
        assert_true(expect_host_variants_right("gemm", text) >= 1);
    }
}

/* Write the exact product, rounded to the output's type, as the result. */
static void store_reference(struct bench *bench)
{
    const void *in[ASSAY_MAX_BUFFERS] = {bench->memory[GEMM_A], bench->memory[GEMM_B], NULL};
    for (int64_t at = 0; at < bench->buffer[GEMM_C].count; at++) {
        double expected, bound;
        assert_int_equal(bench->shape.operation->reference(&bench->shape, in, GEMM_C, at, at + 1,
                                                           &expected, &bound),
                         0);
        assay_store(bench->buffer[GEMM_C].type, bench->memory[GEMM_C], at, expected);
    }
}

static const char *const gemm_types[] = {"fp32", "tf32", "bf16", "fp16", "int8"};

static void a_rounded_exact_product_is_right_in_every_type(void **state)
{
    (void)state;
    for (size_t type = 0; type < 5; type++) {
        char text[64];
        struct bench bench;
        snprintf(text, sizeof text, "m=19 n=23 k=101 type=%s", gemm_types[type]);
        bench_init(&bench, "gemm", text);
        store_reference(&bench);
        assert_int_equal(wrong_elements(&bench), 0);
        bench_release(&bench);
    }
}

static void one_element_a_percent_off_is_caught_in_every_type(void **state)
{
    (void)state;
    for (size_t type = 0; type < 5; type++) {
        char text[64];
        struct bench bench;
        snprintf(text, sizeof text, "m=19 n=23 k=101 type=%s", gemm_types[type]);
        bench_init(&bench, "gemm", text);
        store_reference(&bench);
        enum assay_type out = bench.buffer[GEMM_C].type;
        double value = assay_load(out, bench.memory[GEMM_C], 211);
        assert_true(fabs(value) > 0.1);
        double step = fmax(0.01 * fabs(value), type == GEMM_INT8 ? 1 : 0);
        assay_store(out, bench.memory[GEMM_C], 211, value + copysign(step, value));
        assert_int_equal(wrong_elements(&bench), 1);
        bench_release(&bench);
    }
}

static void a_missing_term_of_the_sum_is_caught_in_every_type(void **state)
{
    (void)state;
    for (size_t type = 0; type < 5; type++) {
        char text[64];
        struct bench bench;
        snprintf(text, sizeof text, "m=5 n=5 k=64 type=%s", gemm_types[type]);
        bench_init(&bench, "gemm", text);
        enum assay_type in = bench.buffer[GEMM_A].type;
        double kept = assay_load(in, bench.memory[GEMM_A], 63);
        assay_store(in, bench.memory[GEMM_A], 63, 0);
        store_reference(&bench);
        assay_store(in, bench.memory[GEMM_A], 63, kept);
        assert_true(wrong_elements(&bench) >= 4);
        bench_release(&bench);
    }
}

static void tf32_inputs_need_no_rounding(void **state)
{
    (void)state;
    struct bench bench;
    bench_init(&bench, "gemm", "m=64 n=64 k=64 type=tf32");
    for (int64_t i = 0; i < bench.buffer[GEMM_A].count; i++) {
        uint32_t bits;
        memcpy(&bits, bench.memory[GEMM_A] + 4 * i, 4);
        assert_int_equal(bits & 0x1fff, 0); /* the 13 bits that tf32 drops */
    }
    bench_release(&bench);
}

static void only_a_large_gemm_measures_a_ceiling(void **state)
{
    (void)state;
    const struct assay_operation *gemm = registry_operation("gemm");
    struct assay_shape shape = shape_default(gemm);
    shape.value[GEMM_TYPE] = GEMM_BF16;
    assert_string_equal(gemm->ceiling(&shape, ASSAY_COLD), "bf16");
    shape.value[GEMM_K] = 2047;
    assert_null(gemm->ceiling(&shape, ASSAY_COLD));
}

static void int8_sums_that_could_overflow_are_refused(void **state)
{
    (void)state;
    const struct assay_operation *gemm = registry_operation("gemm");
    struct assay_shape shape = shape_default(gemm);
    shape.value[GEMM_TYPE] = GEMM_INT8;
    shape.value[GEMM_K] = 131072;
    assert_non_null(gemm->supports(&shape));
    shape.value[GEMM_K] = 131071;
    assert_null(gemm->supports(&shape));
}

/* ------------------------------------------------------------------- link -- */

static void host_copies_arrive_in_both_directions(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "bytes=1 direction=h2d memory=pageable", "bytes=100003 direction=h2d memory=pageable",
        "bytes=1 direction=d2h memory=pageable", "bytes=100003 direction=d2h memory=pageable"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(expect_host_variants_right("link", shapes[i]), 1);
}

static void a_copy_to_the_host_that_did_not_happen_is_caught(void **state)
{
    (void)state;
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

static void operations_without_output_have_no_buffers_and_no_work(void **state)
{
    (void)state;
    static const char *const names[] = {"empty", "launch_overhead"};
    for (size_t i = 0; i < 2; i++) {
        struct assay_shape shape = shape_default(registry_operation(names[i]));
        struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
        struct assay_work work = shape.operation->work(&shape);
        assert_null(shape.operation->reference);
        assert_int_equal(shape.operation->buffers(&shape, buffer), 0);
        assert_true(work.read_bytes == 0 && work.write_bytes == 0);
    }
    assert_int_equal(expect_host_variants_right("empty", "threads=32"), 1);
    assert_int_equal(expect_host_variants_right("launch_overhead", "launches=17"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_a_host_variant),
        cmocka_unit_test(host_variants_of_memory_agree_with_the_reference_at_odd_sizes),
        cmocka_unit_test(bytes_of_every_mix_add_up_to_the_dim),
        cmocka_unit_test(shares_written_are_those_of_the_mix),
        cmocka_unit_test(a_read_that_misses_one_bit_is_wrong),
        cmocka_unit_test(memory_refuses_broken_words_with_a_reason),
        cmocka_unit_test(hot_traffic_measures_the_cache_and_cold_the_memory),
        cmocka_unit_test(host_chains_have_the_bits_of_fmaf),
        cmocka_unit_test(one_step_too_few_shows_at_the_largest_number_of_iterations),
        cmocka_unit_test(a_multiply_add_counts_as_two_operations),
        cmocka_unit_test(host_gemm_is_within_its_bound_at_prime_sizes),
        cmocka_unit_test(a_rounded_exact_product_is_right_in_every_type),
        cmocka_unit_test(one_element_a_percent_off_is_caught_in_every_type),
        cmocka_unit_test(a_missing_term_of_the_sum_is_caught_in_every_type),
        cmocka_unit_test(tf32_inputs_need_no_rounding),
        cmocka_unit_test(only_a_large_gemm_measures_a_ceiling),
        cmocka_unit_test(int8_sums_that_could_overflow_are_refused),
        cmocka_unit_test(host_copies_arrive_in_both_directions),
        cmocka_unit_test(a_copy_to_the_host_that_did_not_happen_is_caught),
        cmocka_unit_test(operations_without_output_have_no_buffers_and_no_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
