/*
 * fused_lanes.cu - d lanes per block, one entry each. Where the formula combines the entries of a
 * block, lanes exchange values by shuffles: butterflies for sums, parities and the worst
 * coordinate, a suffix scan for the basis.
 *
 * Bytes per entry: those of the operation, and all loads are coalesced. It is slow because every
 * lane of a block repeats what the block needs once, and because a shuffle costs as much as a load
 * from shared memory: encoding at E8 q4m2 takes 52 of them per entry.
 */
#include "lattice.cuh"

static const unsigned ALL = 0xffffffffu;

/* Over the D lanes of a block, which are aligned to D. */
template <int D> static __device__ __forceinline__ uint32_t lanes_max(uint32_t value)
{
#pragma unroll
    for (int step = 1; step < D; step *= 2)
        value = max(value, __shfl_xor_sync(ALL, value, step));
    return value;
}

template <int D> static __device__ __forceinline__ uint32_t lanes_min(uint32_t value)
{
#pragma unroll
    for (int step = 1; step < D; step *= 2)
        value = min(value, __shfl_xor_sync(ALL, value, step));
    return value;
}

template <int D> static __device__ __forceinline__ int lanes_sum(int value)
{
#pragma unroll
    for (int step = 1; step < D; step *= 2)
        value += __shfl_xor_sync(ALL, value, step);
    return value;
}

/* In the order of lattice_sum8: a butterfly adds pairs, then pairs of pairs. */
template <int D> static __device__ __forceinline__ float lanes_sum(float value)
{
#pragma unroll
    for (int step = 1; step < D; step *= 2)
        value = __fadd_rn(value, __shfl_xor_sync(ALL, value, step));
    return value;
}

template <int D> static __device__ __forceinline__ uint64_t lanes_or(uint64_t value)
{
#pragma unroll
    for (int step = 1; step < D; step *= 2)
        value |= __shfl_xor_sync(ALL, value, step);
    return value;
}

template <int D> static __device__ __forceinline__ int lanes_odd(int t, int coset)
{
    return lanes_sum<D>((t + 1 - coset) >> 1) & 1;
}

/* lattice_round for the coordinate of this lane. */
static __device__ __forceinline__ int lanes_round(int t, int coset, bool flip)
{
    int up = (t ^ coset) & 1;
    return t + up + (flip ? 2 - 4 * up : 0);
}

/* lattice_closest: this lane's coordinate. */
template <int LATTICE> static __device__ __forceinline__ int lanes_closest(float v, int lane)
{
    constexpr int D = lattice_d(LATTICE);
    int t = lattice_floor2(v), coset = 0, place = -1;
    float rest = lattice_rest(v);
    uint32_t key = lattice_key(rest, lane);
    if (LATTICE == LATTICE_A2) {
        float other = __shfl_xor_sync(ALL, rest, 1);
        coset = lane ? lattice_a2_coset(other, rest) : lattice_a2_coset(rest, other);
    }
    if (LATTICE == LATTICE_D4) {
        uint32_t most = lanes_max<D>(key);
        if (lanes_odd<D>(t, 0)) place = lattice_key_place(most);
    }
    if (LATTICE == LATTICE_E8) {
        int odd0 = lanes_odd<D>(t, 0), odd1 = lanes_odd<D>(t, 1);
        uint32_t most = lanes_max<D>(key), least = lanes_min<D>(key);
        coset = lattice_e8_coset(lanes_sum<D>(fabsf(rest)), most, least, odd0, odd1);
        if (coset ? odd1 : odd0) place = lattice_key_place(coset ? least : most);
    }
    return lanes_round(t, coset, lane == place);
}

/* lattice_closest_quotient: this lane's coordinate. */
template <int LATTICE, int Q>
static __device__ __forceinline__ int lanes_quotient(int z, int dither, int lane)
{
    constexpr int D = lattice_d(LATTICE), UNIT = 2 * Q << LATTICE_UNIT_BITS;
    int t = lattice_floor_div(z - (dither < 0), Q), coset = 0, place = -1;
    int left = z - 2 * Q * ((t + 1) >> 1);
    int rest = abs(left * (1 << LATTICE_UNIT_BITS) + 2 * Q * dither);
    uint32_t key = (uint32_t)(rest * 8 + (7 - lane));
    if (LATTICE == LATTICE_A2) {
        int other = __shfl_xor_sync(ALL, rest, 1);
        coset = (lane ? other + 3 * rest : rest + 3 * other) > UNIT;
    }
    if (LATTICE == LATTICE_D4) {
        uint32_t most = lanes_max<D>(key);
        if (lanes_odd<D>(t, 0)) place = lattice_key_place(most);
    }
    if (LATTICE == LATTICE_E8) {
        int odd0 = lanes_odd<D>(t, 0), odd1 = lanes_odd<D>(t, 1);
        int most = (int)lanes_max<D>(key), least = (int)lanes_min<D>(key);
        int diff = lanes_sum<D>(rest) - 2 * UNIT + (odd0 ? UNIT - 2 * (most >> 3) : 0) -
                   (odd1 ? 2 * (least >> 3) : 0);
        coset = diff > 0;
        if (coset ? odd1 : odd0) place = lattice_key_place((uint32_t)(coset ? least : most));
    }
    return lanes_round(t, coset, lane == place);
}

/* lattice_coordinates: this lane's. */
template <int LATTICE> static __device__ __forceinline__ int lanes_coordinate(int z, int lane)
{
    constexpr int D = lattice_d(LATTICE);
    if (LATTICE == LATTICE_Z2) return z >> 1;
    if (LATTICE == LATTICE_A2) {
        int other = __shfl_xor_sync(ALL, z, 1);
        return lane ? z : (z - other) >> 1;
    }
    if (LATTICE == LATTICE_D4) {
        int sum = lanes_sum<D>(z), first = __shfl_sync(ALL, z, 0, D),
            last = __shfl_sync(ALL, z, D - 1, D);
        if (lane == 0) return -(sum >> 2);
        if (lane == 1) return (first >> 1) - (sum >> 2);
        return lane == 2 ? -(last >> 1) - (z >> 1) : -(z >> 1);
    }
    int last = __shfl_sync(ALL, z, D - 1, D), sum = (z - last) >> 1;
#pragma unroll
    for (int step = 1; step < D; step *= 2) {
        int behind = __shfl_down_sync(ALL, sum, step, D);
        sum += lane + step < D ? behind : 0;
    }
    return lane == D - 1 ? z : lane == 0 ? sum >> 1 : sum;
}

/* The dither of this lane: a choice among constants, where an array would be memory. */
template <int LATTICE>
static __device__ __forceinline__ void lanes_dither(int lane, float *dither, int *units)
{
    *dither = 0.0f;
    *units = 0;
#pragma unroll
    for (int i = 0; i < lattice_d(LATTICE); i++) {
        *dither = lane == i ? lattice_dither(LATTICE, i) : *dither;
        *units = lane == i ? lattice_dither_units(LATTICE, i) : *units;
    }
}

/* lattice_point: this lane's coordinate of the point of k. */
template <int LATTICE> static __device__ __forceinline__ int lanes_point(int k, int lane)
{
    constexpr int D = lattice_d(LATTICE);
    if (LATTICE == LATTICE_Z2) return 2 * k;
    int next = __shfl_down_sync(ALL, k, 1, D), last = __shfl_sync(ALL, k, D - 1, D);
    if (LATTICE == LATTICE_A2) return lane ? k : 2 * k + next;
    if (LATTICE == LATTICE_D4) {
        int first = __shfl_sync(ALL, k, 0, D);
        return lane == D - 1 ? -2 * k : 2 * (next - k) - (lane == 1 ? 2 * first : 0);
    }
    if (lane == D - 1) return k;
    return (lane == 0 ? 4 * k : 2 * k) - (lane == D - 2 ? 0 : 2 * next) + last;
}

/* What every lane knows of its place. */
struct lanes {
    int lane, units; /* of the dither */
    float dither;
};

/* Digits of the block whose entry x is this lane's, in all its lanes. */
template <int LATTICE, int Q>
static __device__ __forceinline__ uint64_t lanes_encode(const struct lattice_args &a,
                                                        const struct lanes &at, float x)
{
    /* The definition adds each square by a fused multiply-add to the sum of those before it,
     * so the lanes take turns. */
    constexpr int D = lattice_d(LATTICE);
    float v = fmaf(x, a.r, at.dither), norm = 0.0f;
#pragma unroll
    for (int turn = 0; turn < D; turn++) {
        float theirs = __shfl_sync(ALL, v, turn, D);
        norm = fmaf(theirs, theirs, norm);
    }
    bool sound = norm < LATTICE_LIMIT;
    if (LATTICE == LATTICE_A2 && at.lane == 1) v = lattice_mul(v, 0x1.279a74p-1f);
    int z = lanes_closest<LATTICE>(sound ? v : 0.0f, at.lane);
    uint64_t digits = 0;
    for (int m = 0; m < a.levels; m++) {
        int digit = lattice_mod(lanes_coordinate<LATTICE>(z, at.lane), Q);
        digits |= (uint64_t)digit << (2 * (m * D + at.lane));
        if (m + 1 < a.levels) z = lanes_quotient<LATTICE, Q>(z, at.units, at.lane);
    }
    digits = lanes_or<D>(digits);
    return sound ? digits : 0;
}

/* This lane's doubled coordinate of what digits decode to. */
template <int LATTICE, int Q>
static __device__ __forceinline__ int lanes_decode(const struct lattice_args &a,
                                                   const struct lanes &at, uint64_t digits)
{
    constexpr int D = lattice_d(LATTICE);
    int z = 0, weight = 1;
    for (int m = 0; m < a.levels; m++) {
        int k = (int)(digits >> (2 * (m * D + at.lane)) & 3);
        int point = lanes_point<LATTICE>(k, at.lane);
        z += weight * (point - Q * lanes_quotient<LATTICE, Q>(point, at.units, at.lane));
        weight *= Q;
    }
    return z;
}

/* One lane writes packed codes; of all other types each lane writes its own digits. */
template <int LATTICE, int Q>
static __device__ __forceinline__ void lanes_put(const struct lattice_args &a, int64_t block,
                                                 int lane, uint64_t digits)
{
    constexpr int D = lattice_d(LATTICE);
    if (a.type == TYPE_PACKED) {
        if (lane == 0) lattice_put_digits<LATTICE, Q>(a, block, digits);
        return;
    }
    for (int m = 0; m < a.levels; m++) {
        int64_t at = block * a.block_elements + m * D + lane;
        int digit = (int)(digits >> (2 * (m * D + lane)) & 3);
        if (a.type == TYPE_INT8) ((int8_t *)a.out)[at] = (int8_t)digit;
        if (a.type == TYPE_INT32) ((int32_t *)a.out)[at] = digit;
        if (a.type == TYPE_FP32) ((float *)a.out)[at] = (float)digit;
    }
}

/* The digits that this lane reads: its share of those of the block. */
template <int LATTICE, int Q>
static __device__ __forceinline__ uint64_t lanes_get(const struct lattice_args &a, int64_t block,
                                                     int lane)
{
    constexpr int D = lattice_d(LATTICE);
    if (a.type == TYPE_PACKED) return lattice_get_digits<LATTICE, Q>(a, block);
    uint64_t digits = 0;
    for (int m = 0; m < a.levels; m++) {
        int64_t at = block * a.block_elements + m * D + lane;
        int digit = a.type == TYPE_INT8    ? ((const int8_t *)a.in)[at]
                    : a.type == TYPE_INT32 ? ((const int32_t *)a.in)[at]
                                           : (int)((const float *)a.in)[at];
        digits |= (uint64_t)(digit & 3) << (2 * (m * D + lane));
    }
    return digits;
}

/* All lanes of a warp stay to the end: shuffles need them. */
template <int TASK, int LATTICE, int Q>
static __global__ void __launch_bounds__(LATTICE_THREADS) fused_lanes(const struct lattice_args a)
{
    constexpr int D = lattice_d(LATTICE);
    int64_t i = (int64_t)blockIdx.x * LATTICE_THREADS + threadIdx.x, offset = 0;
    int64_t block = i / D;
    struct lanes at = {(int)(threadIdx.x % D), 0, 0.0f};
    lanes_dither<LATTICE>(at.lane, &at.dither, &at.units);
    bool inside = block < a.count;
    int here = inside ? lattice_span<D>(a, block, &offset) : 0;
    uint64_t digits = 0;
    if (TASK == TASK_DECODE) {
        if (inside) digits = lanes_get<LATTICE, Q>(a, block, at.lane);
        digits = lanes_or<D>(digits);
    } else {
        float x = at.lane < here ? ((const float *)a.in)[offset + at.lane] : 0.0f;
        digits = lanes_encode<LATTICE, Q>(a, at, x);
    }
    if (TASK == TASK_ENCODE) {
        if (inside) lanes_put<LATTICE, Q>(a, block, at.lane, digits);
        return;
    }
    int z = lanes_decode<LATTICE, Q>(a, at, digits);
    if (at.lane >= here) return;
    float half = lattice_half(a.half, TASK == TASK_DECODE ? lattice_get_t(a, block) : 0);
    bool stretched = LATTICE == LATTICE_A2 && at.lane == 1;
    ((float *)a.out)[offset + at.lane] =
        lattice_mul((float)z, stretched ? lattice_mul(half, 0x1.bb67aep0f) : half);
}

struct fused_lanes_launch {
    enum lattice_task task;
    struct lattice_args args;
    cudaStream_t stream;

    template <int LATTICE, int Q> int run() const
    {
        unsigned grid = lattice_grid(args.count * lattice_d(LATTICE), LATTICE_THREADS);
        if (task == TASK_ENCODE)
            fused_lanes<TASK_ENCODE, LATTICE, Q><<<grid, LATTICE_THREADS, 0, stream>>>(args);
        else if (task == TASK_DECODE)
            fused_lanes<TASK_DECODE, LATTICE, Q><<<grid, LATTICE_THREADS, 0, stream>>>(args);
        else
            fused_lanes<TASK_ROUNDTRIP, LATTICE, Q><<<grid, LATTICE_THREADS, 0, stream>>>(args);
        return assay_launched();
    }
};

static const char *supports(const struct assay_shape *shape)
{
    const struct lattice_job job = lattice_job(shape);
    if (job.task == TASK_DECODE || job.overload == OVERLOAD_OFF) return NULL;
    return "encodes without overload protection";
}

static int launch(struct assay_call *call)
{
    const struct lattice_job job = lattice_job(call->shape);
    struct fused_lanes_launch kernel = {job.task, lattice_make_args(call, &job),
                                        (cudaStream_t)call->stream};
    return lattice_instance(&job, kernel);
}

LATTICE_VARIANTS("fused_lanes", "d lanes per block, shuffles between them", .supports = supports,
                 .launch = launch);
