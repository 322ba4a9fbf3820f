/*
 * test_plan_card.c - what a variant needs of the card and of the code that was built: what is
 * not there is the reason to skip the case.
 */
#include "tests/test.h"
#include "case/registry.h"
#include "suite/plan_parts.h"

enum { KIB = 1 << 10 };

static int no_buffers(const struct assay_shape *shape, struct assay_buffer *out)
{
    (void)shape, (void)out;
    return 0;
}

static const struct assay_operation tile = {
    .name = "tile",
    .buffers = no_buffers,
    .dims = {{.name = "bytes", .fallback = 1}},
};

static int64_t tile_bytes(const struct assay_shape *shape)
{
    return shape->value[0];
}

static const char *never(const struct assay_shape *shape)
{
    return "not today";
}

static const struct assay_variant plain = {.operation = "tile", .name = "plain"};
static const struct assay_variant clusters = {.name = "clusters", .min_sm = 90};
static const struct assay_variant wgmma = {
    .name = "wgmma", .min_sm = 90, .max_sm = 90, .arch_specific = true};
static const struct assay_variant tiled = {.name = "tiled", .shared_bytes = tile_bytes};
static const struct assay_variant both = {
    .name = "both", .supports = never, .shared_bytes = tile_bytes};

/* The cards and builds at hand: what the hardware has, and what its code may do. */
static const struct device_info a100 = {
    .place = ASSAY_CUDA, .compute_capability = 80, .card = {.sm = 80, .shared_bytes = 163 * KIB}};
static const struct device_info ada = {
    .place = ASSAY_CUDA, .compute_capability = 89, .card = {.sm = 89, .shared_bytes = 99 * KIB}};
static const struct device_info h200 = {
    .place = ASSAY_CUDA,
    .compute_capability = 90,
    .card = {.sm = 90, .arch_specific = true, .shared_bytes = 227 * KIB}};
static const struct device_info h200_by_ptx_80 = {
    .place = ASSAY_CUDA, .compute_capability = 90, .card = {.sm = 80, .shared_bytes = 227 * KIB}};
static const struct device_info b200_by_ptx_90 = {
    .place = ASSAY_CUDA, .compute_capability = 100, .card = {.sm = 90, .shared_bytes = 227 * KIB}};

static void expect(const struct device_info *device, const struct assay_variant *variant,
                   int64_t bytes, const char *reason)
{
    struct group group = {.shape = {&tile, {bytes}}, .variant_count = 1, .variant = {variant}};
    plan_skip(&group, device);
    assert_string_equal(group.skip[0], reason);
}

TEST(shared_memory_beyond_the_card_is_a_reason)
{
    expect(&a100, &tiled, 163 * KIB, "");
    expect(&a100, &tiled, 163 * KIB + 1,
           "needs 164 KiB of shared memory per block, this card has 163");
    expect(&ada, &tiled, 227 * KIB, "needs 227 KiB of shared memory per block, this card has 99");
    expect(&h200, &tiled, 227 * KIB, "");
    expect(&ada, &plain, 1 << 30, "");
}

TEST(what_the_shape_cannot_have_is_said_first)
{
    expect(&ada, &both, 227 * KIB, "not today");
}

TEST(code_is_asked_for_where_the_card_would_do)
{
    expect(&h200, &wgmma, 1, "");
    expect(&h200, &clusters, 1, "");
    expect(&h200_by_ptx_80, &clusters, 1, "needs code for sm_90, this build has sm_80");
    expect(&h200_by_ptx_80, &wgmma, 1, "needs code for sm_90a, this build has sm_80");
    expect(&h200_by_ptx_80, &plain, 1, "");
    expect(&b200_by_ptx_90, &clusters, 1, "");
}

TEST(the_card_is_named_where_no_code_would_help)
{
    expect(&a100, &clusters, 1, "needs compute capability 9.0, the device has 8.0");
    expect(&b200_by_ptx_90, &wgmma, 1, "for compute capability 9.0 at most, the device has 10.0");
}

TEST(the_host_has_no_card)
{
    const struct device_info host = {.place = ASSAY_HOST};
    expect(&host, &tiled, 227 * KIB, "");
}
