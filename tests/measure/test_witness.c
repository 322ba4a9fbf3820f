/* test_witness.c - outputs of which the reference affords a part: what is wrong in the rest is
 * found where it differs from another variant's. */
#include "on_host.h"

enum { ROWS, COLUMNS, COST };

static int rows_buffers(const struct assay_shape *shape, struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    static const struct assay_fill uniform = {.kind = ASSAY_FILL_UNIFORM, .a = 1, .b = 2};
    int64_t n = shape->value[ROWS] * shape->value[COLUMNS];
    out[0] = (struct assay_buffer){
        .name = "x", .role = ASSAY_IN, .type = ASSAY_F32, .count = n, .fill = uniform};
    out[1] = (struct assay_buffer){.name = "y", .role = ASSAY_OUT, .type = ASSAY_F32, .count = n};
    return 2;
}

static int rows_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                          int64_t begin, int64_t end, double *expected, double *bound)
{
    assert_int_equal(begin % shape->value[COLUMNS], 0);
    for (int64_t i = begin; i < end; i++)
        expected[i - begin] = 3.0 * ((const float *)in[0])[i];
    return 0;
}

static double rows_cost(const struct assay_shape *shape)
{
    return (double)shape->value[COST];
}

static int64_t rows_run(const struct assay_shape *shape)
{
    return shape->value[COLUMNS];
}

static enum assay_match near_or_wrong(const struct assay_shape *shape, int buffer, double expected,
                                      double got)
{
    double error = got > expected ? got - expected : expected - got;
    return error < 1e-5 ? ASSAY_EXACT : error < 1e-3 ? ASSAY_NEAR : ASSAY_WRONG;
}

static const struct assay_operation by_bound = {.name = "rows",
                                                .dims = {{.name = "rows"}, {.name = "columns"}},
                                                .buffers = rows_buffers,
                                                .reference = rows_reference,
                                                .reference_cost = rows_cost,
                                                .reference_run = rows_run,
                                                .tolerance = {1e-4, 0, 0}};
static const struct assay_operation by_match = {.name = "rows",
                                                .dims = {{.name = "rows"}, {.name = "columns"}},
                                                .buffers = rows_buffers,
                                                .reference = rows_reference,
                                                .reference_cost = rows_cost,
                                                .reference_run = rows_run,
                                                .match = near_or_wrong,
                                                .tolerance = {.near_share = 1}};

/* Eight sequences of which the reference affords the first and the last, and many rows of which
 * it affords one in 64. */
static const struct assay_shape models[] = {{&by_bound, {8, 1000, (1 << 25) / 2000}},
                                            {&by_match, {8, 1000, (1 << 25) / 2000}}};
static const struct assay_shape products[] = {{&by_bound, {16384, 64, 2048}},
                                              {&by_match, {16384, 64, 2048}}};

static int64_t count_of(const struct assay_call *call)
{
    return call->shape->value[ROWS] * call->shape->value[COLUMNS];
}

static int launch_right(struct assay_call *call)
{
    const float *x = call->buffer[0];
    float *y = call->buffer[1];
    for (int64_t i = 0; i < count_of(call); i++)
        y[i] = 3 * x[i];
    return 0;
}

/* Right, with errors as large as are allowed. */
static int launch_rough(struct assay_call *call)
{
    float *y = call->buffer[1];
    launch_right(call);
    for (int64_t i = 0; i < count_of(call); i++)
        y[i] += i % 2 ? 9e-5f : -9e-5f;
    return 0;
}

static int launch_zeros(struct assay_call *call)
{
    float *y = call->buffer[1];
    launch_right(call);
    for (int64_t i = 1000; i < 7000; i++)
        y[i] = 0;
    return 0;
}

static int launch_nan(struct assay_call *call)
{
    launch_right(call);
    memset((float *)call->buffer[1] + 3333, 0xff, sizeof(float));
    return 0;
}

static int launch_bad_row(struct assay_call *call)
{
    float *y = call->buffer[1];
    launch_right(call);
    for (int64_t i = 0; i < 64; i++)
        y[(int64_t)9999 * 64 + i] += 0.01f;
    return 0;
}

static const struct assay_variant right = {
    .operation = "rows", .name = "right", .launch = launch_right};
static const struct assay_variant rough = {
    .operation = "rows", .name = "rough", .launch = launch_rough};

static void check_group(const struct assay_shape *shape, int count,
                        const struct assay_variant *const variants[], struct case_result *results)
{
    struct measure_request request = {
        .shape = *shape, .seed = 5, .check_only = true, .count = count};
    memcpy(request.variant, variants, (size_t)count * sizeof *variants);
    assert_int_equal(measure_on_host(&request, results, NULL), 0);
    assert_true(results[0].checked < results[0].outputs);
}

/* Whoever comes first is the witness; a wrong one is found either way, and alone it is not. */
static void find(const struct assay_shape shapes[2], int (*launch)(struct assay_call *),
                 const char *words)
{
    const struct assay_variant wrong = {.operation = "rows", .name = "wrong", .launch = launch};
    const struct assay_variant *const orders[][3] = {
        {&right, &wrong, &rough}, {&wrong, &right, &rough}, {&rough, &wrong, &right}};
    for (int s = 0; s < 2; s++)
        for (int o = 0; o < 3; o++) {
            struct case_result results[3];
            check_group(&shapes[s], 3, orders[o], results);
            for (int i = 0; i < 3; i++) {
                bool is_wrong = orders[o][i] == &wrong;
                if (results[i].status != (is_wrong ? STATUS_WRONG : STATUS_OK))
                    fail_msg("%s: status %d, %s", orders[o][i]->name, results[i].status,
                             results[i].reason);
                if (is_wrong && !strstr(results[i].reason, words))
                    fail_msg("%s", results[i].reason);
            }
        }
    struct case_result alone;
    check_group(&shapes[0], 1, orders[1], &alone);
    assert_int_equal(alone.status, STATUS_OK);
}

TEST(zeroed_sequences_are_found)
{
    find(models, launch_zeros, "is 0, expected");
    find(models, launch_zeros, "(found where it differs from r");
}

TEST(a_nan_is_found_before_all_else)
{
    find(models, launch_nan, "y[3333] is");
}

TEST(one_wrong_row_in_sixteen_thousand_is_found)
{
    find(products, launch_bad_row, "y[6399");
}

TEST(variants_that_differ_within_the_bound_are_right)
{
    static const struct assay_variant *const both[] = {&right, &rough};
    for (int s = 0; s < 4; s++) {
        struct case_result results[2];
        check_group(s < 2 ? &models[s] : &products[s - 2], 2, both, results);
        for (int i = 0; i < 2; i++)
            if (results[i].status != STATUS_OK) fail_msg("%s", results[i].reason);
    }
}
