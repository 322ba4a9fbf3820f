/*
 * test_family_codec_pipeline_gpu.c - every batch pipeline on a GPU against the plain pass: what
 * it makes is right in all batches, and a batch in the middle that is not is found. Left
 * out where there is no GPU.
 */
#include <stdio.h>

#include "base/error.h"
#include "tests/kernels/bench.h"
#include "tests/kernels/gpu_only.h"

#ifdef ASSAY_HAVE_CUDA
#include "kernels/codec/pipeline/pipe.h"

enum { LEAVES = 17, BATCHES = 10, SPOILT = 5 };

#define FINE(call) assert_int_equal(call, 0)

/* The operation's buffers on the GPU, as the harness has them. */
static void call_open(struct assay_call *call, const struct bench *bench)
{
    *call = (struct assay_call){.shape = &bench->shape};
    for (int b = 0; b < bench->buffers.count; b++) {
        size_t bytes = bench_bytes(bench, b);
        FINE(cudaMalloc(&call->buffer[b], bytes));
        FINE(cudaMemcpy(call->buffer[b], bench->buffers.data[b], bytes, cudaMemcpyHostToDevice));
    }
}

static void call_close(struct assay_call *call, const struct bench *bench)
{
    for (int b = 0; b < bench->buffers.count; b++)
        FINE(cudaFree(call->buffer[b]));
}

/* One batch has what another should have. */
static void spoil_a_batch(struct pipes *pipes)
{
    size_t bytes = (size_t)pipes->result_bytes / BATCHES;
    memcpy(pipes->result + SPOILT * bytes, pipes->result + (SPOILT - 1) * bytes, bytes);
}

static void launch(const struct assay_variant *variant, struct assay_call *call)
{
    FINE(variant->launch(call));
    FINE(cudaDeviceSynchronize());
}

static void check_one(const struct assay_variant *variant, const struct bench *bench)
{
    struct assay_call call;
    call_open(&call, bench);
    int status = variant->setup(&call);
    if (status == ASSAY_SKIP) goto out; /* for want of a second GPU */
    assert_int_equal(status, 0);
    launch(variant, &call);
    assay_clear_error();
    if (variant->check(&call)) fail_msg("%s: %s", variant->name, assay_last_error());
    assert_int_equal(((struct pipes *)call.state)->compared, bench->buffers.spec[PIPE_OUT].count);
    launch(variant, &call);
    spoil_a_batch(call.state);
    if (variant->check(&call) == 0) fail_msg("%s: nothing was found", variant->name);
    if (!strstr(assay_last_error(), "the first in batch 5"))
        fail_msg("%s: %s", variant->name, assay_last_error());
    launch(variant, &call);
    FINE(variant->check(&call));
    assert_int_equal(variant->check(&call), -1); /* it was spoilt, and nothing wrote it again */
out:
    variant->teardown(&call);
    call_close(&call, bench);
}

static void check_all(const char *operation, int64_t volume)
{
    const struct assay_variant *list[REGISTRY_MAX_VARIANTS];
    int count = registry_variants(operation, list, REGISTRY_MAX_VARIANTS);
    struct bench bench;
    bench_init(&bench, SHAPE(operation, LEAVES, BATCHES, volume));
    /* The pipelines of the table: they launch as `serial` does, and have struct pipes. */
    int serial = 0;
    while (serial < count && strcmp(list[serial]->name, "serial") != 0)
        serial++;
    assert_true(serial < count);
    for (int i = 0; i < count; i++)
        if (list[i]->launch == list[serial]->launch) check_one(list[i], &bench);
    bench_release(&bench);
}

TEST(every_encoding_pipeline_is_right_and_a_wrong_batch_is_found)
{
    check_all("codec_encode_batch", 2); /* noise: no two leaves are alike */
}

TEST(every_decoding_pipeline_is_right_and_a_wrong_batch_is_found)
{
    check_all("codec_decode_batch", 0);
}
#endif

int main(void)
{
    return gpu_main("the codec's pipelines", open_gpu, close_gpu);
}
