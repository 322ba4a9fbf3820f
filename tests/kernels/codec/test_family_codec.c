/*
 * test_family_codec.c - the codec family on the host: the search and how its near ties
 * are told, the gather, transfers and allocation.
 */
#include "base/error.h"
#include "tests/kernels/bench.h"
#include "kernels/codec/pipeline/transfer.h"
#include "kernels/codec/search/vq_gather.h"
#include "kernels/codec/search/vq_search.h"

/* -------------------------------------------------------------- the search -- */

/* Distances that are all `far`, but for those that a test sets. */
static void all_far(double distance[CODEWORDS], double far)
{
    for (int k = 0; k < CODEWORDS; k++)
        distance[k] = far;
}

TEST(without_a_rival_only_the_nearest_codeword_is_right)
{
    double distance[CODEWORDS];
    for (int best = 0; best < CODEWORDS; best++) {
        all_far(distance, 200.0);
        distance[best] = 100.0;
        double expected = search_expect(distance, 1e-4);
        assert_true(expected == best);
        for (int got = 0; got < CODEWORDS; got++)
            assert_int_equal(search_match(expected, got), got == best ? ASSAY_EXACT : ASSAY_WRONG);
    }
}

TEST(every_pair_of_near_codewords_is_exact_and_near_and_nothing_else)
{
    double distance[CODEWORDS];
    for (int best = 0; best < CODEWORDS; best++)
        for (int rival = 0; rival < CODEWORDS; rival++) {
            if (rival == best) continue;
            all_far(distance, 200.0);
            distance[best] = 100.0;
            distance[rival] = 100.009;
            double expected = search_expect(distance, 1e-4);
            for (int got = 0; got < CODEWORDS; got++)
                assert_int_equal(search_match(expected, got), got == best    ? ASSAY_EXACT
                                                              : got == rival ? ASSAY_NEAR
                                                                             : ASSAY_WRONG);
        }
}

TEST(five_rivals_are_known_and_the_sixth_is_wrong)
{
    const int near[] = {255, 0, 7, 128, 254, 1};
    double distance[CODEWORDS];
    all_far(distance, 200.0);
    distance[9] = 100.0;
    for (int i = 0; i < 6; i++)
        distance[near[i]] = 100.001 + 0.001 * i;
    double expected = search_expect(distance, 1e-4);
    assert_int_equal(search_match(expected, 9), ASSAY_EXACT);
    for (int i = 0; i < 6; i++)
        assert_int_equal(search_match(expected, near[i]),
                         i < SEARCH_RIVALS ? ASSAY_NEAR : ASSAY_WRONG);
}

TEST(a_gap_as_wide_as_the_tolerance_is_no_tie)
{
    double distance[CODEWORDS];
    all_far(distance, 200.0);
    distance[3] = 100.0;
    distance[4] = 100.0101;
    assert_int_equal(search_match(search_expect(distance, 1e-4), 4), ASSAY_WRONG);
    assert_int_equal(search_match(search_expect(distance, 2e-3), 4), ASSAY_NEAR);
}

TEST(equal_distances_go_to_the_lowest_codeword_and_no_distance_to_codeword_0)
{
    double distance[CODEWORDS];
    all_far(distance, 200.0);
    distance[17] = distance[40] = 100.0;
    assert_true((int)search_expect(distance, 1e-4) == 17);
    all_far(distance, NAN);
    assert_true(search_expect(distance, 1e-4) == 0.0);
}

TEST(the_distance_is_its_formula)
{
    float z[CODEWORD_LENGTH] = {0};
    static float codebook[CODEWORDS * CODEWORD_LENGTH];
    double distance[CODEWORDS];
    z[0] = 3.0f;
    z[127] = -4.0f;
    codebook[5 * CODEWORD_LENGTH] = 1.0f;
    codebook[255 * CODEWORD_LENGTH + 127] = -4.0f;
    search_distances(z, codebook, distance);
    assert_true(distance[0] == 25.0 && distance[5] == 20.0 && distance[255] == 9.0);
}

TEST(every_host_search_finds_the_nearest_codeword)
{
    const int64_t leaves[] = {1, 2, 3, 17};
    int64_t near;
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        near = bench_all(SHAPE("vq_search", leaves[i], SEARCH_FP32), "host_scalar host_omp");
        /* fp32 errs some 1e-3 of what separates two twins of the codebook. */
        if (getenv("MARGINS")) printf("vq_search in fp32: %d near\n", (int)near);
        assert_true(near <= 1 + leaves[i] * LEAF_VECTORS / 256);
    }
}

/* The operands of a product rounded to `bits` bits, as tensor cores take them. */
static float rounded(float x, int bits)
{
    int exponent;
    double fraction = frexp((double)x, &exponent);
    return isfinite(x) ? (float)ldexp(rint(ldexp(fraction, bits)), exponent - bits) : x;
}

/* What is said of a search with operands of `bits` bits. */
static struct check_result search_with(int64_t leaves, int64_t type, int bits)
{
    struct bench bench;
    bench_init(&bench, SHAPE("vq_search", leaves, type, 0));
    const float *z = bench.buffers.data[SEARCH_Z], *codebook = bench.buffers.data[SEARCH_CODEBOOK];
    uint8_t *index = bench.buffers.data[SEARCH_INDEX];
    for (int64_t i = 0; i < bench.buffers.spec[SEARCH_INDEX].count; i++) {
        double best = -INFINITY;
        index[i] = 0;
        for (int k = 0; k < CODEWORDS; k++) {
            double score = 0;
            for (int j = 0; j < CODEWORD_LENGTH; j++) {
                float e = codebook[k * CODEWORD_LENGTH + j];
                score +=
                    (double)rounded(z[i * CODEWORD_LENGTH + j], bits) * (double)rounded(e, bits) -
                    0.5 * (double)e * (double)e;
            }
            if (score > best) {
                best = score;
                index[i] = (uint8_t)k;
            }
        }
    }
    struct check_result found = bench_judge(&bench);
    if (getenv("MARGINS"))
        printf("vq_search type %d, %d bits: %d near, %d wrong of %d\n", (int)type, bits,
               (int)found.near, (int)found.wrong, (int)bench.verifier.checked);
    bench_release(&bench);
    return found;
}

/* The share of indices that it gets NEAR; a WRONG one fails. */
static double near_share(int64_t type, int bits)
{
    struct check_result found = search_with(16, type, bits);
    assert_int_equal(found.wrong, 0);
    return found.near_share;
}

TEST(rounded_operands_stay_within_what_their_type_allows)
{
    assert_true(near_share(SEARCH_TF32, 11) <= 5e-3);
    assert_true(near_share(SEARCH_BF16, 8) <= 1e-2);
}

TEST(a_search_in_tf32_is_wrong_where_fp32_is_asked_for)
{
    for (bench_seed = 1; bench_seed <= 5; bench_seed++)
        assert_true(search_with(16, SEARCH_FP32, 11).wrong > 10);
    bench_seed = 1;
}

TEST(quality_counts_mismatches_and_measures_the_error)
{
    struct bench bench;
    struct assay_metric metric[ASSAY_MAX_METRICS];
    bench_init(&bench, SHAPE("vq_search", 1, SEARCH_TF32, 0));
    float *z = bench.buffers.data[SEARCH_Z], *codebook = bench.buffers.data[SEARCH_CODEBOOK];
    uint8_t *index = bench.buffers.data[SEARCH_INDEX];
    for (int i = 0; i < LEAF_VECTORS; i++) {
        memcpy(z + i * CODEWORD_LENGTH, codebook + i * CODEWORD_LENGTH,
               sizeof(float) * CODEWORD_LENGTH);
        z[i * CODEWORD_LENGTH] += 0.5f;
        index[i] = (uint8_t)i;
    }
    const void *const *host = (const void *const *)bench.buffers.data;
    assert_int_equal(bench.shape.operation->quality(&bench.shape, host, metric), 3);
    assert_string_equal(metric[0].name, "mismatch_rate");
    assert_true(metric[0].value == 0.0);
    assert_true(fabs(metric[1].value - 0.25 / CODEWORD_LENGTH) < 1e-6);
    index[7] = 8;
    assert_int_equal(bench.shape.operation->quality(&bench.shape, host, metric), 3);
    assert_true(metric[0].value == 1.0 / LEAF_VECTORS);
    z[0] = NAN; /* left out */
    assert_int_equal(bench.shape.operation->quality(&bench.shape, host, metric), 3);
    assert_true(metric[0].value == 1.0 / (LEAF_VECTORS - 1));
    bench_release(&bench);
}

TEST(the_work_of_a_search_is_each_byte_once_and_a_product_a_codeword)
{
    struct assay_shape shape = SHAPE("vq_search", 1024, SEARCH_TF32, 0);
    struct assay_work work = shape.operation->work(&shape);
    assert_true(work.read_bytes == 65536.0 * 512 + 131072 && work.write_bytes == 65536.0);
    assert_true(work.ops[ASSAY_TF32] == 65536.0 * 65536 && work.ops[ASSAY_FP32] == 0);
}

/* -------------------------------------------------------------- the gather -- */

TEST(every_host_gather_is_exact_for_every_type_of_index)
{
    for (int64_t index = 0; index < GATHER_INDICES; index++)
        for (int64_t leaves = 1; leaves <= 65; leaves += 16)
            bench_all(SHAPE("vq_gather", leaves, index, 0), "host_scalar host_memset host_omp");
}

TEST(widened_codes_have_their_own_memory)
{
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    struct assay_shape shape = SHAPE("vq_gather", 3, GATHER_U8, 0);
    assert_int_equal(shape.operation->buffers(&shape, buffer), 3);
    shape.value[GATHER_INDEX] = GATHER_I64;
    assert_int_equal(shape.operation->buffers(&shape, buffer), 4);
    shape.value[GATHER_INDEX] = GATHER_CHAIN;
    assert_int_equal(shape.operation->buffers(&shape, buffer), 5);
    assert_int_equal(buffer[GATHER_WIDE].role, ASSAY_SCRATCH);
    assert_int_equal(buffer[GATHER_FLOAT].count, 3 * LEAF_VECTORS);
}

/* ------------------------------------------------------------- group norm -- */

TEST(every_host_norm_is_right_at_odd_shapes)
{
    const int64_t shapes[][4] = {{1, 4, 1, 4},   {1, 1, 1, 1},   {3, 16, 512, 4},
                                 {5, 64, 64, 8}, {67, 6, 27, 3}, {2, 7, 5, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct assay_shape shape = SHAPE("group_norm_relu", 0, 0, 0);
        memcpy(shape.value, shapes[i], sizeof shapes[i]);
        assert_null(shape.operation->supports(&shape));
        bench_all(shape, "host_scalar host_memcpy host_omp");
    }
}

TEST(channels_that_do_not_divide_are_no_groups)
{
    struct assay_shape shape = SHAPE("group_norm_relu", 1, 10, 64);
    shape.value[3] = 4;
    assert_non_null(shape.operation->supports(&shape));
    shape.value[3] = 5;
    assert_null(shape.operation->supports(&shape));
}

/* ---------------------------------------------- transfers and allocation -- */

TEST(every_host_transfer_arrives_both_ways)
{
    const int64_t sizes[] = {1, 63, 4096, 100003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int64_t direction = TRANSFER_H2D; direction <= TRANSFER_BOTH; direction++)
            bench_all(SHAPE("transfer", sizes[i], direction, 0), "host_memcpy");
}

TEST(a_transfer_uses_the_sides_of_its_direction)
{
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    struct assay_shape shape = SHAPE("transfer", 10, TRANSFER_H2D, 0);
    struct assay_call call = {.shape = &shape, .buffer = {buffer, buffer + 1}};
    assert_int_equal(shape.operation->buffers(&shape, buffer), 1);
    assert_int_equal(buffer[0].role, ASSAY_OUT);
    assert_ptr_equal(transfer_destination(&call), call.buffer[0]);
    assert_null(transfer_source(&call));
    shape.value[TRANSFER_DIRECTION] = TRANSFER_D2H;
    assert_int_equal(shape.operation->buffers(&shape, buffer), 1);
    assert_int_equal(buffer[0].role, ASSAY_IN);
    assert_ptr_equal(transfer_source(&call), call.buffer[0]);
    assert_null(transfer_destination(&call));
    shape.value[TRANSFER_DIRECTION] = TRANSFER_BOTH;
    assert_int_equal(shape.operation->buffers(&shape, buffer), 2);
    assert_ptr_equal(transfer_destination(&call), call.buffer[0]);
    assert_ptr_equal(transfer_source(&call), call.buffer[1]);
    struct assay_work work = shape.operation->work(&shape);
    assert_true(work.read_bytes == 10 && work.write_bytes == 10);
}

TEST(a_byte_that_did_not_arrive_is_found)
{
    uint8_t host[1000];
    transfer_host_poison(host, 1000);
    assert_int_equal(transfer_host_check(host, 1000), -1);
    transfer_host_source(host, 1000);
    assert_int_equal(transfer_host_check(host, 1000), 0);
    host[999] ^= 1;
    assert_int_equal(transfer_host_check(host, 1000), -1);
}

/* Large enough that all cores look for it. */
TEST(the_first_wrong_byte_of_many_is_told)
{
    const int64_t bytes = (2 << 20) + 13;
    uint8_t *host = malloc((size_t)bytes);
    assert_non_null(host);
    transfer_host_source(host, bytes);
    assert_int_equal(transfer_host_check(host, bytes), 0);
    host[bytes - 1] ^= 1;
    host[1234567] ^= 1;
    assert_int_equal(transfer_host_check(host, bytes), -1);
    assert_non_null(strstr(assay_last_error(), "host byte 1234567 "));
    free(host);
}

TEST(every_host_way_to_memory_gives_some)
{
    for (int64_t bytes = 64; bytes < 8 << 20; bytes = bytes * 8 + 1)
        bench_all(SHAPE("memory_alloc", bytes, 0, 0), "host_preallocated host_malloc");
}
