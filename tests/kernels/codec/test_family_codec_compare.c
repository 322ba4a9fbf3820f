/*
 * test_family_codec_compare.c - a pipeline's whole output against a plain pass of the
 * network: what is found, and what is let pass.
 */
#include "base/error.h"
#include "tests/kernels/bench.h"
#include "kernels/codec/pipeline/pipe_compare.h"

enum { BATCH = 64, BATCHES = 9, LEAVES = BATCH * BATCHES };

/* Different in every leaf, as an output is. */
static uint8_t *codes_make(void)
{
    uint8_t *codes = malloc((size_t)LEAVES * LEAF_VECTORS);
    assert_non_null(codes);
    for (int i = 0; i < LEAVES * LEAF_VECTORS; i++)
        codes[i] = (uint8_t)(i * 37 + i / LEAF_VECTORS * 11);
    return codes;
}

static float *voxels_make(void)
{
    float *voxels = malloc(sizeof *voxels * LEAVES * LEAF_VOXELS);
    assert_non_null(voxels);
    for (int i = 0; i < LEAVES * LEAF_VOXELS; i++)
        voxels[i] = (float)(i * 29 % 1009) / 1009;
    return voxels;
}

static struct pipe_finding compare(enum pipe_direction direction, const void *got,
                                   const void *plain)
{
    struct pipe_finding finding = pipe_finding_none();
    pipe_compare(direction, got, plain, 0, LEAVES, &finding);
    return finding;
}

TEST(equal_outputs_are_right_and_all_are_compared)
{
    uint8_t *codes = codes_make();
    float *voxels = voxels_make();
    struct pipe_finding finding = compare(PIPE_ENCODE, codes, codes);
    assert_int_equal(finding.compared, LEAVES * LEAF_VECTORS);
    assert_int_equal(finding.differing, 0);
    assert_int_equal(pipe_judge(PIPE_ENCODE, &finding, BATCH), 0);
    finding = compare(PIPE_DECODE, voxels, voxels);
    assert_int_equal(finding.compared, LEAVES * LEAF_VOXELS);
    assert_int_equal(pipe_judge(PIPE_DECODE, &finding, BATCH), 0);
    free(codes);
    free(voxels);
}

/* The first and the last leaf are right, so that a sample of them would say nothing. */
TEST(a_batch_in_the_middle_that_is_another_ones_is_found)
{
    uint8_t *plain = codes_make(), *got = codes_make();
    size_t bytes = (size_t)BATCH * LEAF_VECTORS;
    memcpy(got + 5 * bytes, plain + 4 * bytes, bytes);
    struct pipe_finding finding = compare(PIPE_ENCODE, got, plain);
    assert_int_equal(finding.wrong_leaves, BATCH);
    assert_int_equal(finding.first_wrong, 5 * BATCH);
    assert_int_equal(pipe_judge(PIPE_ENCODE, &finding, BATCH), -1);
    assert_non_null(strstr(assay_last_error(), "the first in batch 5"));
    free(plain);
    free(got);
}

TEST(one_leaf_that_was_never_written_is_found_among_all)
{
    uint8_t *plain = codes_make(), *got = codes_make();
    for (int i = 0; i < LEAF_VECTORS; i++)
        got[300 * LEAF_VECTORS + i] = (uint8_t)~got[300 * LEAF_VECTORS + i];
    struct pipe_finding finding = compare(PIPE_ENCODE, got, plain);
    assert_int_equal(finding.wrong_leaves, 1);
    assert_int_equal(finding.first_wrong, 300);
    assert_int_equal(pipe_judge(PIPE_ENCODE, &finding, BATCH), -1);
    free(plain);
    free(got);
}

TEST(a_few_codes_at_near_ties_are_let_pass_and_many_are_not)
{
    uint8_t *plain = codes_make(), *got = codes_make();
    for (int leaf = 0; leaf < LEAVES; leaf += 30)
        got[leaf * LEAF_VECTORS] ^= 1;
    struct pipe_finding finding = compare(PIPE_ENCODE, got, plain);
    assert_int_equal(finding.differing, 20); /* of 36864: the share allows 37 and some */
    assert_int_equal(pipe_judge(PIPE_ENCODE, &finding, BATCH), 0);
    for (int leaf = 1; leaf < LEAVES; leaf += 7)
        got[leaf * LEAF_VECTORS] ^= 1;
    finding = compare(PIPE_ENCODE, got, plain);
    assert_int_equal(finding.wrong_leaves, 0);
    assert_int_equal(pipe_judge(PIPE_ENCODE, &finding, BATCH), -1);
    free(plain);
    free(got);
}

TEST(a_voxel_may_be_off_by_the_tolerance_and_no_more)
{
    const int at = (7 * BATCH + 3) * LEAF_VOXELS + 100;
    float *plain = voxels_make(), *got = voxels_make();
    got[at] += 0.003f;
    struct pipe_finding finding = compare(PIPE_DECODE, got, plain);
    assert_int_equal(pipe_judge(PIPE_DECODE, &finding, BATCH), 0);
    got[at] += 0.003f;
    finding = compare(PIPE_DECODE, got, plain);
    assert_int_equal(finding.differing, 1);
    assert_int_equal(finding.first_wrong, 7 * BATCH + 3);
    assert_int_equal(pipe_judge(PIPE_DECODE, &finding, BATCH), -1);
    assert_non_null(strstr(assay_last_error(), "the first in batch 7"));
    got[at] = NAN;
    finding = compare(PIPE_DECODE, got, plain);
    assert_int_equal(pipe_judge(PIPE_DECODE, &finding, BATCH), -1);
    free(plain);
    free(got);
}

/* As pipes_check does, which has no room for all at once. */
TEST(pieces_add_up_to_the_whole)
{
    uint8_t *plain = codes_make(), *got = codes_make();
    struct pipe_finding finding = pipe_finding_none();
    memset(got + 200 * LEAF_VECTORS, 0, 2 * LEAF_VECTORS);
    for (int first = 0; first < LEAVES; first += 100) {
        int64_t leaves = LEAVES - first < 100 ? LEAVES - first : 100;
        pipe_compare(PIPE_ENCODE, got + first * LEAF_VECTORS, plain + first * LEAF_VECTORS, first,
                     leaves, &finding);
    }
    assert_int_equal(finding.compared, LEAVES * LEAF_VECTORS);
    assert_int_equal(finding.wrong_leaves, 2);
    assert_int_equal(finding.first_wrong, 200);
    free(plain);
    free(got);
}
