/*
 * test_family_codec_net_gpu.c - the network on a GPU beside itself: on two streams at
 * once, in a captured graph, and few leaves by several blocks each. Left out where
 * there is no GPU; against the reference it is held by `assay run --check`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/test.h"
#include "tests/kernels/gpu_only.h"

#ifdef ASSAY_HAVE_CUDA
#include "kernels/codec/network/codec_net_cuda.h"
#include "kernels/codec/network/codec_net_internal.h"

enum { MOST_LEAVES = 67 }; /* no multiple of the four leaves of a block */

#define FINE(call) assert_int_equal(call, 0)

/* A stream with memory of its own for a batch. */
struct lane {
    cudaStream_t stream;
    float *leaves;
    uint8_t *codes;
    void *workspace;
};

static void lane_init(struct lane *lane)
{
    FINE(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
    FINE(cudaMalloc((void **)&lane->leaves, sizeof(float) * LEAF_VOXELS * MOST_LEAVES));
    FINE(cudaMalloc((void **)&lane->codes, LEAF_VECTORS * MOST_LEAVES));
    FINE(cudaMalloc(&lane->workspace, codec_net_workspace_bytes(MOST_LEAVES)));
}

static void lane_release(struct lane *lane)
{
    cudaFree(lane->workspace);
    cudaFree(lane->codes);
    cudaFree(lane->leaves);
    cudaStreamDestroy(lane->stream);
}

/* Codes that differ from batch to batch, and nothing where leaves will be. */
static void lane_fill(struct lane *lane, unsigned seed)
{
    uint8_t codes[LEAF_VECTORS * MOST_LEAVES];
    for (unsigned i = 0; i < sizeof codes; i++)
        codes[i] = (uint8_t)((i + seed) * 2654435761u >> 24);
    FINE(cudaMemcpy(lane->codes, codes, sizeof codes, cudaMemcpyHostToDevice));
    FINE(cudaMemset(lane->leaves, 0xff, sizeof(float) * LEAF_VOXELS * MOST_LEAVES));
}

/* There and back: the codes of what its codes decode to. */
static void enqueue(struct codec_net *net, const struct lane *lane)
{
    FINE(codec_net_decode(net, lane->codes, lane->leaves, MOST_LEAVES, lane->stream));
    FINE(codec_net_encode(net, lane->leaves, lane->codes, MOST_LEAVES, lane->workspace,
                          lane->stream));
}

struct output {
    float leaves[LEAF_VOXELS * MOST_LEAVES];
    uint8_t codes[LEAF_VECTORS * MOST_LEAVES];
};

static struct output *output_of(const struct lane *lane)
{
    struct output *output = malloc(sizeof *output);
    assert_non_null(output);
    FINE(cudaStreamSynchronize(lane->stream));
    FINE(cudaMemcpy(output->leaves, lane->leaves, sizeof output->leaves, cudaMemcpyDeviceToHost));
    FINE(cudaMemcpy(output->codes, lane->codes, sizeof output->codes, cudaMemcpyDeviceToHost));
    return output;
}

static struct codec_net *net_open(void)
{
    struct codec_net *net;
    FINE(codec_net_create(&net, codec_weights_default()));
    return net;
}

TEST(batches_on_two_streams_do_not_disturb_each_other)
{
    struct codec_net *net = net_open();
    struct lane lane[2];
    struct output *alone[2];
    for (int i = 0; i < 2; i++) {
        lane_init(&lane[i]);
        lane_fill(&lane[i], 100u * (unsigned)i);
        FINE(cudaDeviceSynchronize());
        enqueue(net, &lane[i]);
        alone[i] = output_of(&lane[i]);
    }
    assert_memory_not_equal(alone[0]->leaves, alone[1]->leaves, sizeof alone[0]->leaves);
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 2; i++)
            lane_fill(&lane[i], 100u * (unsigned)i);
        FINE(cudaDeviceSynchronize());
        for (int i = 0; i < 2; i++)
            enqueue(net, &lane[i]);
        for (int i = 0; i < 2; i++) {
            struct output *beside = output_of(&lane[i]);
            assert_memory_equal(beside, alone[i], sizeof *beside);
            free(beside);
        }
    }
    for (int i = 0; i < 2; i++) {
        free(alone[i]);
        lane_release(&lane[i]);
    }
    codec_net_destroy(net);
}

TEST(a_captured_graph_gives_the_same_bits_again_and_again)
{
    struct codec_net *net = net_open();
    struct lane lane;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    lane_init(&lane);
    lane_fill(&lane, 7);
    FINE(cudaDeviceSynchronize());
    enqueue(net, &lane);
    struct output *direct = output_of(&lane);
    FINE(cudaStreamBeginCapture(lane.stream, cudaStreamCaptureModeThreadLocal));
    enqueue(net, &lane);
    FINE(cudaStreamEndCapture(lane.stream, &graph));
    FINE(cudaGraphInstantiate(&executable, graph, 0));
    for (int turn = 0; turn < 3; turn++) {
        lane_fill(&lane, 7);
        FINE(cudaDeviceSynchronize());
        FINE(cudaGraphLaunch(executable, lane.stream));
        struct output *replayed = output_of(&lane);
        assert_memory_equal(replayed, direct, sizeof *replayed);
        free(replayed);
    }
    free(direct);
    FINE(cudaGraphExecDestroy(executable));
    FINE(cudaGraphDestroy(graph));
    lane_release(&lane);
    codec_net_destroy(net);
}

/* Side by side, a block has its leaves alone; by itself a batch is spread over clusters,
 * which add the last convolution's channels up in another order. */
TEST(spread_over_clusters_leaves_are_the_same_but_for_rounding)
{
    struct codec_net *net = net_open();
    struct lane lane;
    struct output *output[2];
    lane_init(&lane);
    for (int i = 0; i < 2; i++) {
        lane_fill(&lane, 3);
        FINE(cudaDeviceSynchronize());
        codec_net_side_by_side(net, i ? 1000 : 1);
        FINE(codec_net_decode(net, lane.codes, lane.leaves, MOST_LEAVES, lane.stream));
        output[i] = output_of(&lane);
    }
    for (int i = 0; i < LEAF_VOXELS * MOST_LEAVES; i++)
        assert_true(fabsf(output[0]->leaves[i] - output[1]->leaves[i]) < 1e-5f);
    free(output[0]);
    free(output[1]);
    lane_release(&lane);
    codec_net_destroy(net);
}
#endif

int main(void)
{
    return gpu_main("the network", open_gpu, close_gpu);
}
