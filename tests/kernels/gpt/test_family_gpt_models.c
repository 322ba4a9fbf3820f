/*
 * test_family_gpt_models.c - whole models on the host: variants against the reference,
 * and bounds that tell right from wrong.
 */
#include <math.h>

#include "tests/kernels/bench.h"
#include "kernels/gpt/gpt.h"
#include "kernels/gpt/model/model_codes.h"
#include "kernels/gpt/model/model_host.h"

/* OpenBLAS has nothing of 16 bits. */
static const char *host_names(int64_t precision)
{
#if ASSAY_HAVE_OPENBLAS
    if (gpt_bytes(precision) == 4) return "host_scalar host_omp openblas";
#endif
    return "host_scalar host_omp";
}

/* heads, channels, batch, tokens, type, layers, vocabulary */
TEST(every_forward_is_right_at_odd_shapes)
{
    const int64_t shapes[][6] = {{1, 1, 1, 1, 1, 0},   {1, 7, 1, 1, 2, 3},
                                 {3, 21, 2, 5, 2, 0},  {2, 16, 3, 33, 3, 0},
                                 {4, 52, 1, 3, 1, 11}, {3, 48, 2, 17, 4, 101}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++) {
            const int64_t *shape = shapes[i];
            bench_all(SHAPE("gpt_forward", shape[0], shape[1], shape[2], shape[3], precision,
                            shape[4], shape[5]),
                      host_names(precision));
        }
}

TEST(a_block_is_a_forward_of_one_layer)
{
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++) {
        bench_all(SHAPE("gpt_block", 3, 21, 2, 5, precision), host_names(precision));
    }
}

TEST(decode_is_right_with_and_without_a_vocabulary)
{
    for (int64_t vocabulary = 0; vocabulary <= 13; vocabulary += 13)
        for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++) {
            bench_all(SHAPE("gpt_decode", 2, 16, 3, 6, precision, 2, vocabulary),
                      host_names(precision));
        }
}

/* heads, channels, batch, context, code, layers; rows of whole blocks of 8, and not. */
TEST(decode_from_codes_is_right_whether_blocks_are_whole_or_not)
{
    const int64_t shapes[][5] = {{2, 16, 3, 6, 2}, {1, 1, 1, 1, 1}, {3, 21, 2, 5, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int64_t *shape = shapes[i];
        bench_all(SHAPE("gpt_decode_codes", shape[0], shape[1], shape[2], shape[3], 0, shape[4]),
                  "host_scalar host_omp");
    }
}

TEST(a_weight_of_codes_is_its_point_times_its_factor)
{
    struct bench bench;
    bench_init(&bench, SHAPE("gpt_decode_codes", 2, 20, 1, 3, 0, 2));
    const struct model model = model_of(&bench.shape);
    const struct model_matrix fc2 = model_matrix(&model, MODEL_P_FC2);
    const int8_t *points = model_codebook()->left;
    const float *factors = (const float *)bench.in[MODEL_FACTOR];
    struct model_coded coded;
    assert_int_equal(model_coded(&model, bench.in, MODEL_P_FC2, &coded), 0);
    for (int64_t row = 0; row < model.layers * fc2.n; row++)
        for (int64_t block = 0; block < fc2.k / MODEL_CODE_BLOCK; block++) {
            /* A row is 10 blocks of 4 bytes, filled up to 48. */
            const uint16_t *code =
                (const uint16_t *)((const char *)bench.in[MODEL_FC2] + 48 * row + 4 * block);
            float weight[MODEL_CODE_BLOCK], factor = factors[row / fc2.n * 4 + MODEL_P_FC2];
            model_code_weights(&coded, row / fc2.n, row % fc2.n, block, weight);
            for (int i = 0; i < MODEL_CODE_BLOCK; i++) {
                int point = points[8 * code[0] + i] + 4 * points[8 * code[1] + i];
                assert_true(weight[i] == factor * (float)point);
            }
        }
    bench_release(&bench);
}

TEST(decoding_reads_one_position_whatever_the_batch)
{
    struct assay_shape one = {registry_operation("gpt_decode"), {2, 16, 1, 6, GPT_FP32, 3, 13}};
    struct assay_shape eight = one;
    eight.value[MODEL_BATCH] = 8;
    /* A sequence adds its cache, 6 tokens of k and v in 3 layers, its row of wte and its id. */
    double more = 7 * (4.0 * (3 * 2 * 6 * 16 + 16) + 4);
    double read = eight.operation->work(&eight).read_bytes - one.operation->work(&one).read_bytes;
    assert_true(read == more);
}

/* A forward that is right, of a model that `spoil` changed before it ran. */
static int64_t wrong_with(int64_t precision, void (*spoil)(struct bench *bench))
{
    struct bench bench;
    bench_init(&bench, SHAPE("gpt_forward", 4, 64, 2, 16, precision, 3, 0));
    void *kept[ASSAY_MAX_BUFFERS] = {0};
    for (int b = 0; b < bench.buffers.count; b++) {
        if (bench.buffers.spec[b].role != ASSAY_IN) continue;
        kept[b] = malloc(bench_bytes(&bench, b));
        assert_non_null(kept[b]);
        memcpy(kept[b], bench.buffers.data[b], bench_bytes(&bench, b));
    }
    spoil(&bench);
    bench_launch(&bench, bench_variant("gpt_forward", "host_omp"));
    for (int b = 0; b < bench.buffers.count; b++)
        if (kept[b]) memcpy(bench.buffers.data[b], kept[b], bench_bytes(&bench, b));
    int64_t wrong = bench_judge(&bench).wrong;
    for (int b = 0; b < bench.buffers.count; b++)
        free(kept[b]);
    bench_release(&bench);
    return wrong;
}

static void spoil_nothing(struct bench *bench)
{
}

static void clear(struct bench *bench, int buffer, int64_t first, int64_t count)
{
    size_t bytes = assay_type_bytes(bench->buffers.spec[buffer].type);
    memset((char *)bench->buffers.data[buffer] + (size_t)first * bytes, 0, (size_t)count * bytes);
}

/* The projection's bias of the first layer. */
static void spoil_bias(struct bench *bench)
{
    clear(bench, MODEL_BIAS, MODEL_BIAS_PROJ * 64, 64);
}

/* One layer's part of the products. */
static void spoil_fc2(struct bench *bench)
{
    clear(bench, MODEL_FC2, 4 * 64 * 64, 4 * 64 * 64);
}

static void spoil_values(struct bench *bench)
{
    clear(bench, MODEL_QKV, 2 * 64 * 64, 64 * 64);
}

/* Every weight loses the bits that tf32 does not keep. */
static void spoil_to_tf32(struct bench *bench)
{
    for (int b = MODEL_QKV; b <= MODEL_FC2; b++)
        for (int64_t i = 0; i < bench->buffers.spec[b].count; i++)
            ((uint32_t *)bench->buffers.data[b])[i] &= 0xffffe000u;
}

TEST(what_is_left_out_is_found_at_every_precision)
{
    const int64_t elements = 2 * 16 * 64;
    for (int64_t precision = GPT_FP32; precision <= GPT_FP16; precision++) {
        assert_int_equal(wrong_with(precision, spoil_nothing), 0);
        assert_true(wrong_with(precision, spoil_bias) > elements / 4);
        assert_true(wrong_with(precision, spoil_fc2) > elements / 4);
        assert_true(wrong_with(precision, spoil_values) > elements / 4);
    }
}

TEST(tf32_in_the_place_of_fp32_is_wrong)
{
    assert_true(wrong_with(GPT_FP32, spoil_to_tf32) > 2 * 16 * 64 / 4);
    assert_int_equal(wrong_with(GPT_TF32, spoil_to_tf32), 0);
}

/* As the verifier calls it: a task a sequence, in a team that has threads to spare. */
static int reference_by_a_team(const struct bench *bench, int64_t run, double *expected,
                               double *bound)
{
    int64_t count = bench->buffers.spec[MODEL_Y].count;
    int failed = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    for (int64_t begin = 0; begin < count; begin += run)
#pragma omp task shared(failed)
        if (bench->shape.operation->reference(&bench->shape, bench->in, MODEL_Y, begin, begin + run,
                                              expected + begin, bound + begin)) {
#pragma omp atomic write
            failed = 1;
        }
    return failed;
}

TEST(the_reference_of_a_team_is_that_of_one_thread)
{
    struct bench bench;
    bench_init(&bench, SHAPE("gpt_forward", 4, 52, 3, 37, GPT_TF32, 2, 101));
    const struct assay_operation *operation = bench.shape.operation;
    size_t count = (size_t)bench.buffers.spec[MODEL_Y].count, bytes = count * sizeof(double);
    double *alone = malloc(2 * bytes), *team = malloc(2 * bytes);
    assert_non_null(alone);
    assert_non_null(team);
    assert_int_equal(operation->reference(&bench.shape, bench.in, MODEL_Y, 0, (int64_t)count, alone,
                                          alone + count),
                     0);
    int64_t run = operation->reference_run(&bench.shape);
    assert_int_equal(reference_by_a_team(&bench, run, team, team + count), 0);
    assert_memory_equal(team, alone, 2 * bytes);
    free(alone);
    free(team);
    bench_release(&bench);
}

/* Of gpt_forward with so many layers, as a number of thousandths. */
static int rms_of(enum gpt_precision precision, int layers)
{
    struct assay_shape shape = SHAPE("gpt_forward", 1, 8, 1, 1, precision, layers, 0);
    return (int)lround(1000 * shape.operation->rms(&shape));
}

TEST(all_errors_may_grow_with_the_root_of_the_layers_beyond_twelve_in_bf16_alone)
{
    assert_int_equal(rms_of(GPT_BF16, 1), 180);
    assert_int_equal(rms_of(GPT_BF16, 12), 180);
    assert_int_equal(rms_of(GPT_BF16, 48), 360);
    assert_int_equal(rms_of(GPT_TF32, 48), 180);
    assert_int_equal(rms_of(GPT_FP16, 48), 180);
    assert_int_equal(rms_of(GPT_FP32, 48), 0);
}

TEST(all_errors_may_be_larger_in_a_model_whose_weights_are_codes)
{
    struct assay_shape shape = SHAPE("gpt_decode_codes", 12, 768, 8, 127, 0, 12);
    assert_int_equal((int)lround(1000 * shape.operation->rms(&shape)), 500);
}

TEST(heads_that_do_not_divide_the_channels_are_refused)
{
    struct assay_shape shape = {registry_operation("gpt_forward"), {5, 48, 1, 1, GPT_FP32, 1, 0}};
    assert_non_null(shape.operation);
    assert_string_equal(shape.operation->supports(&shape), "heads do not divide the channels");
    shape.value[MODEL_HEADS] = 3;
    assert_null(shape.operation->supports(&shape));
}

TEST(an_id_outside_the_vocabulary_is_refused_before_launch)
{
    struct bench bench;
    struct group group;
    bench_init(&bench, SHAPE("gpt_forward", 1, 8, 1, 4, GPT_FP32, 1, 10));
    ((int32_t *)bench.buffers.data[MODEL_IN])[2] = 10;
    bench_group(&group, bench.shape);
    bench_runs(&group, host_names(GPT_FP32));
    for (int v = 0; v < group.variant_count; v++) {
        if (group.skip[v][0]) continue;
        struct assay_call call = bench_call(&bench);
        assert_int_equal(group.variant[v]->setup(&call), -1);
        group.variant[v]->teardown(&call);
    }
    bench_release(&bench);
}
