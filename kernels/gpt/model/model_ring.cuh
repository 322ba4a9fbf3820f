/*
 * model_ring.cuh - y = residual + act(norm(x) w^T + bias) in fp32 on CUDA cores, for products that
 * give each multiprocessor about one block: the layers of a model of 64 to 768 channels at 1024
 * rows. Hopper alone.
 *
 * Operations: 2 m n k. Bytes: 4 k (ROWS + COLUMNS) per tile, from L2: for 1024 x 256 x 1024, 3.3
 * TB/s, half of what L2 gives.
 *
 * Multiplying. A block has one tile, and eight warps that multiply, two per scheduler. Each lane
 * has up to 8 x 12 outputs, so a step of four of k is 384 multiply-adds for 20 reads of shared
 * memory. Where a tile is too small for eight such warps, each warp takes a slice of k. Their sums
 * are added in shared memory: every thread adds, finishes and stores four neighbouring outputs at
 * a time.
 *
 * Fetching. A ninth warp keeps a ring of stages full by TMA (warp specialization): boxes of 32 of
 * k, swizzled by 128 bytes so that no two of eight rows use the same bank, with zeros outside the
 * matrix. No thread spends time or registers on addresses. Warps wait for a stage and release it
 * by mbarriers, without a barrier for the whole block, so one warp reads while another multiplies.
 * w does not depend on the kernel before, so its first stages are fetched while the block still
 * waits for x (dependent_launch.cuh). Rows that are to be normalised are fetched whole, and
 * normalised in place (model_ring_norm.cuh).
 *
 * docs/kernels-gpt.md has the times, and what limits the loop.
 */
#pragma once

#include "kernels/cuda/hopper.cuh"
#include "kernels/cuda/dependent_launch.cuh"
#include "model_ring_norm.cuh"

enum {
    RING_THREADS = RING_LANES + 32, /* a warp more, to fill the ring */
    RING_SHARED_MAX = 226 << 10,
    RING_READ = 1 /* the barrier of those that multiply */
};

struct ring_args {
    CUtensorMap x, w;
    const float *bias, *scale, *shift, *residual;
    float *y;
    int64_t ldr, ldy;
    int m, n, k;
    int gelu; /* no bytes without a value: a gate compares arguments whole */
};

/* The configuration of a tile: warps down and across, while the remaining warps take slices of k;
 * and of the ring: boxes of k per stage, stages. */
template <int ROWS_, int COLUMNS_, int WARPS_M_, int WARPS_N_, int BOXES_, int STAGES_>
struct ring_config {
    static const int ROWS = ROWS_, COLUMNS = COLUMNS_, WARPS_N = WARPS_N_, BOXES = BOXES_,
                     STAGES = STAGES_, WARPS = WARPS_M_ * WARPS_N_, SLICES = RING_WARPS / WARPS,
                     WM = ROWS / WARPS_M_, WN = COLUMNS / WARPS_N;
    /* Outputs of a lane, down and across; steps of four of k that a warp has in a stage. */
    static const int DOWN = WM / 4, ACROSS = WN / 8, UNITS = RING_UNITS / SLICES,
                     STEPS = UNITS * BOXES;
    /* Floats from row to row of sums: the rows of four lanes begin in different banks. */
    static const int PITCH = COLUMNS + (COLUMNS / 8 % 2 ? 0 : 8), PLANE = ROWS * PITCH;
    /* A thread finishes four neighbouring columns of every so many rows. */
    static const int QUADS = COLUMNS / 4, APART = RING_LANES / QUADS;
    static const int W_BYTES = BOXES * COLUMNS * RING_ROW_BYTES,
                     X_BYTES = BOXES * ROWS * RING_ROW_BYTES;
    /* Where stages of x, or its whole rows with scale and shift, begin: behind those of w. */
    static const int X_AT = STAGES * W_BYTES;
    /* Nine warps leave a thread 168 registers: are they enough for the operands of two steps? */
    static const bool AHEAD = DOWN * ACROSS + 8 * (DOWN + ACROSS) <= 128;
    static_assert(WM % 8 == 0 && WN % 8 == 0 && SLICES * WARPS == RING_WARPS &&
                  UNITS * SLICES == RING_UNITS && STEPS % 2 == 0);
};

/* Stages of all of k. */
template <class CONFIG> static __host__ __device__ __forceinline__ int ring_stages(int k)
{
    return (k + CONFIG::BOXES * RING_BOX - 1) / (CONFIG::BOXES * RING_BOX);
}

/* --------------------------------------------------------------- products -- */

/* A lane's operands for four of k: rows four apart, columns eight apart. */
template <class CONFIG> struct ring_operands {
    float4 x[CONFIG::DOWN], w[CONFIG::ACROSS];

    /* Offsets in shared memory of the lane's first row and column, the unit swizzled in; four rows
     * on the swizzle has turned halfway. */
    __device__ __forceinline__ void load(const unsigned char *memory, int x_at, int w_at)
    {
        int odd = x_at ^ 4 * 16;
#pragma unroll
        for (int i = 0; i < CONFIG::DOWN; i++)
            x[i] = *(const float4 *)(memory + (i % 2 ? odd : x_at) + 4 * i * RING_ROW_BYTES);
#pragma unroll
        for (int j = 0; j < CONFIG::ACROSS; j++)
            w[j] = *(const float4 *)(memory + w_at + 8 * j * RING_ROW_BYTES);
    }
};

template <class CONFIG> struct ring_sums {
    float sum[CONFIG::DOWN][CONFIG::ACROSS] = {};

    /* Add the products of one of the four of k. */
    template <float float4::*PART>
    __device__ __forceinline__ void add_part(const ring_operands<CONFIG> &of)
    {
#pragma unroll
        for (int j = 0; j < CONFIG::ACROSS; j++)
#pragma unroll
            for (int i = 0; i < CONFIG::DOWN; i++)
                sum[i][j] = fmaf(of.x[i].*PART, of.w[j].*PART, sum[i][j]);
    }

    __device__ __forceinline__ void add(const ring_operands<CONFIG> &of)
    {
        add_part<&float4::x>(of);
        add_part<&float4::y>(of);
        add_part<&float4::z>(of);
        add_part<&float4::w>(of);
    }
};

/* ------------------------------------------------------------------- ring -- */

/* A stage is full when TMA has filled it, and empty when every warp has read it. */
template <class CONFIG> struct ring_barriers {
    uint64_t full[CONFIG::STAGES], empty[CONFIG::STAGES], rows;
};

/* The copies that one thread asks TMA for. */
template <class CONFIG, bool NORM> struct ring_loader {
    const struct ring_args &args;
    uint32_t memory, full, empty, rows;

    /* The same for the lane that asks; warps that multiply have no registers to keep them in. */
    __device__ __forceinline__ ring_loader kept(void) const
    {
        return {args, hopper_kept(memory), hopper_kept(full), hopper_kept(empty), rows};
    }

    __device__ __forceinline__ void init(void) const
    {
        for (int i = 0; i < CONFIG::STAGES; i++) {
            hopper_barrier_init(full + 8 * i, 1);
            hopper_barrier_init(empty + 8 * i, RING_WARPS);
        }
        hopper_barrier_init(rows, 1);
        hopper_barrier_publish();
    }

    __device__ __forceinline__ void load_w(int stage) const
    {
        int slot = stage % CONFIG::STAGES;
        hopper_barrier_expect(full + 8 * slot, CONFIG::W_BYTES + (NORM ? 0 : CONFIG::X_BYTES));
#pragma unroll
        for (int i = 0; i < CONFIG::BOXES; i++)
            hopper_load(memory + slot * CONFIG::W_BYTES + i * CONFIG::COLUMNS * RING_ROW_BYTES,
                        &args.w, (stage * CONFIG::BOXES + i) * RING_BOX,
                        blockIdx.y * CONFIG::COLUMNS, full + 8 * slot);
    }

    /* The same for x, which lands in slot `slot` behind the stages of w. */
    __device__ __forceinline__ void load_x(int stage, int slot, uint32_t barrier) const
    {
#pragma unroll
        for (int i = 0; i < CONFIG::BOXES; i++)
            hopper_load(memory + CONFIG::X_AT + slot * CONFIG::X_BYTES +
                            i * CONFIG::ROWS * RING_ROW_BYTES,
                        &args.x, (stage * CONFIG::BOXES + i) * RING_BOX, blockIdx.x * CONFIG::ROWS,
                        barrier);
    }

    /* Everything but the first stages of w. */
    __device__ __forceinline__ void run(int stages) const
    {
        if (NORM) hopper_barrier_expect(rows, stages * CONFIG::X_BYTES);
        for (int stage = 0; stage < (NORM ? stages : min(stages, CONFIG::STAGES)); stage++)
            load_x(stage, stage, NORM ? rows : full + 8 * stage);
        for (int stage = CONFIG::STAGES; stage < stages; stage++) {
            int slot = stage % CONFIG::STAGES;
            hopper_barrier_wait(empty + 8 * slot, (stage / CONFIG::STAGES - 1) % 2);
            load_w(stage);
            if (!NORM) load_x(stage, slot, full + 8 * slot);
        }
    }
};

/* Compute the warp's sums over its slice of k, and leave them in shared memory where the ring was.
 */
template <class CONFIG, bool NORM>
static __device__ __forceinline__ void ring_multiply(const ring_loader<CONFIG, NORM> &loader,
                                                     int stages, unsigned char *memory)
{
    int warp = threadIdx.x / 32 % CONFIG::WARPS, slice = threadIdx.x / 32 / CONFIG::WARPS;
    int lane = threadIdx.x % 32, a = lane / 8, b = lane % 8;
    int row = warp / CONFIG::WARPS_N * CONFIG::WM, column = warp % CONFIG::WARPS_N * CONFIG::WN;
    int x_first = CONFIG::X_AT + (row + a) * RING_ROW_BYTES + 16 * (slice * CONFIG::UNITS ^ a);
    int w_first = (column + b) * RING_ROW_BYTES + 16 * (slice * CONFIG::UNITS ^ b);
    ring_sums<CONFIG> sums;
    ring_operands<CONFIG> operands[2];
    /* The unit of a step follows by an exclusive or, since the first unit of a slice is a
     * multiple of their number. */
    auto load = [&](ring_operands<CONFIG> &of, int stage, int step) {
        int slot = stage % CONFIG::STAGES, box = step / CONFIG::UNITS, unit = step % CONFIG::UNITS;
        of.load(memory,
                (x_first + (NORM ? stage : slot) * CONFIG::X_BYTES +
                 box * CONFIG::ROWS * RING_ROW_BYTES) ^
                    16 * unit,
                (w_first + slot * CONFIG::W_BYTES + box * CONFIG::COLUMNS * RING_ROW_BYTES) ^
                    16 * unit);
    };
    auto wait = [&](int stage) {
        hopper_barrier_wait(loader.full + 8 * (stage % CONFIG::STAGES), stage / CONFIG::STAGES % 2);
    };
    if (CONFIG::AHEAD) wait(0), load(operands[0], 0, 0);
    for (int stage = 0; stage < stages; stage++) {
        if (!CONFIG::AHEAD) wait(stage);
#pragma unroll
        for (int step = 0; step < CONFIG::STEPS; step++) {
            bool last = step == CONFIG::STEPS - 1;
            int ahead = last ? min(stage + 1, stages - 1) : stage; /* the last is not used */
            if (!CONFIG::AHEAD) load(operands[step % 2], stage, step);
            if (CONFIG::AHEAD && last) wait(ahead);
            if (CONFIG::AHEAD) load(operands[(step + 1) % 2], ahead, (step + 1) % CONFIG::STEPS);
            sums.add(operands[step % 2]);
        }
        __syncwarp();
        if (lane == 0) hopper_barrier_arrive(loader.empty + 8 * (stage % CONFIG::STAGES));
    }
    hopper_turn_wait(RING_READ, RING_LANES);
    float *own = (float *)memory + slice * CONFIG::PLANE + (row + a) * CONFIG::PITCH + column + b;
#pragma unroll
    for (int i = 0; i < CONFIG::DOWN; i++)
#pragma unroll
        for (int j = 0; j < CONFIG::ACROSS; j++)
            own[4 * i * CONFIG::PITCH + 8 * j] = sums.sum[i][j];
}

/* ----------------------------------------------------------------- finish -- */

static __device__ __forceinline__ float4 ring_add(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* A thread's outputs: four columns, and rows APART from the first. */
template <class CONFIG> struct ring_outputs {
    static const int COUNT = (CONFIG::ROWS + CONFIG::APART - 1) / CONFIG::APART;
    static const bool AHEAD = COUNT <= 2; /* residuals fit in registers until they are needed */
    int row, column, count;               /* in the tile; how many rows are in y */
    float4 bias, residual[COUNT];

    __device__ __forceinline__ explicit ring_outputs(const struct ring_args &args)
    {
        row = threadIdx.x / CONFIG::QUADS, column = threadIdx.x % CONFIG::QUADS * 4;
        int rows = min(args.m - (int)blockIdx.x * CONFIG::ROWS, CONFIG::ROWS);
        bool inside = row < CONFIG::APART && (int)blockIdx.y * CONFIG::COLUMNS + column < args.n;
        count = inside ? max(rows - row + CONFIG::APART - 1, 0) / CONFIG::APART : 0;
        bias = args.bias && count > 0
                   ? __ldg((const float4 *)(args.bias + blockIdx.y * CONFIG::COLUMNS + column))
                   : make_float4(0, 0, 0, 0);
    }

    __device__ __forceinline__ int64_t at(int64_t ld, int i) const
    {
        return (blockIdx.x * (int64_t)CONFIG::ROWS + row + i * CONFIG::APART) * ld +
               blockIdx.y * CONFIG::COLUMNS + column;
    }

    __device__ __forceinline__ void fetch(const struct ring_args &args, int i)
    {
        residual[i] = args.residual && i < count
                          ? *(const float4 *)(args.residual + at(args.ldr, i))
                          : make_float4(0, 0, 0, 0);
    }

    __device__ __forceinline__ void fetch_ahead(const struct ring_args &args)
    {
#pragma unroll
        for (int i = 0; AHEAD && i < COUNT; i++)
            fetch(args, i);
    }

    __device__ __forceinline__ void finish(const struct ring_args &args, const float *sums)
    {
        const float *from = sums + row * CONFIG::PITCH + column;
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            if (!AHEAD) fetch(args, i);
            if (i >= count) break;
            float4 v = bias;
#pragma unroll
            for (int slice = 0; slice < CONFIG::SLICES; slice++)
                v = ring_add(v, *(const float4 *)(from + slice * CONFIG::PLANE +
                                                  i * CONFIG::APART * CONFIG::PITCH));
            if (args.gelu)
                v = make_float4(gpt_gelu_fast(v.x), gpt_gelu_fast(v.y), gpt_gelu_fast(v.z),
                                gpt_gelu_fast(v.w));
            *(float4 *)(args.y + at(args.ldy, i)) = ring_add(v, residual[i]);
        }
    }
};

/* ----------------------------------------------------------------- kernel -- */

/* model_ring_refused excludes devices for which there is no body, so the trap is never reached. */
template <class CONFIG, bool NORM>
static __global__ void __launch_bounds__(RING_THREADS, 1)
    ring_kernel(const __grid_constant__ struct ring_args args)
{
#ifdef HOPPER_CODE
    extern __shared__ unsigned char ring_shared[];
    __shared__ ring_barriers<CONFIG> barriers;
    unsigned char *memory =
        ring_shared + (-hopper_shared(ring_shared) & (uint32_t)(RING_ALIGN - 1));
    const ring_loader<CONFIG, NORM> loader = {
        args, hopper_shared(memory), hopper_shared(barriers.full), hopper_shared(barriers.empty),
        hopper_shared(&barriers.rows)};
    const int stages = ring_stages<CONFIG>(args.k);
    const bool loads = hopper_warp() == RING_WARPS;
    float *scale = (float *)(memory + CONFIG::X_AT + stages * CONFIG::X_BYTES),
          *shift = scale + args.k;
    if (loads && hopper_elect()) {
        loader.init();
        for (int stage = 0; stage < min(stages, CONFIG::STAGES); stage++)
            loader.load_w(stage);
    }
    dependent_release();
    for (int i = threadIdx.x; NORM && i < args.k; i += RING_THREADS) {
        scale[i] = __ldg(args.scale + i);
        shift[i] = __ldg(args.shift + i);
    }
    ring_outputs<CONFIG> outputs(args);
    __syncthreads(); /* the barriers are there */
    dependent_wait();
    if (loads && hopper_elect()) loader.kept().run(stages);
    if (threadIdx.x >= RING_LANES) return;
    outputs.fetch_ahead(args);
    if constexpr (NORM) {
        hopper_barrier_wait(loader.rows, 0);
        ring_normalise<CONFIG::ROWS>(memory + CONFIG::X_AT, args.k, scale, shift);
        hopper_turn_wait(RING_READ, RING_LANES);
    }
    ring_multiply<CONFIG, NORM>(loader, stages, memory);
    hopper_turn_wait(RING_READ, RING_LANES);
    outputs.finish(args, (const float *)memory);
#else
    __trap();
#endif
}

/* ----------------------------------------------------------------- table -- */

typedef void ring_function(const struct ring_args args);

struct ring {
    const char *name;
    int rows, columns;
    int boxes, stages, planes;   /* of k per stage, stages, bytes of sums */
    ring_function *plain, *norm; /* norm: NULL where there is none */
};

template <class CONFIG, bool NORM> static constexpr struct ring ring_of(const char *name)
{
    const int planes = CONFIG::SLICES * CONFIG::PLANE * (int)sizeof(float);
    struct ring ring = {name, CONFIG::ROWS, CONFIG::COLUMNS, CONFIG::BOXES, CONFIG::STAGES, planes,
                        NULL, NULL};
    ring.plain = ring_kernel<CONFIG, false>;
    if constexpr (NORM) ring.norm = ring_kernel<CONFIG, true>;
    return ring;
}

/* In model_ring.cu. */
extern const struct ring rings[];
extern const int rings_count;
