/*
 * test_family_operations.c - every operation that is linked in, at a small shape: a host
 * variant takes it, and all that do are right. A new operation is tested by being there.
 */
#include "bench.h"
#include "case/shape.h"

enum { BY_DEFAULT = -1, MOST_CHOICES = 4, MOST_BYTES = 1 << 18 };

/* Below 64 leaves for the codec's decoder, which alone would take a third of the time. */
static const double MOST_OPERATIONS = 2e9;

static bool is_small(const struct assay_shape *shape)
{
    struct assay_work work = shape->operation->work(shape);
    double operations = 0;
    for (int i = 0; i < ASSAY_ARITHMETICS; i++)
        operations += work.ops[i];
    return shape_buffer_bytes(shape) <= MOST_BYTES && operations <= MOST_OPERATIONS;
}

/* Every size as near to `size` as its range allows, every choice as near to number `choice`. */
static struct assay_shape shape_near(const struct assay_operation *operation, int64_t size,
                                     int64_t choice)
{
    struct assay_shape shape = shape_default(operation);
    for (int d = 0; d < shape_dims(operation); d++) {
        const struct assay_dim *dim = &operation->dims[d];
        int64_t wanted = dim->choices ? choice : size, least, most;
        if (dim->choices && choice == BY_DEFAULT) continue;
        if (strcmp(dim->name, "volume") == 0) continue; /* a choice of it wants a file */
        shape_range(dim, &least, &most);
        shape.value[d] = wanted < least ? least : wanted > most ? most : wanted;
    }
    return shape;
}

static bool some_variant_takes(struct assay_shape shape)
{
    struct group group;
    bench_group(&group, shape);
    for (int i = 0; i < group.variant_count; i++)
        if (!group.skip[i][0]) return true;
    return false;
}

/* The first that a host variant takes. */
static struct assay_shape small_shape(const struct assay_operation *operation)
{
    static const int64_t sizes[] = {3, 4, 8, 64, 1};
    for (int64_t choice = BY_DEFAULT; choice < MOST_CHOICES; choice++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct assay_shape shape = shape_near(operation, sizes[i], choice);
            if (some_variant_takes(shape)) return shape;
        }
    fail_msg("%s: no host variant takes a small shape", operation->name);
    return shape_default(operation);
}

TEST(every_operation_has_host_variants_that_are_right)
{
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    assert_true(count > 0);
    for (int i = 0; i < count; i++)
        bench_all(small_shape(operations[i]), "");
}

static bool is_among(const struct assay_shape *shapes, int count, const struct assay_shape *shape)
{
    for (int i = 0; i < count; i++)
        if (memcmp(shapes[i].value, shape->value, sizeof shape->value) == 0) return true;
    return false;
}

/* Every size and every choice that some host variant takes, small; ranges make some of them the
 * same. */
static void check_shapes(const struct assay_operation *operation)
{
    static const int64_t sizes[] = {1, 3, 17, 64};
    struct assay_shape tried[MOST_CHOICES * sizeof sizes / sizeof *sizes];
    int count = 0;
    for (int64_t choice = 0; choice < MOST_CHOICES; choice++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct assay_shape shape = shape_near(operation, sizes[i], choice);
            if (!is_small(&shape) || is_among(tried, count, &shape)) continue;
            tried[count++] = shape;
            if (some_variant_takes(shape)) bench_all(shape, "");
        }
}

/* SEEDS=N tries N of them, from FIRST on: inputs that only one seed in hundreds brings are met by
 * whoever runs a suite every day. */
TEST(no_right_variant_is_refused_whatever_the_seed)
{
    const char *wanted = getenv("SEEDS"), *from = getenv("FIRST");
    uint64_t seeds = wanted ? strtoull(wanted, NULL, 10) : 1;
    uint64_t first = from ? strtoull(from, NULL, 10) : 2;
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations);
    for (bench_seed = first; bench_seed < first + seeds; bench_seed++)
        for (int i = 0; i < count; i++)
            check_shapes(operations[i]);
}

/* A name that is no choice's would let cases on different data pass for comparable. */
TEST(data_dims_are_choices_of_the_operation)
{
    const struct assay_operation *const *operations;
    int count = registry_operations(&operations), named = 0;
    for (int i = 0; i < count; i++) {
        char names[128], *rest = names;
        snprintf(names, sizeof names, "%s",
                 operations[i]->data_dims ? operations[i]->data_dims : "");
        for (char *name; (name = strtok_r(rest, " ", &rest)); named++) {
            int d = 0;
            while (d < shape_dims(operations[i]) && strcmp(operations[i]->dims[d].name, name))
                d++;
            assert_in_range(d, 0, shape_dims(operations[i]) - 1);
            assert_non_null(operations[i]->dims[d].choices);
        }
    }
    assert_in_range(named, 1, 1000);
}
