/*
 * test_family_lattice.c - the lattice family's operations and host variants, against the
 * reference, the models and what they refuse.
 */
#include "lattice_bench.h"

#include "kernels/lattice/copy.h"

/* The buffers of a shape: inputs filled, outputs poisoned, a guard behind each. */
struct bench {
    struct assay_shape shape;
    int count;
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    void *memory[ASSAY_MAX_BUFFERS];
};

static size_t bytes_of(const struct assay_buffer *buffer)
{
    return (size_t)buffer->count * assay_type_bytes(buffer->type);
}

static void bench_init(struct bench *bench, struct assay_shape shape)
{
    bench->shape = shape;
    bench->count = shape.operation->buffers(&shape, bench->buffer);
    for (int b = 0; b < bench->count; b++) {
        const struct assay_buffer *buffer = &bench->buffer[b];
        bench->memory[b] = malloc(bytes_of(buffer) + GUARD);
        assert_non_null(bench->memory[b]);
        memset(bench->memory[b], POISON, bytes_of(buffer) + GUARD);
        for (int64_t i = 0; buffer->role == ASSAY_IN && i < buffer->count; i++)
            assay_store(buffer->type, bench->memory[b], i,
                        fill_value(&buffer->fill, buffer->fill.hard, SEED + (uint64_t)b, i));
    }
}

static void bench_release(struct bench *bench)
{
    for (int b = 0; b < bench->count; b++) {
        const unsigned char *end = bench->memory[b];
        end += bytes_of(&bench->buffer[b]);
        for (int i = 0; i < GUARD; i++)
            assert_int_equal(end[i], POISON);
        free(bench->memory[b]);
    }
}

static const struct assay_variant *variant_named(const char *operation, const char *name)
{
    const struct assay_variant *list[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation, list, REGISTRY_MAX_VARIANTS);
    for (int i = 0; i < count; i++)
        if (strcmp(list[i]->name, name) == 0) return list[i];
    fail_msg("no variant %s of %s", name, operation);
    return NULL;
}

static enum assay_match judge(const struct bench *bench, int b, double expected, double bound,
                              double got)
{
    const struct assay_operation *operation = bench->shape.operation;
    if (operation->match) return operation->match(&bench->shape, b, expected, got);
    if (isnan(bound)) bound = operation->tolerance.rel * fabs(expected);
    return fabs(got - expected) <= bound ? ASSAY_EXACT : ASSAY_WRONG;
}

/* Everything the outputs hold against the reference and the model, in odd pieces. */
static void check_outputs(const struct bench *bench, const struct assay_variant *variant)
{
    const struct assay_operation *operation = bench->shape.operation;
    const void *const *in = (const void *const *)bench->memory;
    const int64_t run = operation->reference_run ? operation->reference_run(&bench->shape) : 1;
    int64_t near = 0, all = 0;
    for (int b = 0; b < bench->count; b++) {
        const struct assay_buffer *buffer = &bench->buffer[b];
        if (buffer->role != ASSAY_OUT) continue;
        int64_t piece = (997 + run - 1) / run * run;
        size_t width = assay_type_bytes(buffer->type);
        double *expected = malloc((size_t)piece * 2 * sizeof *expected);
        void *model = malloc((size_t)piece * width);
        assert_true(expected && model);
        for (int64_t begin = 0; begin < buffer->count; begin += piece) {
            int64_t end = begin + piece < buffer->count ? begin + piece : buffer->count;
            for (int64_t i = 0; i < piece; i++)
                expected[piece + i] = NAN;
            assert_int_equal(
                operation->reference(&bench->shape, in, b, begin, end, expected, expected + piece),
                0);
            for (int64_t i = begin; i < end; i++) {
                double got = assay_load(buffer->type, bench->memory[b], i);
                enum assay_match match =
                    judge(bench, b, expected[i - begin], expected[piece + i - begin], got);
                if (match == ASSAY_WRONG)
                    fail_msg("%s/%s: output %d[%lld] is %g, expected %g", operation->name,
                             variant->name, b, (long long)i, got, expected[i - begin]);
                near += match == ASSAY_NEAR;
                all++;
            }
            if (!variant->model) continue;
            assert_int_equal(variant->model(&bench->shape, in, b, begin, end, model), 0);
            assert_memory_equal((char *)bench->memory[b] + (size_t)begin * width, model,
                                (size_t)(end - begin) * width);
        }
        free(expected);
        free(model);
    }
    assert_true(near <= 2 || (double)near <= operation->tolerance.near_share * (double)all);
}

static void run_both(struct assay_shape shape)
{
    static const char *const names[] = {"host_scalar", "host_omp"};
    if (shape.operation->supports(&shape)) return;
    for (int i = 0; i < 2; i++) {
        const struct assay_variant *variant = variant_named(shape.operation->name, names[i]);
        struct bench bench;
        bench_init(&bench, shape);
        struct assay_call call = {.shape = &bench.shape};
        memcpy(call.buffer, bench.memory, sizeof bench.memory);
        assert_int_equal(variant->launch(&call), 0);
        check_outputs(&bench, variant);
        bench_release(&bench);
    }
}

static void host_variants_are_right_for_every_lattice_code_and_protection(void **state)
{
    (void)state;
    EACH_CODE(lattice, code)
    for (int overload = 0; overload < 3; overload++)
        for (int data = 0; data < 3; data++) {
            run_both(shape_of("lattice_encode", 16, 32, lattice, code, overload, 0, data));
            run_both(shape_of("lattice_decode", 8, 64, lattice, code, overload, 0, 0));
            run_both(shape_of("lattice_roundtrip", 8, 64, lattice, code, overload, 0, data));
        }
}

static void rows_that_no_block_divides_are_filled_up_with_zeros(void **state)
{
    (void)state;
    for (int lattice = 0; lattice < LATTICES; lattice++)
        for (int64_t columns = 1; columns < 20; columns += 3)
            for (int type = 0; type < 4; type++) {
                run_both(shape_of("lattice_encode", 3, columns, lattice, CODE_Q3M2, 1, type, 2));
                run_both(shape_of("lattice_encode", 3, columns, lattice, CODE_Q4M3, 0, type, 0));
                run_both(shape_of("lattice_decode", 3, columns, lattice, CODE_Q4M2, 1, type, 0));
                run_both(shape_of("lattice_roundtrip", 3, columns, lattice, CODE_Q2M1, 0, 0, 0));
            }
}

static void a_padded_block_has_the_code_of_its_entries_and_zeros(void **state)
{
    (void)state;
    struct assay_shape cut = shape_of("lattice_encode", 1, 5, LATTICE_E8, CODE_Q4M2, 0, 0, 0);
    struct assay_shape full = shape_of("lattice_encode", 1, 8, LATTICE_E8, CODE_Q4M2, 0, 0, 0);
    float x[8] = {0.3f, -1.1f, 0.7f, 2.0f, -0.4f, 0, 0, 0};
    uint8_t a[4], b[4];
    const void *in[] = {x};
    assert_int_equal(lattice_model_encode(&cut, in, BUF_OUT, 0, 4, a), 0);
    assert_int_equal(lattice_model_encode(&full, in, BUF_OUT, 0, 4, b), 0);
    assert_memory_equal(a, b, 4);
}

static void rows_of_unit_norm_are_not_all_zeros(void **state)
{
    (void)state;
    EACH_CODE(lattice, code)
    {
        struct bench bench;
        bench_init(&bench, shape_of("lattice_roundtrip", 8, 64, lattice, code, 0, 0, 1));
        struct assay_call call = {.shape = &bench.shape};
        memcpy(call.buffer, bench.memory, sizeof bench.memory);
        assert_int_equal(variant_named("lattice_roundtrip", "host_omp")->launch(&call), 0);
        const float *x = bench.memory[BUF_IN], *y = bench.memory[BUF_OUT];
        double norm = 0;
        int nonzero = 0;
        for (int i = 0; i < 512; i++) {
            nonzero += y[i] != 0;
            norm += (double)x[i] * (double)x[i];
        }
        assert_true(fabs(norm / 8.0 - 1.0) < 0.25);
        assert_true(nonzero > 8); /* one bit an entry leaves most at 0, as it should */
        bench_release(&bench);
    }
}

static void entries_that_are_no_numbers_lose_their_block_and_no_other(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f, 1e9f};
    EACH_CODE(lattice, code)
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct lattice_job job = job_of(lattice, code, OVERLOAD_BLOCK);
        float x[8], y[8];
        int t;
        normal_block(job.d, job.sigma, 3, x);
        lattice_block_encode(&job, x, &t);
        assert_true(t <= LATTICE_T_MAX);
        x[job.d - 1] = bad[i];
        assert_true(lattice_block_encode(&job, x, &t) == 0);
        assert_int_equal(t, LATTICE_LOST);
        lattice_block_decode(&job, 0, t, y);
        for (int j = 0; j < job.d; j++)
            assert_true(y[j] == 0.0f);
        job.overload = OVERLOAD_OFF;
        assert_true(lattice_block_encode(&job, x, &t) == 0);
        assert_int_equal(t, 0);
    }
}

static void the_tensors_t_is_the_largest_of_its_blocks(void **state)
{
    (void)state;
    struct assay_shape shape = shape_of("lattice_encode", 1, 64, LATTICE_E8, CODE_Q4M2, 2, 0, 0);
    struct lattice_job job = lattice_job(&shape);
    float x[64] = {0};
    x[20] = 40.0f / job.r;
    x[50] = 90.0f / job.r;
    x[63] = NAN;
    int t = lattice_tensor_t(&job, x);
    assert_in_range(t, 3, 4);
    float scaled[8] = {0};
    bool overload;
    scaled[2] = x[50];
    lattice_block_encode_at(&job, scaled, t, &overload);
    assert_false(overload);
    lattice_block_encode_at(&job, scaled, t - 1, &overload);
    assert_true(overload);
}

static void what_cannot_be_is_refused_with_the_reason(void **state)
{
    (void)state;
    struct assay_shape shape = shape_of("lattice_encode", 8, 64, 3, 2, 0, 0, DATA_UNIT_NORM);
    assert_null(lattice_supports(&shape));
    shape.value[DIM_SCALING] = SCALING_OFF;
    assert_non_null(lattice_supports(&shape));
    shape = shape_of("lattice_encode", 4096, 4096, 3, 2, OVERLOAD_TENSOR, 0, 0);
    assert_non_null(lattice_supports(&shape));
    shape = shape_of("lattice_roundtrip", 8, 64, 3, 2, OVERLOAD_TENSOR, 0, 0);
    assert_non_null(lattice_supports(&shape));
}

/* Metrics of codes of `rows` x 4096 normal entries, in the order of quality.c. */
static void measure_quality(int64_t rows, int lattice, int code, int overload,
                            struct assay_metric metric[ASSAY_MAX_METRICS])
{
    struct bench bench;
    bench_init(&bench, shape_of("lattice_encode", rows, 4096, lattice, code, overload, 0, 0));
    struct assay_call call = {.shape = &bench.shape};
    memcpy(call.buffer, bench.memory, sizeof bench.memory);
    assert_int_equal(variant_named("lattice_encode", "host_omp")->launch(&call), 0);
    int count =
        bench.shape.operation->quality(&bench.shape, (const void *const *)bench.memory, metric);
    assert_int_equal(count, 6);
    bench_release(&bench);
}

static void quality_says_the_rate_and_the_size_of_the_codes(void **state)
{
    (void)state;
    struct assay_metric metric[ASSAY_MAX_METRICS];
    measure_quality(16, LATTICE_E8, CODE_Q4M2, OVERLOAD_BLOCK, metric);
    assert_true(metric[2].value > 15.0);               /* sqnr_db */
    assert_true(metric[3].value < 0.01);               /* overload_rate */
    assert_true(metric[4].value == 5.0);               /* bits_per_entry: 4 and T's 1 */
    assert_true(metric[5].value == 16 * 4096 * 0.625); /* code_bytes */
}

/* The standard deviation of the ratio is 0.09 % or less with 2^20 entries. */
static void the_error_is_the_moment_of_the_cell_within_half_a_percent(void **state)
{
    (void)state;
    static const int codes[] = {CODE_Q4M2, CODE_Q4M3};
    struct assay_metric metric[ASSAY_MAX_METRICS];
    for (int lattice = 0; lattice < LATTICES; lattice++)
        for (int i = 0; i < 2; i++) {
            measure_quality(256, lattice, codes[i], OVERLOAD_OFF, metric);
            assert_true(fabs(metric[1].value - 1.0) < 0.005);
        }
}

static void the_error_is_in_units_of_the_doubled_beta(void **state)
{
    (void)state;
    struct assay_metric metric[ASSAY_MAX_METRICS];
    measure_quality(16, LATTICE_Z2, CODE_Q4M2, OVERLOAD_TENSOR, metric);
    assert_true(metric[3].value > 0.01); /* so T is not 0 */
    assert_true(fabs(metric[1].value - 1.0) < 0.05);
    measure_quality(16, LATTICE_Z2, CODE_Q4M2, OVERLOAD_BLOCK, metric);
    assert_true(fabs(metric[1].value - 1.0) < 0.05);
}

/* Output `b` of a bench that has run. */
static void check_model(const struct bench *bench, const struct assay_variant *variant, int b)
{
    size_t bytes = bytes_of(&bench->buffer[b]);
    char *model = malloc(bytes);
    assert_non_null(model);
    assert_int_equal(variant->model(&bench->shape, (const void *const *)bench->memory, b, 0,
                                    bench->buffer[b].count, model),
                     0);
    assert_memory_equal(model, bench->memory[b], bytes);
    free(model);
}

static void copies_write_what_their_model_says(void **state)
{
    (void)state;
    static const char *const operations[] = {"lattice_encode", "lattice_decode",
                                             "lattice_roundtrip"};
    static const char *const names[] = {"host_copy_encode", "host_copy_decode",
                                        "host_copy_roundtrip"};
    EACH_CODE(lattice, code)
    for (int i = 0; i < 6; i++) {
        struct bench bench;
        bench_init(&bench, shape_of(operations[i / 2], 8, 64, lattice, code, i % 2, 0, 0));
        const struct assay_variant *variant = variant_named(operations[i / 2], names[i / 2]);
        struct assay_call call = {.shape = &bench.shape};
        memcpy(call.buffer, bench.memory, sizeof bench.memory);
        assert_null(variant->supports(&bench.shape));
        assert_int_equal(variant->launch(&call), 0);
        for (int b = 0; b < bench.count; b++)
            if (bench.buffer[b].role == ASSAY_OUT) check_model(&bench, variant, b);
        bench_release(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_variants_are_right_for_every_lattice_code_and_protection),
        cmocka_unit_test(rows_that_no_block_divides_are_filled_up_with_zeros),
        cmocka_unit_test(a_padded_block_has_the_code_of_its_entries_and_zeros),
        cmocka_unit_test(rows_of_unit_norm_are_not_all_zeros),
        cmocka_unit_test(entries_that_are_no_numbers_lose_their_block_and_no_other),
        cmocka_unit_test(the_tensors_t_is_the_largest_of_its_blocks),
        cmocka_unit_test(what_cannot_be_is_refused_with_the_reason),
        cmocka_unit_test(quality_says_the_rate_and_the_size_of_the_codes),
        cmocka_unit_test(the_error_is_the_moment_of_the_cell_within_half_a_percent),
        cmocka_unit_test(the_error_is_in_units_of_the_doubled_beta),
        cmocka_unit_test(copies_write_what_their_model_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
