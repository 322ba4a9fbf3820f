/*
 * test_family_gpt_ids_gpu.c - token ids outside the vocabulary are refused by the setup of
 * every variant on a GPU, before anything is launched. Left out where there is no GPU.
 */
#include <stdio.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "tests/kernels/gpu_only.h"

#ifdef ASSAY_HAVE_CUDA
#include "case/registry.h"
#include "device/device.h"
#include "kernels/gpt/model/model.h"
#include "measure/buffers.h"

struct bench {
    const struct device_ops *ops;
    struct device *device;
    struct assay_shape shape;
    struct buffers buffers;
};

static void bench_open(struct bench *bench, const char *operation, const int64_t *value, int dims)
{
    const struct device_options options = {.spec = "cuda:0", .use_events = true, .flush = -1};
    memset(bench, 0, sizeof *bench);
    bench->shape.operation = registry_operation(operation);
    assert_non_null(bench->shape.operation);
    memcpy(bench->shape.value, value, (size_t)dims * sizeof *value);
    assert_int_equal(device_open(&options, &bench->ops, &bench->device), 0);
    assert_int_equal(buffers_init(&bench->buffers, bench->ops, bench->device, &bench->shape, 3), 0);
}

static void bench_close(struct bench *bench)
{
    buffers_release(&bench->buffers);
    bench->ops->close(bench->device);
}

/* What a variant's setup returns with id number `at` set to `id`; what it was is put back. */
static int setup_with(struct bench *bench, const struct assay_variant *variant, int64_t at,
                      int32_t id)
{
    struct assay_call call = {.shape = &bench->shape, .stream = bench->ops->stream(bench->device)};
    int32_t *place = (int32_t *)bench->buffers.data[0] + at, kept;
    memcpy(call.buffer, bench->buffers.data, sizeof call.buffer);
    assert_int_equal(bench->ops->to_host(bench->device, &kept, place, sizeof kept), 0);
    assert_int_equal(bench->ops->from_host(bench->device, place, &id, sizeof id), 0);
    assert_int_equal(bench->ops->synchronize(bench->device), 0);
    assay_clear_error();
    int status = variant->setup ? variant->setup(&call) : 0;
    if (variant->teardown) variant->teardown(&call);
    assert_int_equal(bench->ops->from_host(bench->device, place, &kept, sizeof kept), 0);
    assert_int_equal(bench->ops->synchronize(bench->device), 0);
    return status;
}

static void refuse(struct bench *bench, const struct assay_variant *variant, int64_t at, int32_t id)
{
    char expected[64];
    if (setup_with(bench, variant, at, id) != -1)
        fail_msg("%s/%s takes id %d", bench->shape.operation->name, variant->name, (int)id);
    snprintf(expected, sizeof expected, "token %d has id %d,", (int)at, (int)id);
    if (strncmp(assay_last_error(), expected, strlen(expected)) != 0)
        fail_msg("%s/%s says: %s", bench->shape.operation->name, variant->name, assay_last_error());
}

/* Every variant on a GPU that takes the shape: the last id is fine, one outside is not. */
static int refuse_all(const char *operation, const int64_t *value, int dims, int64_t ids,
                      int32_t vocabulary)
{
    struct bench bench;
    const struct assay_variant *variants[64];
    int count = registry_variants(operation, variants, 64), tried = 0;
    bench_open(&bench, operation, value, dims);
    for (int v = 0; v < count; v++) {
        const struct assay_variant *variant = variants[v];
        if (variant->place != ASSAY_CUDA) continue;
        if (variant->supports && variant->supports(&bench.shape)) continue;
        assert_int_equal(setup_with(&bench, variant, ids - 1, vocabulary - 1), 0);
        refuse(&bench, variant, ids - 1, vocabulary);
        refuse(&bench, variant, 0, -1);
        tried++;
    }
    bench_close(&bench);
    return tried;
}

TEST(every_embedding_refuses_an_id_outside_the_vocabulary)
{
    const int64_t value[] = {2, 5, 48, 101};
    assert_true(refuse_all("embedding", value, 4, 10, 101) >= 3);
}

TEST(every_model_refuses_an_id_outside_the_vocabulary)
{
    /* heads, channels, batch, tokens, type, layers, vocabulary */
    const int64_t value[] = {3, 48, 2, 17, GPT_TF32, 2, 104};
    assert_true(refuse_all("gpt_forward", value, 7, 34, 104) >= 5);
}

TEST(every_decoder_refuses_an_id_outside_the_vocabulary)
{
    const int64_t value[] = {3, 48, 2, 16, GPT_TF32, 2, 104};
    assert_true(refuse_all("gpt_decode", value, 7, 34, 104) >= 5);
}
#endif

int main(void)
{
    return gpu_main("ids outside the vocabulary", NULL, NULL);
}
