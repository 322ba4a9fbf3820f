/* test_twins.c - variants of another build beside those of the registry. */
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "case/registry.h"
#include "case/shape.h"
#include "case/twins.h"
#include "tests/fake_operations.h"

/* The same operation and variant as another build has them. */
static struct assay_operation other;
static struct assay_variant other_fast;
static const struct assay_operation *const operations[] = {&other};
static const struct assay_variant *const variants[] = {&other_fast};

static struct assay_object build(void)
{
    other = scale;
    other_fast = scale_fast;
    return registry_object(operations, 1, variants, 1);
}

TEST(a_name_says_which_twin_it_is)
{
    char plain[ASSAY_MAX_NAME];
    assert_int_equal(twin_split("fast@base", plain), TWIN_BASE);
    assert_string_equal(plain, "fast");
    assert_int_equal(twin_split("fast@null", plain), TWIN_NULL);
    assert_int_equal(twin_split("fast", plain), -1);
    assert_string_equal(plain, "fast");
    assert_int_equal(twin_split("fast@nul", plain), -1);
}

TEST(another_version_is_refused_and_adds_nothing)
{
    struct assay_object object = build();
    object.abi_major++;
    assert_int_equal(twins_add(&object, TWIN_BASE, "b.so"), -1);
    assert_non_null(strstr(assay_last_error(), "b.so was compiled for version"));
    object = build();
    other_fast.launch = NULL;
    assert_int_equal(twins_add(&object, TWIN_BASE, "b.so"), -1);
    object = build();
    other_fast.operation = "none";
    assert_int_equal(twins_add(&object, TWIN_BASE, "b.so"), -1);
    assert_null(twins_of(&scale_fast, TWIN_BASE));
}

TEST(a_twin_is_found_and_knows_its_original)
{
    static struct assay_object object;
    const struct assay_variant *list[8];
    object = build();
    assert_int_equal(twins_add(&object, TWIN_BASE, "b.so"), 0);
    const struct assay_variant *twin = twins_of(&scale_fast, TWIN_BASE);
    assert_non_null(twin);
    assert_string_equal(twin->name, "fast@base");
    assert_string_equal(twin->operation, "scale");
    assert_ptr_equal(twins_original(twin), &other_fast);
    assert_ptr_equal(twins_original(&scale_fast), &scale_fast);
    assert_ptr_equal(twins_named("scale", "fast@base", ASSAY_HOST), twin);
    assert_null(twins_named("scale", "fast@base", ASSAY_CUDA));
    assert_null(twins_of(&scale_fast, TWIN_NULL));
    assert_null(twins_of(&scale_wide, TWIN_BASE));
    /* The registry has it not. */
    assert_int_equal(registry_variants("scale", list, 8), 6);
}

static int more_buffers(const struct assay_shape *shape, struct assay_buffer out[])
{
    scale_buffers(shape, out);
    out[0].count++;
    return 2;
}

static struct assay_work more_work(const struct assay_shape *shape)
{
    return (struct assay_work){.read_bytes = 77};
}

TEST(what_could_not_take_its_buffers_has_an_obstacle)
{
    const struct assay_variant *twin = twins_of(&scale_fast, TWIN_BASE);
    struct assay_shape shape = shape_default(&scale);
    assert_null(twins_obstacle(twin, &shape));
    assert_null(twins_obstacle(&scale_fast, &shape));
    assert_true(twins_work(twin, &shape).read_bytes == 4000);
    other.buffers = more_buffers;
    assert_non_null(strstr(twins_obstacle(twin, &shape), "other buffers"));
    other.buffers = scale_buffers;
    other.dims[1].choices = fake_mixes;
    assert_non_null(strstr(twins_obstacle(twin, &shape), "other dims"));
    other.dims[1].choices = fake_inputs;
    other.dims[1].name = NULL;
    assert_non_null(strstr(twins_obstacle(twin, &shape), "other dims"));
    other = scale;
    other.work = more_work;
    assert_null(twins_obstacle(twin, &shape));
    assert_true(twins_work(twin, &shape).read_bytes == 77);
    assert_true(twins_work(&scale_fast, &shape).read_bytes == 4000);
}
