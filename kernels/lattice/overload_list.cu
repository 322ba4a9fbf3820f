/*
 * overload_list.cu - the encoder for every code, element type and overload protection, in two
 * parts. First all blocks are encoded by the fast arithmetic with T = 0, and blocks that may be
 * overloaded are put on a list in shared memory. Then the blocks of the list are encoded by the
 * definition, one thread per block.
 *
 * Bytes per entry: those of the operation. With one T for the tensor x is read twice: once to find
 * T, where a block that surely fits (round_fits) needs no more work.
 *
 * Why a list. A loop that doubles beta until the block fits makes a warp wait for its slowest
 * lane, and one of 32 lanes nearly always has an overloaded block of Z2 or A2 (one block in 15 and
 * in 23 at q4m2), so every warp would compute twice. The list collects these blocks: 7 % of Z2 and
 * 4 % of A2 (exactly the overloaded ones), 3 % of D4 and 0.3 % of E8. In a thread block of 256,
 * the second part then has 68, 44, 15 and 1 blocks to encode, which takes 3, 2, 1 and 1 of its 8
 * warps.
 *
 * From 2^22 entries on, E8 and D4 are encoded by lookup_encode.cu instead, which marks blocks that
 * may be overloaded in T and leaves them to overload_again. That kernel reads T, 1/8 or 1/4 byte
 * per entry.
 *
 * q = 3 and three levels have no faster closest point; they follow the definition here too. Digits
 * that are not packed are written 16 bytes per thread. docs/kernels.md has the times, and which of
 * them were predicted wrongly.
 */
#include "overload_list.cuh"

#include "kernels/cuda/sm_limits.cuh"

/* ------------------------------------------------------------- first try -- */

/* Packed codes of eight entries, every level computed as it is defined. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ uint64_t as_defined(const float x[8], float r)
{
    constexpr int D = lattice_d(LATTICE), Q = code_q(CODE), LEVELS = code_levels(CODE);
    constexpr int BITS = 8 * points_block_bytes(LATTICE, CODE);
    uint64_t word = 0;
#pragma unroll
    for (int b = 0; b < 8 / D; b++) {
        uint64_t digits = lattice_encode_once(LATTICE, Q, LEVELS, x + b * D, r, NULL);
        word |= lattice_pack(Q, D * LEVELS, digits) << (BITS * b);
    }
    return word;
}

/* The same by the fastest way that the code has. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ uint64_t first_codes(const float x[8], float r,
                                                       const uint16_t *carry, uint32_t mask)
{
    constexpr int D = lattice_d(LATTICE), BITS = 8 * points_block_bytes(LATTICE, CODE);
    if constexpr (CODE > CODE_Q4M2) {
        return as_defined<LATTICE, CODE>(x, r);
    } else if constexpr (LATTICE == LATTICE_E8) {
        return CODE == CODE_Q4M2 && !carry ? as_defined<LATTICE, CODE>(x, r)
                                           : fast_encode_e8(CODE, x, r, carry, mask);
    } else if constexpr (LATTICE == LATTICE_D4) {
        return fast_encode_d4(CODE, x, r, carry, mask);
    } else {
        uint64_t word = 0;
#pragma unroll
        for (int b = 0; b < 4; b++)
            word |= (uint64_t)fast_encode(LATTICE, CODE, x + b * D, r, carry) << (BITS * b);
        return word;
    }
}

/* A2, exactly: bit b where what block b's codes decode to (points, by the packed byte) is not
 * the point that they came from, or where it is lost. */
static __device__ __forceinline__ uint32_t does_not_fit(const float x[8], float r, uint64_t word,
                                                        const uint16_t *points)
{
    uint32_t again = 0;
#pragma unroll
    for (int b = 0; b < 4; b++) {
        float v[2];
        int z[2];
        bool sound = lattice_scale(LATTICE_A2, x + 2 * b, r, v);
        lattice_closest(LATTICE_A2, v, z);
        uint32_t both = points[word >> (8 * b) & 255];
        bool fits = z[0] == (int8_t)both && z[1] == (int8_t)(both >> 8);
        again |= sound && fits ? 0 : 1u << b;
    }
    return again;
}

/* Four digits of two bits, a byte each. */
static __device__ __forceinline__ uint32_t four_bytes(uint32_t digits)
{
    uint32_t pairs = (digits & 15) | (digits & 0xf0) << 12;
    return (pairs | pairs << 6) & 0x03030303u;
}

/* Four digits of two bits, a word each. */
static __device__ __forceinline__ uint4 four_words(uint32_t digits, bool real)
{
    uint32_t a = digits & 3, b = digits >> 2 & 3, c = digits >> 4 & 3, d = digits >> 6 & 3;
    if (!real) return make_uint4(a, b, c, d);
    return make_uint4(__float_as_uint((float)a), __float_as_uint((float)b),
                      __float_as_uint((float)c), __float_as_uint((float)d));
}

/* The packed codes of a group, as the type of the codes. */
template <int LATTICE, int CODE>
static __device__ __forceinline__ void put_group(const struct lattice_args &a, int64_t group,
                                                 uint64_t word)
{
    constexpr int D = lattice_d(LATTICE), LEVELS = code_levels(CODE), COUNT = D * LEVELS;
    constexpr int BYTES = vec_bytes<LATTICE, CODE>(), BITS = BYTES * D;
    if (a.type == TYPE_PACKED) {
        lattice_store_bytes((uint8_t *)a.out + group * BYTES, BYTES, word);
        return;
    }
    uint64_t digits = 0;
#pragma unroll
    for (int b = 0; b < 8 / D; b++) {
        uint64_t packed = word >> (BITS * b);
        if (D < 8) packed &= ((uint64_t)1 << BITS) - 1;
        digits |= lattice_unpack(code_q(CODE), COUNT, packed) << (2 * COUNT * b);
    }
    if (a.type != TYPE_INT8) {
        uint4 *to = (uint4 *)a.out + group * 2 * LEVELS;
#pragma unroll
        for (int i = 0; i < 2 * LEVELS; i++)
            to[i] = four_words((uint32_t)(digits >> (8 * i)), a.type == TYPE_FP32);
        return;
    }
    uint32_t bytes[2 * LEVELS];
#pragma unroll
    for (int i = 0; i < 2 * LEVELS; i++)
        bytes[i] = four_bytes((uint32_t)(digits >> (8 * i)));
    if constexpr (LEVELS == 2) {
        ((uint4 *)a.out)[group] = make_uint4(bytes[0], bytes[1], bytes[2], bytes[3]);
    } else {
#pragma unroll
        for (int m = 0; m < LEVELS; m++)
            ((uint2 *)a.out)[group * LEVELS + m] = make_uint2(bytes[2 * m], bytes[2 * m + 1]);
    }
}

/* ---------------------------------------------------------- second part -- */

/* `first` is the list's first block. */
template <int LATTICE, int CODE, int MOST>
static __device__ __forceinline__ void do_again(const struct lattice_args &a, int64_t first,
                                                const struct again_list<MOST> &list, int *most)
{
    const int count = (int)list.count;
    for (int i = (int)threadIdx.x; i < count; i += LATTICE_THREADS) {
        int64_t block = first + list.block[i];
        uint64_t digits;
        int t = try_again<LATTICE, CODE>(a, block, &digits);
        if (most) {
            if (t > 0 && t <= LATTICE_T_MAX) atomicMax(most, t);
            continue;
        }
        lattice_put_digits<LATTICE, code_q(CODE)>(a, block, digits);
        a.t[block] = (uint8_t)t;
    }
}

/* -------------------------------------------------------------- kernels -- */

/* TRIES: one, or a second for what the first leaves; with `most`, only the largest T. Z2 keeps the
 * instruction slots busy, and takes 8 % longer with 38 registers than with 32, which leave room for
 * all threads of a multiprocessor. */
template <int LATTICE, int CODE, int TRIES>
static __global__ void __launch_bounds__(LATTICE_THREADS,
                                         LATTICE == LATTICE_Z2 ? SM_THREADS / LATTICE_THREADS : 0)
    encode_list(const struct overload_list_args args)
{
    constexpr int BLOCKS = VEC_ENTRIES / lattice_d(LATTICE);
    constexpr int CARRY =
        CODE == CODE_Q4M2 && LATTICE != LATTICE_E8 ? 1 << (2 * lattice_d(LATTICE)) : 1;
    constexpr bool POINTS = LATTICE == LATTICE_A2 && CODE != CODE_Q4M3 && TRIES == 2;
    constexpr int LISTED = TRIES == 2 ? LATTICE_THREADS * BLOCKS : 1;
    __shared__ uint16_t carry[CARRY], points[POINTS ? LATTICE_THREADS : 1];
    __shared__ struct again_list<LISTED> list;
    const struct lattice_args &a = args.a;
    const int64_t first = (int64_t)blockIdx.x * LATTICE_THREADS, group = first + threadIdx.x;
    const bool inside = group < args.groups;
    float x[VEC_ENTRIES];
    if (inside) vec_load((const float *)a.in + group * VEC_ENTRIES, x);
    if (CARRY > 1 && (int)threadIdx.x < CARRY) carry[threadIdx.x] = args.carry[threadIdx.x];
    if (POINTS) points[threadIdx.x] = args.points[threadIdx.x];
    if (TRIES == 2 && threadIdx.x == 0) list.count = 0;
    if (CARRY > 1 || TRIES == 2) __syncthreads();
    if (inside) {
        float r = a.shared_t ? a.r * lattice_power(-*a.shared_t) : a.r;
        const uint16_t *c = CARRY > 1 ? carry : args.carry;
        uint64_t word = first_codes<LATTICE, CODE>(x, r, c, args.mask);
        if (TRIES == 1 || !args.most) put_group<LATTICE, CODE>(a, group, word);
        if (TRIES == 1 && a.shared_t && group == 0) a.t[0] = (uint8_t)*a.shared_t;
        if constexpr (TRIES == 2) {
            if (!args.most) lattice_store_bytes(a.t + group * BLOCKS, BLOCKS, 0);
            uint32_t again =
                POINTS ? does_not_fit(x, r, word, points) : may_not_fit<LATTICE, CODE>(x, r);
#pragma unroll
            for (int b = 0; b < BLOCKS; b++)
                if (again >> b & 1) list.add((int)threadIdx.x * BLOCKS + b);
        }
    }
    if constexpr (TRIES == 2) {
        __syncthreads();
        do_again<LATTICE, CODE>(a, first * BLOCKS, list, args.most);
    }
}

enum { MARKS = 16, MARKS_SHARE = LATTICE_THREADS * MARKS };

/* A thread looks at 16 of T. */
template <int LATTICE>
static __global__ void __launch_bounds__(LATTICE_THREADS) encode_again(const struct lattice_args a)
{
    __shared__ struct again_list<MARKS_SHARE> list;
    const int64_t first = (int64_t)blockIdx.x * MARKS_SHARE;
    const int mine = (int)threadIdx.x * MARKS;
    const int64_t left = a.count - first - mine;
    if (threadIdx.x == 0) list.count = 0;
    __syncthreads();
    if (left >= MARKS) {
        uint4 all = *(const uint4 *)(a.t + first + mine);
        const uint32_t word[] = {all.x, all.y, all.z, all.w};
#pragma unroll
        for (int i = 0; i < MARKS; i++)
            if ((word[i / 4] >> (8 * (i % 4)) & 255) == T_AGAIN) list.add(mine + i);
    } else {
        for (int i = 0; i < left; i++)
            if (a.t[first + mine + i] == T_AGAIN) list.add(mine + i);
    }
    __syncthreads();
    do_again<LATTICE, CODE_Q4M2>(a, first, list, NULL);
}

/* ------------------------------------------------------------------ host -- */

struct list_launch {
    struct overload_list_args args;
    int tries;
    cudaStream_t stream;

    template <int LATTICE, int CODE> int run() const
    {
        unsigned grid = lattice_grid(args.groups, LATTICE_THREADS);
        if (tries == 1)
            encode_list<LATTICE, CODE, 1><<<grid, LATTICE_THREADS, 0, stream>>>(args);
        else
            encode_list<LATTICE, CODE, 2><<<grid, LATTICE_THREADS, 0, stream>>>(args);
        return assay_launched();
    }
};

int overload_list(const struct lattice_job *job, const struct overload_list_args *args,
                  cudaStream_t stream)
{
    struct list_launch kernel = {*args, job->overload == OVERLOAD_OFF ? 1 : 2, stream};
    if (!args->most) return vec_instance(job, kernel);
    cudaError_t error = cudaMemsetAsync(args->most, 0, sizeof *args->most, stream);
    if (assay_cuda(error, "cudaMemsetAsync") < 0) return -1;
    if (vec_instance(job, kernel) < 0) return -1;
    kernel.tries = 1;
    kernel.args.a.shared_t = args->most;
    kernel.args.most = NULL;
    return vec_instance(job, kernel);
}

int overload_again(const struct lattice_job *job, const struct lattice_args *args,
                   cudaStream_t stream)
{
    unsigned grid = lattice_grid(args->count, MARKS_SHARE);
    if (job->lattice == LATTICE_E8)
        encode_again<LATTICE_E8><<<grid, LATTICE_THREADS, 0, stream>>>(*args);
    else
        encode_again<LATTICE_D4><<<grid, LATTICE_THREADS, 0, stream>>>(*args);
    return assay_launched();
}
