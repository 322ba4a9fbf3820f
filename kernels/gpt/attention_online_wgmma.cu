/*
 * attention_online_wgmma.cu - one kernel on Hopper's tensor cores, after Shah and others,
 * "FlashAttention-3" (NeurIPS 2024): warps that only fetch (section 3.1), warpgroups that
 * take turns on the tensor cores (3.1), and the weights of a tile worked out while the
 * products of its neighbours run (3.2, algorithm 2).
 *
 * A block holds 64 queries for each of its consuming warpgroups, and one thread of a further
 * warpgroup has tiles of 128 keys and of 128 values brought by the tensor copy engine, in a
 * ring of stages; an mbarrier says that a tile is there, another that it is free. The
 * tensor map is that of q, k and v as they lie, so rows behind the last token of a
 * sequence arrive as zeros. Scores are a product with both operands in shared memory; their
 * accumulators, as weights in pairs, are the left operand of the second product as they
 * lie. While a warpgroup's scores of one tile and its sums of the tile before are under
 * way, it waits for the scores alone, and works out their weights beside the sums.
 *
 * Keys are gone over backwards, so that the tile on the diagonal, the only one that is
 * masked, comes first: 64 queries never straddle a tile of 128 keys. The sums are scaled
 * only where a row of the warp met a larger score, which gets rare after some tiles; where
 * none did the factor is exactly 1. A block stays on its multiprocessor and takes work
 * after work, so the first keys of the next come while the last sums are written.
 *
 * Operations: 4 d a pair in bf16, and an exponential; the tile on the diagonal is computed
 * whole, which adds 128 / (tokens + 1) at most. Bytes: q and y once; k and v once a block of
 * queries, from L2: 64 KiB for 128 x 128 pairs of 128 numbers, 5 TB/s at 640 TFLOP/s.
 *
 * Prediction, 132 multiprocessors at 1.7 GHz: a tile's products are 2048 cycles at head size
 * 128 and its exponentials 1024, at 16 a cycle: side by side the products bound, at 80 % of
 * their rate some 700 TFLOP/s. At 64 both are 1024 cycles, so that the rest, two
 * fp32 instructions and more a score, is not hidden: half of that rate.
 */
#include <cudaTypedefs.h>
#include <stdlib.h>

#include "attention.cuh"
#include "attention_hopper.cuh"
#include "attention_order.h"

enum {
    KEYS = 128, /* a tile */
    ROWS = 64,  /* queries of a warpgroup */
    PANEL = 64, /* numbers in 128 bytes of a row */
    GROUP_THREADS = 128,
};

/* What a block has in shared memory. Queries: a tile of ROWS a warpgroup. A tile is SIZE /
 * PANEL panels. Barriers: of the queries, then of each stage. */
template <int SIZE, int GROUPS, int STAGES> struct online_layout {
    static const int threads = GROUP_THREADS * (GROUPS + 1);
    static const int queries = ROWS * GROUPS;
    static const int query_bytes = ROWS * SIZE * 2, key_bytes = KEYS * SIZE * 2;
    static const int keys_at = GROUPS * query_bytes;
    static const int values_at = keys_at + STAGES * key_bytes;
    static const int barriers_at = values_at + STAGES * key_bytes;
    static const int slack = 1024; /* to begin at a multiple of this */
    static const int bytes = slack + barriers_at + (2 + 4 * STAGES) * 8 + 8;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* A work as the kernel goes over it. */
struct online_work {
    int batch, head;
    int first; /* query */
    int tiles; /* of keys */
};

static __device__ __forceinline__ struct online_work online_work_at(
    const struct attention &args, const struct attention_order &order, int index)
{
    struct attention_work at = attention_order_at(&order, index);
    int keys = min(at.first + order.queries, args.tokens);
    return (struct online_work){at.line / args.heads, at.line % args.heads, at.first,
                                (keys + KEYS - 1) / KEYS};
}

/* The next work that no block has taken; the first ones go by the number of the block. As
 * many are asked for as there are works, whatever the grid, and the last to ask leaves the
 * count as the next launch wants it. */
static __device__ __forceinline__ int online_next(int *taken, int works)
{
    int before = atomicAdd(taken, 1);
    if (before == works - 1) *taken = 0;
    return (int)gridDim.x + before;
}

/* The largest, and the sum, of a value over the four lanes that share a row. */
static __device__ __forceinline__ float row_max(float value)
{
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 1));
    return fmaxf(value, __shfl_xor_sync(0xffffffffu, value, 2));
}

static __device__ __forceinline__ float row_sum(float value)
{
    value += __shfl_xor_sync(0xffffffffu, value, 1);
    return value + __shfl_xor_sync(0xffffffffu, value, 2);
}

/* Word j of each of the four lanes that share a row, to lane j of them: 16 bytes in one
 * piece in the place of four times 4. */
static __device__ __forceinline__ void row_transpose(uint32_t (&word)[4], int lane)
{
    bool odd = lane & 1, upper = lane & 2;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        uint32_t swap = __shfl_xor_sync(0xffffffffu, odd ? word[i] : word[i + 1], 1);
        (odd ? word[i] : word[i + 1]) = swap;
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint32_t swap = __shfl_xor_sync(0xffffffffu, upper ? word[i] : word[i + 2], 2);
        (upper ? word[i] : word[i + 2]) = swap;
    }
}

/* Addresses of what is in shared memory. */
template <int SIZE, int GROUPS, int STAGES> struct online_memory {
    typedef online_layout<SIZE, GROUPS, STAGES> layout;
    uint32_t base;

    __device__ uint32_t query(int group) const
    {
        return base + group * layout::query_bytes;
    }
    __device__ uint32_t key(int stage) const
    {
        return base + layout::keys_at + stage * layout::key_bytes;
    }
    __device__ uint32_t value(int stage) const
    {
        return base + layout::values_at + stage * layout::key_bytes;
    }
    __device__ uint32_t barrier(int index) const
    {
        return base + layout::barriers_at + index * 8;
    }
    __device__ uint32_t query_there(void) const
    {
        return barrier(0);
    }
    __device__ uint32_t query_free(void) const
    {
        return barrier(1);
    }
    __device__ uint32_t key_there(int stage) const
    {
        return barrier(2 + stage);
    }
    __device__ uint32_t key_free(int stage) const
    {
        return barrier(2 + STAGES + stage);
    }
    __device__ uint32_t value_there(int stage) const
    {
        return barrier(2 + 2 * STAGES + stage);
    }
    __device__ uint32_t value_free(int stage) const
    {
        return barrier(2 + 3 * STAGES + stage);
    }
    __device__ uint32_t index(void) const
    {
        return barrier(2 + 4 * STAGES); /* of the work whose queries are there */
    }
};

/* A place in the ring of stages: `phase` is the parity of the rounds gone through. */
template <int STAGES> struct online_ring {
    int stage, phase;

    __device__ void advance(void)
    {
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    }
};

/* ----------------------------------------------------------------- producer -- */

template <int SIZE, int GROUPS, int STAGES>
static __device__ __forceinline__ void online_produce(
    const online_memory<SIZE, GROUPS, STAGES> memory, const CUtensorMap &queries,
    const CUtensorMap &tiles, const struct attention &args, const struct attention_order &order,
    int *taken)
{
    typedef online_layout<SIZE, GROUPS, STAGES> layout;
    online_ring<STAGES> key = {0, 0}, value = {0, 0};
    int index = (int)blockIdx.x, free = 1; /* the parity that query_free has where they are */
    for (; index < order.works; index = online_next(taken, order.works), free ^= 1) {
        struct online_work work = online_work_at(args, order, index);

        auto fetch = [&](uint32_t to, uint32_t there, int head, int tile) {
            arrival_expect(there, layout::key_bytes);
#pragma unroll
            for (int panel = 0; panel < SIZE / PANEL; panel++)
                tensor_load(to + panel * KEYS * 128, &tiles, there, panel * PANEL, head,
                            tile * KEYS, work.batch);
        };
        auto fetch_key = [&](int tile) {
            arrival_wait(memory.key_free(key.stage), key.phase ^ 1);
            fetch(memory.key(key.stage), memory.key_there(key.stage), args.heads + work.head, tile);
            key.advance();
        };
        auto fetch_value = [&](int tile) {
            arrival_wait(memory.value_free(value.stage), value.phase ^ 1);
            fetch(memory.value(value.stage), memory.value_there(value.stage),
                  2 * args.heads + work.head, tile);
            value.advance();
        };

        fetch_key(work.tiles - 1);
        arrival_wait(memory.query_free(), free);
        shared_put(memory.index(), index);
        arrival_expect(memory.query_there(), GROUPS * layout::query_bytes);
        for (int group = 0; group < GROUPS; group++)
#pragma unroll
            for (int panel = 0; panel < SIZE / PANEL; panel++)
                tensor_load(memory.query(group) + panel * ROWS * 128, &queries,
                            memory.query_there(), panel * PANEL, work.head,
                            work.first + group * ROWS, work.batch);
        for (int tile = work.tiles - 1; tile >= 0; tile--) {
            if (tile > 0) fetch_key(tile - 1);
            fetch_value(tile);
        }
    }
    arrival_wait(memory.query_free(), free);
    shared_put(memory.index(), index);
    arrival_arrive(memory.query_there()); /* no queries: the work is over */
}

/* ---------------------------------------------------------------- consumers -- */

/* Scores of 64 queries and a tile of keys. */
template <int SIZE>
static __device__ __forceinline__ void online_scores(float (&s)[KEYS / 2], uint32_t query,
                                                     uint32_t key)
{
    uint64_t a = operand(query, 0), b = operand(key, 0);
    pin(s);
    product_fence();
#pragma unroll
    for (int step = 0; step < SIZE / 16; step++) {
        int panel = step * 16 / PANEL, inside = step * 16 % PANEL * 2;
        product_128(s, a + (panel * ROWS * 128 + inside) / 16,
                    b + (panel * KEYS * 128 + inside) / 16, step > 0);
    }
    product_commit();
}

/* Adds the weighted values of a tile. */
template <int COUNT>
static __device__ __forceinline__ void online_weigh(float (&sum)[COUNT], uint32_t (&p)[KEYS / 4],
                                                    uint32_t value)
{
    uint64_t b = operand(value, KEYS * 128);
    pin(sum);
    pin(p);
    product_fence();
#pragma unroll
    for (int step = 0; step < KEYS / 16; step++)
        product_across(sum, p + 4 * step, b + step * 16 * 128 / 16);
    product_commit();
}

/* A thread's two rows: largest score and sum of weights of its own columns. */
struct online_rows {
    float peak[2], total[2];
};

/* Scores to weights against the largest score so far; `keep` is what older weights are
 * multiplied with. */
static __device__ __forceinline__ void online_softmax(float (&s)[KEYS / 2],
                                                      struct online_rows &rows, float (&keep)[2],
                                                      float scale)
{
    /* Columns 0 and 1 of every pair apart: twice as many chains, half as long. */
    float most[2][2] = {{rows.peak[0], rows.peak[0]}, {rows.peak[1], rows.peak[1]}};
    float fresh[2][2] = {}, shift[2];
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++)
        most[i % 4 / 2][i % 2] = fmaxf(most[i % 4 / 2][i % 2], s[i]);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float peak = row_max(fmaxf(most[half][0], most[half][1]));
        keep[half] = attention_exp2((rows.peak[half] - peak) * scale);
        shift[half] = peak * scale;
        rows.peak[half] = peak;
    }
#pragma unroll
    for (int i = 0; i < KEYS / 2; i++) {
        s[i] = attention_exp2(fmaf(s[i], scale, -shift[i % 4 / 2]));
        fresh[i % 4 / 2][i % 2] += s[i];
    }
#pragma unroll
    for (int half = 0; half < 2; half++)
        rows.total[half] = fmaf(rows.total[half], keep[half], fresh[half][0] + fresh[half][1]);
}

/* The accumulators of the first product, in pairs, are the left operand of the second. */
static __device__ __forceinline__ void online_pack(uint32_t (&p)[KEYS / 4],
                                                   const float (&s)[KEYS / 2])
{
#pragma unroll
    for (int i = 0; i < KEYS / 4; i++)
        p[i] = gpt_pack(s[2 * i], s[2 * i + 1]);
}

/* Waits for the product under way, whose sums are then scaled to the latest largest score,
 * and packs the weights for the next. */
template <bool LAZY, int COUNT>
static __device__ __forceinline__ void online_settle(float (&sum)[COUNT], uint32_t (&p)[KEYS / 4],
                                                     float (&s)[KEYS / 2], const float (&keep)[2])
{
    pin(s);
    product_wait<0>();
    pin(sum);
    pin(p);
    if (!LAZY || __any_sync(0xffffffffu, keep[0] != 1.0f || keep[1] != 1.0f))
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            sum[i] *= keep[i % 4 / 2];
    online_pack(p, s);
    pin(sum);
    pin(p);
}

template <int SIZE, int GROUPS, int STAGES, bool TURNS, bool LAZY>
static __device__ __forceinline__ void online_consume(
    const online_memory<SIZE, GROUPS, STAGES> memory, const struct attention &args,
    const struct attention_order &order, float scale, int group)
{
    typedef online_layout<SIZE, GROUPS, STAGES> layout;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    bool speaker = lane == 0;
    online_ring<STAGES> ring = {0, 0}; /* of the values; keys are one tile ahead */
    int last = 0;                      /* stage of the values that the product under way reads */
    if (TURNS && group == 1) turn_pass(1, 2 * GROUP_THREADS);

    for (int there = 0;; there ^= 1) {
        arrival_wait(memory.query_there(), there);
        int index = __shfl_sync(0xffffffffu, shared_get(memory.index()), 0);
        if (index >= order.works) break;
        struct online_work work = online_work_at(args, order, index);
        int own = work.first + group * ROWS, top = min(own / KEYS, work.tiles - 1);
        int row = own + warp * 16 + lane / 4;
        float s[KEYS / 2], sum[SIZE / 2], keep[2];
        uint32_t p[KEYS / 4] = {};
        struct online_rows rows = {{-INFINITY, -INFINITY}, {0.0f, 0.0f}};
#pragma unroll
        for (int i = 0; i < SIZE / 2; i++)
            sum[i] = 0.0f;

        for (int tile = work.tiles - 1; tile > top; tile--) { /* for other warpgroups */
            arrival_wait(memory.key_there(ring.stage), ring.phase);
            arrival_wait(memory.value_there(ring.stage), ring.phase);
            if (speaker) arrival_arrive(memory.key_free(ring.stage));
            if (speaker) arrival_arrive(memory.value_free(ring.stage));
            ring.advance();
        }

        arrival_wait(memory.key_there(ring.stage), ring.phase);
        if (TURNS) turn_wait(1 + group, 2 * GROUP_THREADS);
        online_scores<SIZE>(s, memory.query(group), memory.key(ring.stage));
        if (TURNS) turn_pass(2 - group, 2 * GROUP_THREADS);
        product_wait<0>();
        pin(s);
        if (speaker) arrival_arrive(memory.key_free(ring.stage));
#pragma unroll
        for (int i = 0; i < KEYS / 2; i++)
            if (top * KEYS + i / 4 * 8 + lane % 4 * 2 + i % 2 > row + i % 4 / 2 * 8)
                s[i] = -INFINITY;
        online_softmax(s, rows, keep, scale);

        /* The wait for the older product stands at the head of the loop: within the body
         * the assembler would move it up before the exponentials. */
        for (int tile = top; tile > 0; tile--) {
            online_ring<STAGES> next = ring;
            next.advance();
            online_settle<LAZY>(sum, p, s, keep);
            if (speaker && tile < top) arrival_arrive(memory.value_free(last));
            arrival_wait(memory.key_there(next.stage), next.phase);
            if (TURNS) turn_wait(1 + group, 2 * GROUP_THREADS);
            online_scores<SIZE>(s, memory.query(group), memory.key(next.stage));
            arrival_wait(memory.value_there(ring.stage), ring.phase);
            online_weigh(sum, p, memory.value(ring.stage));
            if (TURNS) turn_pass(2 - group, 2 * GROUP_THREADS);
            product_wait<1>();
            pin(s);
            if (speaker) arrival_arrive(memory.key_free(next.stage));
            online_softmax(s, rows, keep, scale);
            last = ring.stage;
            ring = next;
        }

        if (speaker) arrival_arrive(memory.query_free());
        online_settle<LAZY>(sum, p, s, keep);
        if (speaker && top > 0) arrival_arrive(memory.value_free(last));
        arrival_wait(memory.value_there(ring.stage), ring.phase);
        online_weigh(sum, p, memory.value(ring.stage));
        product_wait<0>();
        pin(sum);
        if (speaker) arrival_arrive(memory.value_free(ring.stage));
        ring.advance();

        uint16_t *y = (uint16_t *)args.y + (int64_t)work.batch * args.tokens * args.stride_y +
                      work.head * SIZE + lane % 4 * 8;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float inverse = 1.0f / row_sum(rows.total[half]);
            bool valid = row + 8 * half < args.tokens;
            uint16_t *to = y + (row + 8 * half) * args.stride_y;
#pragma unroll
            for (int i = 2 * half; i < SIZE / 2; i += 16) {
                uint32_t word[4];
#pragma unroll
                for (int j = 0; j < 4; j++)
                    word[j] = gpt_pack(sum[i + 4 * j] * inverse, sum[i + 4 * j + 1] * inverse);
                row_transpose(word, lane);
                if (valid)
                    *(uint4 *)(to + i / 16 * 32) = make_uint4(word[0], word[1], word[2], word[3]);
            }
        }
    }
    if (TURNS && group == 0) turn_wait(1, 2 * GROUP_THREADS); /* the turn passed last */
}

#endif

/* ------------------------------------------------------------------- kernel -- */

/* setup refuses where there is no machine code for sm_90a, so the trap is never met. */
template <int SIZE, int GROUPS, int STAGES, bool TURNS, bool LAZY>
static __global__ void __launch_bounds__(GROUP_THREADS *(GROUPS + 1), 1)
    online(const __grid_constant__ CUtensorMap queries, const __grid_constant__ CUtensorMap tiles,
           const __grid_constant__ struct attention args,
           const __grid_constant__ struct attention_order order, int *taken, float scale)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    typedef online_layout<SIZE, GROUPS, STAGES> layout;
    extern __shared__ unsigned char attention_memory[];
    uint32_t start = (uint32_t)__cvta_generic_to_shared(attention_memory);
    online_memory<SIZE, GROUPS, STAGES> memory = {(start + layout::slack - 1) / layout::slack *
                                                  layout::slack};
    if (threadIdx.x == 0) {
        tensor_prefetch(&queries);
        tensor_prefetch(&tiles);
        arrival_init(memory.query_there(), 1);
        arrival_init(memory.query_free(), 4 * GROUPS);
        for (int stage = 0; stage < STAGES; stage++) {
            arrival_init(memory.key_there(stage), 1);
            arrival_init(memory.key_free(stage), 4 * GROUPS);
            arrival_init(memory.value_there(stage), 1);
            arrival_init(memory.value_free(stage), 4 * GROUPS);
        }
        arrival_init_fence();
    }
    __syncthreads();
    int group = __shfl_sync(0xffffffffu, threadIdx.x / GROUP_THREADS, 0);
    if (group == GROUPS) {
        group_shrink<GROUPS == 2 ? 24 : 32>();
        if (threadIdx.x % GROUP_THREADS == 0)
            online_produce<SIZE, GROUPS, STAGES>(memory, queries, tiles, args, order, taken);
    } else {
        group_grow<GROUPS == 2 ? 240 : 160>();
        online_consume<SIZE, GROUPS, STAGES, TURNS, LAZY>(memory, args, order, scale, group);
    }
#else
    __trap();
#endif
}

/* ---------------------------------------------------------------- host side -- */

typedef void online_kernel(const CUtensorMap queries, const CUtensorMap tiles,
                           const struct attention args, const struct attention_order order,
                           int *taken, float scale);

struct choice {
    online_kernel *kernel;
    int threads, queries, bytes;
};

#define CHOICE(size, groups, stages, turns, lazy)                                                  \
    {                                                                                              \
        online<size, groups, stages, turns, lazy>, online_layout<size, groups, stages>::threads,   \
            online_layout<size, groups, stages>::queries,                                          \
            online_layout<size, groups, stages>::bytes                                             \
    }

static const struct choice size_64 = CHOICE(64, 3, 4, false, true);
static const struct choice size_128 = CHOICE(128, 2, 2, true, true);

/* The entry point of cuTensorMapEncodeTiled, which is in the driver. */
typedef PFN_cuTensorMapEncodeTiled_v12000 tensor_encode;

static int load_encode(tensor_encode *encode)
{
    cudaDriverEntryPointQueryResult found;
    void *entry = NULL;
    if (assay_cuda(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000,
                                                    cudaEnableDefault, &found),
                   "cudaGetDriverEntryPointByVersion"))
        return -1;
    if (found != cudaDriverEntryPointSuccess || !entry)
        return assay_error("the driver has no cuTensorMapEncodeTiled");
    *encode = (tensor_encode)entry;
    return 0;
}

/* Boxes of `rows` tokens of one panel of a head: (number, head of q then k then v, token,
 * sequence). */
static int map_init(CUtensorMap *map, tensor_encode encode, const struct attention *args, int rows)
{
    cuuint64_t extents[] = {(cuuint64_t)args->size, 3 * (cuuint64_t)args->heads,
                            (cuuint64_t)args->tokens, (cuuint64_t)args->batch};
    cuuint64_t token = 2 * (cuuint64_t)args->stride;
    cuuint64_t strides[] = {2 * (cuuint64_t)args->size, token, token * (cuuint64_t)args->tokens};
    cuuint32_t box[] = {PANEL, 1, (cuuint32_t)rows, 1}, steps[] = {1, 1, 1, 1};
    CUresult error =
        encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 4, (void *)args->qkv, extents, strides, box,
               steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (error != CUDA_SUCCESS) return assay_error("cuTensorMapEncodeTiled: error %d", (int)error);
    return 0;
}

struct plan {
    struct choice choice;
    struct attention_order order;
    tensor_encode encode;
    int *taken; /* on the device: works taken beside the first ones; 0 between launches */
    int grid;
};

static const char *supports(const struct assay_shape *shape)
{
    if (shape->value[ATTENTION_PRECISION] != GPT_BF16) return "bf16 only";
    int64_t size = shape->value[ATTENTION_HEAD_SIZE];
    return size == 64 || size == 128 ? NULL : "made for head sizes 64 and 128";
}

static int prepare(struct plan *plan, const struct attention *args)
{
    plan->choice = args->size == 64 ? size_64 : size_128;
    plan->order = attention_order_of(args->batch * args->heads, args->tokens, 4 * args->size,
                                     plan->choice.queries);
    cudaFuncAttributes attributes;
    if (assay_cuda(cudaFuncGetAttributes(&attributes, plan->choice.kernel),
                   "cudaFuncGetAttributes"))
        return -1;
    if (attributes.ptxVersion != 90 || attributes.binaryVersion != 90)
        return assay_error("runs machine code for sm_90a alone, which is not here");
    if (assay_cuda(cudaFuncSetAttribute(plan->choice.kernel,
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        plan->choice.bytes),
                   "cudaFuncSetAttribute"))
        return -1;
    int device, processors;
    if (assay_cuda(cudaGetDevice(&device), "cudaGetDevice")) return -1;
    if (assay_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
                   "cudaDeviceGetAttribute"))
        return -1;
    plan->grid = plan->order.works < processors ? plan->order.works : processors;
    return load_encode(&plan->encode);
}

static int setup(struct assay_call *call)
{
    struct attention args = attention_args(call);
    struct plan *plan = (struct plan *)calloc(1, sizeof *plan);
    if (!plan) return assay_error("out of memory");
    call->state = plan;
    if (prepare(plan, &args)) return -1;
    call->workspace_bytes += sizeof *plan->taken;
    if (assay_cuda(cudaMalloc((void **)&plan->taken, sizeof *plan->taken), "cudaMalloc")) return -1;
    return assay_cuda(cudaMemset(plan->taken, 0, sizeof *plan->taken), "cudaMemset");
}

static int launch(struct assay_call *call)
{
    const struct plan *plan = (const struct plan *)call->state;
    struct attention args = attention_args(call);
    float scale = 1.4426950408889634f / sqrtf((float)args.size);
    CUtensorMap queries, tiles;
    if (map_init(&queries, plan->encode, &args, ROWS)) return -1;
    if (map_init(&tiles, plan->encode, &args, KEYS)) return -1;
    plan->choice.kernel<<<plan->grid, plan->choice.threads, plan->choice.bytes,
                          (cudaStream_t)call->stream>>>(queries, tiles, args, plan->order,
                                                        plan->taken, scale);
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct plan *plan = (struct plan *)call->state;
    if (plan) (void)cudaFree(plan->taken);
    free(plan);
}

static const struct assay_variant variant = {
    .operation = "attention",
    .name = "online_wgmma",
    .summary = "one kernel on Hopper's tensor cores, tiles by the tensor copy engine",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_DEVICE,
    .min_sm = 90,
    .supports = supports,
    .setup = setup,
    .launch = launch,
    .teardown = teardown,
};
ASSAY_REGISTER_VARIANT(variant);
