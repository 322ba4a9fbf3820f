/*
 * pipe_variants_cuda.c - the named batch pipelines on a GPU.
 *
 * `serial` is the starting point: page-locked memory, preallocated blocks, one call at a time.
 * Further variants change one axis of struct pipe_axes each; all_off and all_on change all of
 * them, and `best` is the fastest combination.
 *
 * Bytes per leaf over the link: 2048 in one direction, 64 in the other. Operations per leaf: 30.6 M
 * to encode, 114.1 M to decode (codec_net.h).
 */
#include "kernels/codec/network/codec_net_cuda.h"
#include "pipe.h"

static int launch(struct assay_call *call)
{
    return pipes_launch_timed(call->state);
}

static void teardown(struct assay_call *call)
{
    pipes_close(call->state);
}

static int check(struct assay_call *call)
{
    return pipes_check(call->state, call);
}

static int figures(struct assay_call *call, struct assay_metric *out, int max)
{
    return pipes_figures(call->state, out, max);
}

static int spans(struct assay_call *call, struct assay_span *out, int max)
{
    return pipes_spans(call->state, out, max);
}

/* A row of the table: the same pipeline for both operations. */
#define PIPELINE(label, what, is, ...)                                                             \
    static const struct pipe_axes axes_##label = {__VA_ARGS__};                                    \
    static int setup_encode_##label(struct assay_call *call)                                       \
    {                                                                                              \
        return pipes_open((struct pipes **)&call->state, call, PIPE_ENCODE, &axes_##label);        \
    }                                                                                              \
    static int setup_decode_##label(struct assay_call *call)                                       \
    {                                                                                              \
        return pipes_open((struct pipes **)&call->state, call, PIPE_DECODE, &axes_##label);        \
    }                                                                                              \
    static const struct assay_variant encode_##label = {.operation = "codec_encode_batch",         \
                                                        .name = #label,                            \
                                                        .summary = what,                           \
                                                        .kind = is,                                \
                                                        .place = ASSAY_CUDA,                       \
                                                        .clock = ASSAY_CLOCK_WALL,                 \
                                                        .min_sm = CODEC_NET_SM,                    \
                                                        .shared_bytes = codec_net_shared_bytes,    \
                                                        .setup = setup_encode_##label,             \
                                                        .launch = launch,                          \
                                                        .teardown = teardown,                      \
                                                        .check = check,                            \
                                                        .figures = figures,                        \
                                                        .spans = spans};                           \
    ASSAY_REGISTER_VARIANT(encode_##label);                                                        \
    static const struct assay_variant decode_##label = {.operation = "codec_decode_batch",         \
                                                        .name = #label,                            \
                                                        .summary = what,                           \
                                                        .kind = is,                                \
                                                        .place = ASSAY_CUDA,                       \
                                                        .clock = ASSAY_CLOCK_WALL,                 \
                                                        .min_sm = CODEC_NET_SM,                    \
                                                        .shared_bytes = codec_net_shared_bytes,    \
                                                        .setup = setup_decode_##label,             \
                                                        .launch = launch,                          \
                                                        .teardown = teardown,                      \
                                                        .check = check,                            \
                                                        .figures = figures,                        \
                                                        .spans = spans};                           \
    ASSAY_REGISTER_VARIANT(decode_##label)

/* clang-format off */
/*       name              what it is                                                    */
PIPELINE(serial,           "the middle: pinned, preallocated, one batch at a time",        ASSAY_BASELINE,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_WAIT,  1, 0, false, false, 0);

PIPELINE(pageable,         "serial from and to ordinary host memory",                      ASSAY_KERNEL,
         PIPE_PAGEABLE,       PIPE_PREALLOCATED, PIPE_WAIT,  1, 0, false, false, 0);
PIPELINE(staged,           "serial, copied by the host through kept pinned memory",        ASSAY_KERNEL,
         PIPE_STAGED,         PIPE_PREALLOCATED, PIPE_WAIT,  1, 0, false, false, 0);
PIPELINE(staged_roles,     "staged, three roles: the host copies while the GPU works",     ASSAY_KERNEL,
         PIPE_STAGED,         PIPE_PREALLOCATED, PIPE_ROLES, 3, 0, false, false, 0);
PIPELINE(pinned_each,      "serial, the same but pinned anew for each batch",              ASSAY_KERNEL,
         PIPE_PINNED_EACH,    PIPE_PREALLOCATED, PIPE_WAIT,  1, 0, false, false, 0);
PIPELINE(write_combined,   "serial, input in write-combined memory",                       ASSAY_KERNEL,
         PIPE_WRITE_COMBINED, PIPE_PREALLOCATED, PIPE_WAIT,  1, 0, false, false, 0);
PIPELINE(mapped,           "serial, no copies: the network reads and writes host memory",  ASSAY_KERNEL,
         PIPE_MAPPED,         PIPE_PREALLOCATED, PIPE_WAIT,  1, 0, false, false, 0);

PIPELINE(malloc,           "serial, cudaMalloc and cudaFree for each batch",               ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_MALLOC,       PIPE_WAIT,  1, 0, false, false, 0);
PIPELINE(malloc_async_0,   "serial, from a pool that is trimmed at each synchronisation",  ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_ASYNC_0,      PIPE_WAIT,  1, 0, false, false, 0);
PIPELINE(malloc_async_max, "serial, from a pool that keeps its memory",                    ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_ASYNC_MAX,    PIPE_WAIT,  1, 0, false, false, 0);
PIPELINE(shape_pool,       "serial, from a list of free blocks of the batch's size",       ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_BY_SHAPE,     PIPE_WAIT,  1, 0, false, false, 0);

PIPELINE(one_stream,       "one stream, all batches enqueued ahead",                       ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_AHEAD, 1, 0, false, false, 0);
PIPELINE(roles,            "three streams: in, network, out; three batches in flight",     ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_ROLES, 3, 0, false, false, 0);
PIPELINE(pipelines_2,      "two streams in turns, a batch in flight in each",              ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_WHOLE, 2, 0, false, false, 0);
PIPELINE(pipelines_4,      "four streams in turns, a batch in flight in each",             ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_WHOLE, 4, 0, false, false, 0);
PIPELINE(pipelines_8,      "eight streams in turns, a batch in flight in each",            ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_WHOLE, 8, 0, false, false, 0);

PIPELINE(extra_copy,       "serial, the input copied once more on the device",             ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_WAIT,  1, PIPE_EXTRA, false, false, 0);
PIPELINE(widened,          "serial, the codes widened to int64 and back",                  ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_WAIT,  1, PIPE_WIDEN, false, false, 0);

PIPELINE(graph,            "serial, the network's kernels as one graph",                   ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_WAIT,  1, 0, true, false, 0);

PIPELINE(small_parts,      "serial, the network 512 leaves at a time",                     ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_WAIT,  1, 0, false, false, 512);

PIPELINE(all_off,          "pageable, malloc, one at a time, both needless copies",        ASSAY_KERNEL,
         PIPE_PAGEABLE,       PIPE_MALLOC,       PIPE_WAIT,  1, PIPE_EXTRA | PIPE_WIDEN, false, false, 0);
PIPELINE(all_on,           "pinned, preallocated, three roles, no copies, graphs",         ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_ROLES, 3, 0, true, false, 0);
PIPELINE(best,             "eight streams with whole batches, graphs",                      ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_WHOLE, 8, 0, true, false, 0);
PIPELINE(all_gpus,         "best, spread over the GPUs of this machine",                   ASSAY_KERNEL,
         PIPE_PINNED,         PIPE_PREALLOCATED, PIPE_WHOLE, 8, 0, true, true, 0);
/* clang-format on */
