/*
 * pipe_check_cuda.c - judges all of a pipeline's output against one plain pass of the network
 * (pipe_compare.h). The pass runs on one stream of the harness's GPU, over the input that the
 * harness keeps there, and is not cut into the pipeline's batches. So the output of other GPUs is
 * compared with that of this one.
 *
 * Piece by piece, the pass writes to the operation's buffer, from where it is read for the
 * comparison. Then the pipeline's own output is copied there, to be judged by the harness. What is
 * in host memory is overwritten, so that the next launch has to write it again.
 * Bytes per leaf: 2112 twice over the link.
 */
#include <stdlib.h>

#include "kernels/cuda/cuda_error.h"
#include "pipe.h"
#include "pipe_compare.h"

/* Leaves per piece: a multiple of four, as the network needs it, and no multiple of any usual
 * batch. Its workspace is about 32 MiB. */
enum { PIECE_LEAVES = 4084 };

struct plain_pass {
    struct pipes *pipes;
    unsigned char *input, *output; /* the harness's, on its GPU */
    void *workspace;               /* there too */
    unsigned char *expected;       /* a piece's, in host memory */
    cudaStream_t stream;
};

static int plain_open(struct plain_pass *pass, struct pipes *pipes, const struct assay_call *call)
{
    size_t bytes = codec_net_workspace_bytes(PIECE_LEAVES);
    pass->pipes = pipes;
    pass->input = call->buffer[PIPE_IN];
    pass->output = call->buffer[PIPE_OUT];
    pass->stream = call->stream;
    pass->expected = malloc((size_t)PIECE_LEAVES * (size_t)leaf_out_bytes(pipes->direction));
    if (!pass->expected) return assay_error("out of memory for the plain pass");
    if (pipes->direction != PIPE_ENCODE) return 0;
    return cuda_error(cudaMalloc(&pass->workspace, bytes), "the workspace of the plain pass");
}

static void plain_release(struct plain_pass *pass)
{
    if (pass->workspace) cudaFree(pass->workspace);
    free(pass->expected);
}

static int enqueue(const struct plain_pass *pass, int64_t first, int64_t leaves)
{
    struct codec_net *net = pass->pipes->pipe[0].net;
    const unsigned char *in = pass->input + first * leaf_in_bytes(pass->pipes->direction);
    unsigned char *out = pass->output + first * leaf_out_bytes(pass->pipes->direction);
    if (pass->pipes->direction == PIPE_ENCODE)
        return codec_net_encode(net, (const float *)in, out, leaves, pass->workspace, pass->stream);
    return codec_net_decode(net, in, (float *)out, leaves, pass->stream);
}

static void spoil(unsigned char *bytes, int64_t count)
{
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)~bytes[i];
}

static int compare_piece(const struct plain_pass *pass, int64_t first, int64_t leaves,
                         struct pipe_finding *finding)
{
    enum pipe_direction direction = pass->pipes->direction;
    int64_t at = first * leaf_out_bytes(direction), bytes = leaves * leaf_out_bytes(direction);
    unsigned char *got = pass->pipes->result + at;
    if (enqueue(pass, first, leaves)) return -1;
    if (cuda_error(cudaMemcpyAsync(pass->expected, pass->output + at, (size_t)bytes,
                                   cudaMemcpyDeviceToHost, pass->stream),
                   "the plain pass") ||
        cuda_error(cudaStreamSynchronize(pass->stream), "the plain pass"))
        return -1;
    pipe_compare(direction, got, pass->expected, first, leaves, finding);
    if (cuda_error(cudaMemcpyAsync(pass->output + at, got, (size_t)bytes, cudaMemcpyHostToDevice,
                                   pass->stream),
                   "the output") ||
        cuda_error(cudaStreamSynchronize(pass->stream), "the output"))
        return -1;
    spoil(got, bytes);
    return 0;
}

int pipes_check(struct pipes *pipes, const struct assay_call *call)
{
    struct plain_pass pass = {0};
    struct pipe_finding finding = pipe_finding_none();
    int64_t leaves = pipe_leaves(call->shape);
    if (leaves == 0) return 0;
    int status = plain_open(&pass, pipes, call);
    for (int64_t first = 0; status == 0 && first < leaves; first += PIECE_LEAVES) {
        int64_t rest = leaves - first;
        status = compare_piece(&pass, first, rest < PIECE_LEAVES ? rest : PIECE_LEAVES, &finding);
    }
    plain_release(&pass);
    pipes->compared = finding.compared;
    return status ? status
                  : pipe_judge(pipes->direction, &finding, call->shape->value[PIPE_LEAVES]);
}
