/*
 * test_family_cards_cuda.c - no class of card is left without a kernel: what variants declare that
 * they need is held against what the classes have. Nothing is launched, so no GPU is needed.
 */
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "case/registry.h"
#include "case/shape.h"
#include "suite/plan_parts.h"

enum { KIB = 1 << 10 };

#define CARD(label, capability, code, own, shared_kib, memory_gib, l2_mib)                         \
    {                                                                                              \
        .place = ASSAY_CUDA, .name = label, .compute_capability = capability,                      \
        .memory_bytes = (int64_t)(memory_gib) << 30, .cache_bytes = (int64_t)(l2_mib) << 20,       \
        .card = {                                                                                  \
            .sm = code,                                                                            \
            .arch_specific = own,                                                                  \
            .shared_bytes = (shared_kib)*KIB                                                       \
        }                                                                                          \
    }

/* The first is what all others are held against. A later card runs its own code, or PTX. */
static const struct device_info cards[] = {
    CARD("H200", 90, 90, true, 227, 141, 60),
    CARD("H200 by PTX of compute_80", 90, 80, false, 227, 141, 60),
    CARD("A100", 80, 80, false, 163, 80, 40),
    CARD("RTX 3090", 86, 86, false, 99, 24, 6),
    CARD("RTX 3090 by sm_80", 86, 80, false, 99, 24, 6),
    CARD("RTX 4090", 89, 89, false, 99, 24, 72),
    CARD("B200", 100, 100, false, 227, 180, 126),
    CARD("RTX 5090", 120, 120, false, 99, 32, 96),
    CARD("RTX 5090 by PTX of compute_90", 120, 90, false, 99, 32, 96),
};
enum { CARDS = sizeof cards / sizeof *cards };

/* Kernels of a group that run, or all variants with `any`. */
static int runs(const struct group *group, bool any)
{
    int count = 0;
    for (int i = 0; i < group->variant_count; i++)
        count += !group->skip[i][0] && (any || group->variant[i]->kind == ASSAY_KERNEL);
    return count;
}

/* All variants on a GPU, at the operation's own shape. */
static struct group group_of(const struct assay_operation *operation,
                             const struct device_info *card)
{
    const struct assay_variant *list[REGISTRY_MAX_VARIANTS];
    struct group group = {.shape = shape_default(operation)};
    int count = registry_variants(operation->name, list, REGISTRY_MAX_VARIANTS);
    for (int i = 0; i < count; i++)
        if (list[i]->place == ASSAY_CUDA) group.variant[group.variant_count++] = list[i];
    plan_skip(&group, card);
    return group;
}

TEST(every_operation_has_a_kernel_for_every_class_of_card)
{
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations), held = 0;
    for (int i = 0; i < count; i++) {
        struct group whole = group_of(operations[i], &cards[0]);
        if (runs(&whole, false) == 0) continue; /* libraries alone, or another machine's */
        for (int c = 1; c < CARDS; c++) {
            struct group group = group_of(operations[i], &cards[c]);
            if (runs(&group, false) == 0)
                fail_msg("%s has no kernel for %s", operations[i]->name, cards[c].name);
            held++;
        }
    }
    assert_true(held > 0);
}

/* Memory is another matter: a group may be too large for 24 GiB, and all of it is skipped. */
static bool is_too_large(const struct group *group)
{
    return group->variant_count > 0 && strstr(group->skip[0], ", the device has") &&
           !strstr(group->skip[0], "compute capability");
}

/* A card whose code has no product in FP8 has no ceiling of it. */
static bool has_no_ceiling(const struct group *group, const struct device_info *card)
{
    const char *ceiling = shape_ceiling(&group->shape, group->temperature);
    return ceiling && strcmp(ceiling, "fp8") == 0 && card->card.sm < 89;
}

static void check_suite(const char *name, const struct device_info *card)
{
    struct suite suite;
    struct plan plan = {0};
    char shape[RESULT_MAX_SHAPE];
    assert_int_equal(suite_read(&suite, name), 0);
    if (plan_expand(&plan, &suite, card)) fail_msg("%s: %s", name, assay_last_error());
    for (int i = 0; i < plan.count; i++) {
        struct group *group = &plan.groups[i], whole = *group;
        plan_skip(&whole, &cards[0]);
        if (runs(&whole, true) == 0 || runs(group, true) > 0 || is_too_large(group) ||
            has_no_ceiling(group, card))
            continue;
        shape_text(&group->shape, shape, sizeof shape);
        fail_msg("%s: nothing runs %s %s on %s: %s", name, group->shape.operation->name, shape,
                 card->name, group->skip[0]);
    }
    plan_release(&plan);
    suite_release(&suite);
}

TEST(every_group_of_a_suite_has_a_variant_for_every_class_of_card)
{
    static const char *const suites[] = {"smoke", "core",    "ceilings",  "int8",
                                         "lut",   "lattice", "codec",     "codec-long",
                                         "gpt",   "copies",  "transfers", "gpt-models"};
    for (size_t s = 0; s < sizeof suites / sizeof *suites; s++)
        for (int c = 1; c < CARDS; c++)
            check_suite(suites[s], &cards[c]);
}
