/*
 * pipe.h - a batch pipeline on one GPU or several: from host memory through the codec's network
 * and back to host memory, one batch at a time.
 *
 *   pipe_cuda.c          a launch: which batch runs when, on which stream
 *   pipe_stage_cuda.c    what one stage of one batch enqueues
 *   pipe_memory_cuda.c   host memory, device memory, streams
 *   pipe_figures_cuda.c  the stages' times
 *   pipe_check_cuda.c    all of the output against a plain pass of the network
 *   pipe_spans_cuda.c    when the stages of the first batches ran
 *   pipe_kernels.cu      the small kernels around the network
 *   pipe_variants_cuda.c the named variants
 */
#pragma once

#include "kernels/codec/network/codec_net_cuda.h"
#include "pipe_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PIPE_MOST_GPUS = 16, PIPE_TRACED = 24, PIPE_LAUNCHES = 256 };

enum pipe_stage { PIPE_STAGE_IN, PIPE_STAGE_NET, PIPE_STAGE_OUT, PIPE_STAGES };

/* Events around the stages of a launch's first batches, and before them all. */
struct pipe_trace {
    int64_t batches; /* at most PIPE_TRACED */
    cudaEvent_t start;
    struct {
        cudaEvent_t begin, end;
    } mark[PIPE_TRACED][PIPE_STAGES];
};

/* A place for one batch in flight. Streams are the pipe's; with one stream all three
 * are the same. */
struct pipe_slot {
    unsigned char *block; /* device memory; NULL between batches that obtain their own */
    unsigned char *host_in, *host_out; /* page-locked, for staged batches */
    cudaStream_t in_stream, net_stream, out_stream;
    cudaEvent_t loaded, computed, stored;
    cudaGraphExec_t graph;
    int64_t batch; /* the last one that was begun here; -1 none */
};

/* One GPU's. */
struct pipe {
    const struct pipe_axes *axes;
    enum pipe_direction direction;
    int64_t leaves;              /* a batch */
    int64_t first, step, beyond; /* batches first, first + step and so on below beyond */
    int64_t part;                /* leaves that the network takes at a time */
    struct pipe_block layout;
    int device;
    struct codec_net *net;
    cudaMemPool_t pool;
    struct pipe_spare {
        unsigned char *block;
        int64_t bytes;
    } spare[PIPE_MOST_SLOTS]; /* PIPE_BY_SHAPE: free blocks and their sizes */
    int slot_count, stream_count;
    struct pipe_slot slot[PIPE_MOST_SLOTS];
    cudaStream_t stream[PIPE_MOST_SLOTS];
    struct pipe_trace *trace;         /* NULL but while spans are taken */
    double staged_ns;                 /* what the host copied of the last launch's batches took */
    double staging_ns[PIPE_LAUNCHES]; /* the same of the last timed launches, in a ring */
    const unsigned char *source;      /* all batches' input and output in host memory */
    unsigned char *result;
};

/* A variant's state: the host memory of all batches and a pipe a GPU. */
struct pipes {
    struct pipe_axes axes;
    enum pipe_direction direction;
    unsigned char *source, *result;
    int64_t source_bytes, result_bytes;
    int64_t compared; /* of the output, by the last pipes_check */
    /* Times of the last launches by the host's clock, in a ring; and how many there were. */
    double launch_ns[PIPE_LAUNCHES];
    int64_t launches;
    int home;    /* the GPU that the harness has made current */
    int visible; /* GPUs that the program sees, where it asked */
    int count;
    struct pipe pipe[PIPE_MOST_GPUS];
};

static inline int64_t pipe_in_bytes(const struct pipe *pipe)
{
    return pipe->leaves * leaf_in_bytes(pipe->direction);
}

static inline int64_t pipe_out_bytes(const struct pipe *pipe)
{
    return pipe->leaves * leaf_out_bytes(pipe->direction);
}

/* How many batches are this GPU's. */
static inline int64_t pipe_batches(const struct pipe *pipe)
{
    int64_t span = pipe->beyond - pipe->first;
    return span > 0 ? (span + pipe->step - 1) / pipe->step : 0;
}

/* Where the network reads and writes a slot's batch. */
static inline unsigned char *pipe_net_in(const struct pipe *pipe, const struct pipe_slot *slot)
{
    if (pipe->axes->host != PIPE_MAPPED) return slot->block + pipe->layout.in;
    return (unsigned char *)pipe->source + slot->batch * pipe_in_bytes(pipe);
}

static inline unsigned char *pipe_net_out(const struct pipe *pipe, const struct pipe_slot *slot)
{
    if (pipe->axes->host != PIPE_MAPPED) return slot->block + pipe->layout.out;
    return pipe->result + slot->batch * pipe_out_bytes(pipe);
}

/* Whether batches reach the GPU through page-locked memory of their own. */
static inline bool pipe_is_staged(const struct pipe_axes *axes)
{
    return axes->host == PIPE_STAGED || axes->host == PIPE_PINNED_EACH;
}

/* The host's clock. */
double pipe_now_ns(void);

/* ------------------------------------------------------------------ memory -- */

/* The state of a variant, its input taken from the call's buffer. 0, -1 or ASSAY_SKIP.
 * pipes_close takes what an open that failed has left, and NULL. */
int pipes_open(struct pipes **pipes, struct assay_call *call, enum pipe_direction direction,
               const struct pipe_axes *axes);
void pipes_close(struct pipes *pipes);

/* Make the harness's GPU current again; `status`, or -1 where that fails. */
int pipes_go_home(const struct pipes *pipes, int status);

/* Allocate and free memory for one batch, where the axes ask for that. The device block is
 * ordered by the slot's streams. */
int pipe_obtain_host(struct pipe *pipe, struct pipe_slot *slot);
int pipe_obtain_block(struct pipe *pipe, struct pipe_slot *slot);
int pipe_return_block(struct pipe *pipe, struct pipe_slot *slot);
int pipe_return_host(struct pipe *pipe, struct pipe_slot *slot);

/* ------------------------------------------------------------------ stages -- */

/* Enqueue one stage of the slot's batch on `stream`. */
typedef int pipe_stage_function(const struct pipe *pipe, const struct pipe_slot *slot,
                                cudaStream_t stream);
pipe_stage_function pipe_stage_in, pipe_stage_net, pipe_stage_out;

/* The host's share of a staged batch: in before stage_in, out once stage_out is done. Adds its
 * time to the pipe's staged_ns. */
void pipe_copy_in(struct pipe *pipe, const struct pipe_slot *slot);
void pipe_copy_out(struct pipe *pipe, const struct pipe_slot *slot);

/* The net's stage of a slot whose block stays, as a graph. */
int pipe_record_graph(const struct pipe *pipe, struct pipe_slot *slot);

/* ------------------------------------------------------------------ launch -- */

/* All batches of all GPUs, to completion. */
int pipes_launch(struct pipes *pipes);

/* ------------------------------------------------------------------- check -- */

/* All of the last launch's output against a plain pass of the network over the input in the
 * call's buffer; brings it to the call's buffer, and spoils it in host memory. 0, or
 * -1 with assay_error: what is wrong, or what failed. */
int pipes_check(struct pipes *pipes, const struct assay_call *call);

/* ----------------------------------------------------------------- figures -- */

/* pipes_launch; its time and that of the host's copies are kept for the figures. */
int pipes_launch_timed(struct pipes *pipes);

int pipes_figures(struct pipes *pipes, struct assay_metric *out, int max);
int pipes_spans(struct pipes *pipes, struct assay_span *out, int max);

/* ----------------------------------------------------------------- kernels -- */

/* Keep the stream busy for this time, in which the host enqueues what follows. */
int pipe_hold(cudaStream_t stream, double ns);

/* Code bytes to 64-bit integers, and back. */
int pipe_widen(const uint8_t *codes, int64_t *wide, int64_t count, cudaStream_t stream);
int pipe_narrow(const int64_t *wide, uint8_t *codes, int64_t count, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
