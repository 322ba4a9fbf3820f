/* test_registry.c - what was linked in, in order, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <stdio.h>

#include "tests/test.h"
#include "base/error.h"
#include "case/registry.h"
#include "case/registry_lists.h"
#include "case/shape.h"
#include "tests/fake_operations.h"
#include "suite/plan.h"

TEST(operations_are_sorted_by_name)
{
    const struct assay_operation *const *list;
    assert_int_equal(registry_operations(&list), 3);
    assert_ptr_equal(list[0], &product);
    assert_ptr_equal(list[1], &scale);
    assert_ptr_equal(list[2], &stream);
    assert_ptr_equal(registry_operation("scale"), &scale);
    assert_null(registry_operation("scal"));
}

TEST(variants_are_references_baselines_kernels_each_by_name)
{
    const struct assay_variant *list[8];
    const struct assay_variant *const expected[] = {&scale_plain,     &scale_library,  &scale_fast,
                                                    &scale_cuda_fast, &scale_cuda_tma, &scale_wide};
    assert_int_equal(registry_variants("scale", list, 8), 6);
    assert_memory_equal(list, expected, sizeof expected);
    assert_int_equal(registry_variants("scale", list, 2), 2);
    assert_int_equal(registry_variants("none", list, 8), 0);
}

TEST(what_is_linked_here_is_sound)
{
    assert_int_equal(registry_check(), 0);
}

/* -------------------------------------------------------------- culprits -- */

static void expect_refusal(const struct assay_operation *operation,
                           const struct assay_variant *variant, const char *message)
{
    const struct assay_operation *operations[] = {&scale, operation};
    const struct assay_variant *variants[] = {&scale_fast, variant};
    assert_int_equal(registry_check_lists(operations, operation ? 2 : 1, variants, variant ? 2 : 1),
                     -1);
    assert_string_equal(assay_last_error(), message);
}

TEST(names_are_lower_case_and_fit)
{
    struct assay_operation bad = stream;
    bad.name = "Scale";
    expect_refusal(&bad, NULL, "an operation 'Scale': a name is made of a-z, 0-9 and _");
    bad.name = "";
    expect_refusal(&bad, NULL, "an operation has no name");
    bad.name = "an_operation_with_a_name_of_forty_eight_letters_";
    expect_refusal(&bad, NULL,
                   "an operation 'an_operation_with_a_name_of_forty_eight_letters_': the "
                   "name has more than 47 characters");
}

TEST(names_are_unique)
{
    struct assay_operation same = stream;
    struct assay_variant again = scale_wide;
    same.name = "scale";
    expect_refusal(&same, NULL, "two operations are called scale");
    again.name = "fast";
    expect_refusal(NULL, &again, "two variants of scale are called fast");
    again.place = ASSAY_CUDA; /* a name may be used on both places */
    const struct assay_operation *operations[] = {&scale};
    const struct assay_variant *variants[] = {&scale_fast, &again};
    assert_int_equal(registry_check_lists(operations, 1, variants, 2), 0);
}

TEST(a_variant_needs_its_operation_and_launch)
{
    struct assay_variant bad = scale_wide;
    bad.operation = "sclae";
    expect_refusal(NULL, &bad, "variant wide belongs to operation 'sclae', which does not exist");
    bad.operation = "scale";
    bad.launch = NULL;
    expect_refusal(NULL, &bad, "variant wide of scale lacks its summary or launch");
}

TEST(a_bound_is_apart)
{
    struct assay_variant bad = scale_wide;
    bad.kind = ASSAY_BOUND;
    expect_refusal(NULL, &bad,
                   "wide of scale is a bound, which computes something else, and is not "
                   "marked apart");
}

TEST(an_operation_needs_buffers_and_work)
{
    struct assay_operation bad = stream;
    bad.work = NULL;
    expect_refusal(&bad, NULL, "operation stream lacks its summary, buffers or work");
}

TEST(dims_are_possible)
{
    static const char *const none[] = {NULL};
    static const char *const spaced[] = {"a b", NULL};
    struct assay_operation bad = stream;
    bad.dims[0].fallback = 0;
    expect_refusal(&bad, NULL, "dim bytes of stream: its fallback is not a possible value");
    bad = stream;
    bad.dims[1].fallback = 3;
    expect_refusal(&bad, NULL, "dim mix of stream: its fallback is not a possible value");
    bad = stream;
    bad.dims[0].min = 9;
    bad.dims[0].max = 8;
    expect_refusal(&bad, NULL, "dim bytes of stream has an impossible range");
    bad = stream;
    bad.dims[1].choices = none;
    expect_refusal(&bad, NULL, "dim mix of stream has no choices");
    bad.dims[1].choices = spaced;
    expect_refusal(&bad, NULL, "dim mix of stream: 'a b' cannot be a choice");
    bad = stream;
    bad.dims[1].name = "bytes";
    expect_refusal(&bad, NULL, "dim bytes of stream is there twice");
    bad.dims[1].name = "budget";
    expect_refusal(&bad, NULL, "dim budget of stream: suites use this word as a key");
    bad = stream;
    bad.dims[1].summary = NULL;
    expect_refusal(&bad, NULL, "dim mix of stream has no summary");
}

TEST(an_enumeration_has_a_value_of_it)
{
    struct assay_variant bad = scale_wide;
    bad.kind = (enum assay_kind)4;
    expect_refusal(NULL, &bad,
                   "variant wide of scale: its kind, place or clock is none of assay.h");
}

/* --------------------------------------------------------------- objects -- */

static struct assay_operation brought = {.name = "brought", .summary = "y = x"};
static struct assay_variant brought_plain, brought_other;
static const struct assay_operation *const brought_operations[] = {&brought};
static const struct assay_variant *const brought_variants[] = {&brought_plain, &brought_other};

static struct assay_object sound_object(void)
{
    brought = stream;
    brought.name = "brought";
    brought_plain = brought_other = scale_fast;
    brought_plain.operation = "brought";
    brought_other.name = "from_an_object";
    return registry_object(brought_operations, 1, brought_variants, 2);
}

static void expect_not_added(const struct assay_object *object, const char *message)
{
    const struct assay_variant *const *list;
    int before = registry_all_variants(&list);
    assert_int_equal(registry_add(object, "b.so"), -1);
    assert_string_equal(assay_last_error(), message);
    assert_int_equal(registry_all_variants(&list), before);
    assert_null(registry_operation("brought"));
}

/* The versions are those of the header. */
static void expect_other_version(const struct assay_object *object)
{
    char message[256];
    snprintf(message, sizeof message,
             "b.so was compiled for version %d.%d of assay.h, and this program is of version "
             "%d.%d: compile it with the assay.h of this program",
             object->abi_major, object->abi_minor, ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR);
    expect_not_added(object, message);
}

TEST(an_object_of_another_version_is_refused)
{
    struct assay_object object = sound_object();
    object.abi_major = ASSAY_ABI_MAJOR + 1;
    expect_other_version(&object);
    object.abi_major = ASSAY_ABI_MAJOR;
    object.abi_minor = ASSAY_ABI_MINOR + 1;
    expect_other_version(&object);
    int32_t *const sizes[] = {&object.object_bytes, &object.operation_bytes, &object.variant_bytes,
                              &object.library_bytes, &object.fixed_bytes};
    char message[256];
    snprintf(message, sizeof message,
             "b.so says that it is of version %d.%d of assay.h, and its structs have other sizes: "
             "compile it with the assay.h of this program",
             ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int change = -16; change <= 16; change += 32) { /* 8 less was an operation of 1.1 */
            object = sound_object();
            *sizes[i] += change;
            expect_not_added(&object, message);
        }
}

TEST(an_object_brings_something_sound)
{
    struct assay_object object = sound_object();
    object.operation_count = object.variant_count = 0;
    expect_not_added(&object, "b.so registers no operation and no variant: an ASSAY_REGISTER_ line "
                              "does");
    object.variant_count = -1;
    expect_not_added(&object, "b.so: a count of what it registers is negative");
    object = sound_object();
    brought.work = NULL;
    expect_not_added(&object, "b.so: operation brought lacks its summary, buffers or work");
    object = sound_object();
    brought_plain.operation = "none";
    expect_not_added(&object,
                     "b.so: variant fast belongs to operation 'none', which does not exist");
    const struct assay_variant *const gap[] = {&brought_plain, NULL};
    object = sound_object();
    object.variants = gap;
    expect_not_added(&object, "b.so: something that it registers is not there");
}

TEST(a_taken_name_is_refused_and_says_by_whom)
{
    struct assay_object object = sound_object();
    brought.name = "scale";
    expect_not_added(&object, "b.so: the operation scale is already there: this program has it");
    object = sound_object();
    brought_other.name = "fast";
    expect_not_added(&object, "b.so: the variant scale/fast is already there: this program has it");
}

/* The last of the tests: what it adds stays. */
TEST(an_object_is_added_once)
{
    static struct assay_object object, again;
    const struct assay_operation *const *operations;
    const struct assay_variant *list[8];
    object = again = sound_object();
    assert_int_equal(registry_add(&object, "a.so"), 0);
    assert_int_equal(registry_add(&object, "a.so"), 0);
    assert_int_equal(registry_operations(&operations), 4);
    assert_ptr_equal(operations[0], &brought);
    assert_int_equal(registry_variants("scale", list, 8), 7);
    assert_ptr_equal(list[4], &brought_other);
    assert_int_equal(registry_check(), 0);
    assert_int_equal(registry_add(&again, "b.so"), -1);
    assert_string_equal(assay_last_error(),
                        "b.so: the operation brought is already there: a.so has it");
    again.operation_count = 0;
    assert_int_equal(registry_add(&again, "b.so"), -1);
    assert_string_equal(assay_last_error(),
                        "b.so: the variant brought/fast is already there: a.so has it");
}

TEST(structs_of_an_older_version_end_in_zeros)
{
    struct old {
        int64_t a;
    } one = {11}, two = {22};
    struct now {
        int64_t a, b;
    };
    const struct old *const list[] = {&one, &two};
    void *block;
    const struct now *const *grown =
        registry_grow(list, 2, sizeof(struct old), sizeof(struct now), &block);
    assert_non_null(block);
    assert_int_equal(grown[0]->a, 11);
    assert_int_equal(grown[0]->b, 0);
    assert_int_equal(grown[1]->a, 22);
    assert_int_equal(grown[1]->b, 0);
    free(block);
    assert_ptr_equal(registry_grow(list, 2, sizeof one, sizeof one, &block), list);
    assert_null(block);
}

/* ---------------------------------------------------------------- shapes -- */

TEST(a_shape_reads_back_from_its_text)
{
    struct assay_shape shape = shape_default(&scale), back;
    char text[RESULT_MAX_SHAPE];
    shape_text(&shape, text, sizeof text);
    assert_string_equal(text, "n=1000 input=fp32");
    shape.value[0] = 123456789;
    shape.value[1] = 1;
    shape_text(&shape, text, sizeof text);
    assert_string_equal(text, "n=123456789 input=bf16");
    assert_int_equal(shape_parse(&scale, text, &back), 0);
    assert_true(shape_equal(&shape, &back));
    assert_int_equal(shape_parse(&scale, "input=bf16", &back), 0);
    assert_int_equal(back.value[0], 1000);
    assert_false(shape_equal(&shape, &back));
}

TEST(a_text_that_is_no_shape_is_refused)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"n", "'n' is not dim=value"},
        {"m=5", "scale has no dim 'm'"},
        {"n=5 n=6", "n is there twice"},
        {"n=-1", "n=-1 is no number"},
        {"n=0", "n=0 is not within 1 to 1000000000"},
        {"input=fp8", "input=fp8 is not one of its choices"},
    };
    struct assay_shape shape;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(shape_parse(&scale, bad[i].text, &shape), -1);
        assert_string_equal(assay_last_error(), bad[i].message);
    }
}

TEST(bytes_are_those_of_the_work_and_of_the_buffers)
{
    struct assay_shape shape = shape_default(&product);
    assert_float_equal(shape_bytes(&shape), 4 * 64 * 64 + 4 * 64, 0);
    shape = shape_default(&scale);
    assert_float_equal(shape_buffer_bytes(&shape), 5000, 0);
}

TEST(a_shape_without_room_is_cut_at_a_whole_dim)
{
    struct assay_shape shape = shape_default(&scale);
    char text[8] = "xxxxxxx";
    shape_text(&shape, text, sizeof text);
    assert_string_equal(text, "n=1000");
}
