/*
 * model_clusters.cuh - the kernel of model_clusters.cu: the way of a block's tokens, 8 NT of one
 * sequence, through all layers.
 *
 * They stay in the block's shared memory: the residual stream in fp32; what a norm or the attention
 * makes of it, `narrow`; and what fc makes, `wide`, where q is before, both as operands of tensor
 * cores. A product's outputs are the 16 rows of a tile, a warp's, and tokens its 8 columns.
 */
#pragma once

#include "model_clusters_attend.cuh"

/* T: uint16_t (bf16) or fp16_t; in memory both are their bits. */
template <typename T, int NT> struct clusters_block {
    const struct clusters_args &args;
    const struct clusters_ring ring;
    float *stream;
    uint16_t *narrow, *wide;
    int sequence, first; /* token of the block */
    int warp, lane;
    struct clusters_cursor at; /* of the ring */

    /* The warps that multiply. */
    __device__ __forceinline__ void meet(void) const
    {
        hopper_turn_wait(1, CLUSTERS_LANES);
    }

    /* ------------------------------------------------------------- rows -- */

    /* A warp has a token, or two; a lane every 32nd pair of its channels. do_pair(row, channel,
     * i), for pair i of the lane. */
    template <class PAIR> __device__ __forceinline__ void each_pair(int n, PAIR do_pair) const
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int channel = 2 * lane + 64 * i;
            if (channel < args.channels) do_pair(warp + CLUSTERS_WARPS * n, channel, i);
        }
    }

    __device__ __forceinline__ int64_t element(int row, int channel) const
    {
        return ((int64_t)sequence * args.tokens + first + row) * args.channels + channel;
    }

    __device__ __forceinline__ float2 *stream_at(int row, int channel) const
    {
        return (float2 *)(stream + row * args.stream_row + channel);
    }

    static __device__ __forceinline__ float2 pair_of(uint32_t word)
    {
        return gpt_unpack(T(), word);
    }

    /* Tokens behind the last of the sequence are zeros. */
    __device__ __forceinline__ void start(void) const
    {
        for (int n = 0; n < NT; n++)
            each_pair(n, [&](int row, int channel, int) {
                uint32_t word = 0;
                if (first + row < args.tokens)
                    word = __ldg((const uint32_t *)(args.in + element(row, channel)));
                *stream_at(row, channel) = pair_of(word);
            });
    }

    __device__ __forceinline__ void finish(void) const
    {
        meet();
        for (int n = 0; n < NT; n++)
            each_pair(n, [&](int row, int channel, int) {
                const float2 v = *stream_at(row, channel);
                if (first + row < args.tokens)
                    *(uint32_t *)(args.y + element(row, channel)) = gpt_pack(T(), v.x, v.y);
            });
    }

    /* The stream's norm into `narrow`. Its scale and shift are asked for before the warps meet. */
    __device__ __forceinline__ void normalise(int norm, const uint16_t *shift) const
    {
        const uint16_t *scale = args.scale + norm * args.channels;
        uint32_t by[4] = {}, plus[4] = {};
        each_pair(0, [&](int, int channel, int i) {
            by[i] = __ldg((const uint32_t *)(scale + channel));
            plus[i] = __ldg((const uint32_t *)(shift + channel));
        });
        meet();
#pragma unroll
        for (int n = 0; n < NT; n++) {
            float2 v[4] = {};
            float sum = 0, squares = 0;
            each_pair(n, [&](int row, int channel, int i) {
                v[i] = *stream_at(row, channel);
                sum += v[i].x + v[i].y;
            });
            const float mean = gpt_warp_sum(sum) * args.per_channel;
            each_pair(n, [&](int, int, int i) {
                v[i].x -= mean, v[i].y -= mean;
                squares += v[i].x * v[i].x + v[i].y * v[i].y;
            });
            const float r =
                rsqrtf(gpt_warp_sum(squares) * args.per_channel + GPT_LAYERNORM_EPSILON);
            each_pair(n, [&](int row, int channel, int i) {
                const float2 w = pair_of(by[i]), b = pair_of(plus[i]);
                *(uint32_t *)(narrow + row * args.narrow_row + channel) =
                    gpt_pack(T(), v[i].x * r * w.x + b.x, v[i].y * r * w.y + b.y);
            });
        }
        meet();
    }

    /* --------------------------------------------------------- products -- */

    /* All tokens' next 64 inputs, from this address of the first token on. */
    __device__ __forceinline__ void tokens(uint32_t (&b)[4][NT][2], uint32_t from,
                                           uint32_t row_bytes) const
    {
#pragma unroll
        for (int i = 0; i < 2 * NT; i++) {
            uint32_t word[4];
            if (NT == 1) { /* two steps of k of one tile */
                mma_load(word, from + (uint32_t)(lane % 8) * row_bytes +
                                   16 * (uint32_t)(4 * i + lane / 8));
                b[2 * i][0][0] = word[0], b[2 * i][0][1] = word[1];
                b[2 * i + 1][0][0] = word[2], b[2 * i + 1][0][1] = word[3];
            } else { /* a step of two tiles */
                const struct mma_place place = mma_place_b(lane);
                mma_load(word, from + (uint32_t)place.row * row_bytes +
                                   16 * (uint32_t)(2 * i + place.chunk));
                b[i][0][0] = word[0], b[i][0][1] = word[1];
                b[i][NT - 1][0] = word[2], b[i][NT - 1][1] = word[3];
            }
        }
    }

    /* The warp's tile of a stage. */
    __device__ __forceinline__ void load_tile(uint32_t (&a)[4][4], int slot) const
    {
        const struct mma_place place = mma_place_a(lane);
        const int row = CLUSTERS_TILE * warp + place.row;
        const uint32_t from = ring.slot(slot) + 128 * (uint32_t)row;
#pragma unroll
        for (int step = 0; step < 4; step++)
            mma_load(a[step], from + 16 * (uint32_t)mma_swizzle(row, 2 * step + place.chunk));
    }

    /* Add the next stage, or two, of the tokens' 64 inputs b to the sums of the warp's tiles, two,
     * one or none. One has both sums, to be added: so there are always two chains of products. */
    __device__ __forceinline__ void multiply_stages(float (&sum)[CLUSTERS_HALVES][NT][4], bool both,
                                                    int tiles, const uint32_t (&b)[4][NT][2])
    {
        uint32_t a[CLUSTERS_HALVES][4][4];
        struct clusters_cursor second = at;
        second.next(args.slots);
        hopper_barrier_wait(ring.full(at.slot), at.parity);
        if (both) hopper_barrier_wait(ring.full(second.slot), second.parity);
        if (tiles > 0) load_tile(a[0], at.slot);
        if (tiles == 2) {
            load_tile(a[1], second.slot);
#pragma unroll
            for (int step = 0; step < 4; step++)
#pragma unroll
                for (int half = 0; half < CLUSTERS_HALVES; half++)
#pragma unroll
                    for (int n = 0; n < NT; n++)
                        mma_step(T(), sum[half][n], a[half][step], b[step][n][0], b[step][n][1]);
        } else if (tiles == 1) {
#pragma unroll
            for (int step = 0; step < 4; step++)
#pragma unroll
                for (int n = 0; n < NT; n++)
                    mma_step(T(), sum[step % 2][n], a[0][step], b[step][n][0], b[step][n][1]);
        }
        __syncwarp();
        if (lane == 0) {
            hopper_barrier_arrive(ring.done(at.slot));
            if (both) hopper_barrier_arrive(ring.done(second.slot));
        }
        at = second;
        if (both) at.next(args.slots);
    }

    /* A tile of 16 outputs, of which a lane has lane / 4 and that + 8, of tokens 2 (lane % 4) and
     * the next of each eight. */
    template <int PRODUCT>
    __device__ __forceinline__ void store(int layer, int output, const float (&v)[NT][4]) const
    {
        const int c = args.channels, own = lane / 4;
#pragma unroll
        for (int n = 0; n < NT; n++) {
            const int row = 8 * n + lane % 4 * 2;
            if constexpr (PRODUCT == MODEL_P_FC) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    wide[(row + i % 2) * args.wide_row + output + own + i / 2 * 8] =
                        clusters_bits(T(), gpt_gelu_fast(v[n][i]));
            } else if constexpr (PRODUCT != MODEL_P_QKV) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    stream[(row + i % 2) * args.stream_row + output + own + i / 2 * 8] += v[n][i];
            } else {
                const int part = output / c, channel = output - part * c, token = first + row;
                const int64_t block = clusters_block_at(args, layer, sequence, channel, token);
                if (part < 2) { /* q, k: numbers 8 apart in a word */
                    uint32_t *query = (uint32_t *)wide + row * args.query_row + channel / 2;
                    uint32_t *key = (uint32_t *)(args.keys + block) + token % 16 * 8;
                    uint32_t *to = (part == 0 ? query : key) + own;
                    to[0] = gpt_pack(T(), v[n][0], v[n][2]);
                    to[part == 0 ? args.query_row : 8] = gpt_pack(T(), v[n][1], v[n][3]);
                } else { /* v: two tokens in a word */
                    uint32_t *to = (uint32_t *)(args.values + block) + own * 8 + token % 16 / 2;
                    to[0] = gpt_pack(T(), v[n][0], v[n][1]);
                    to[8 * 8] = gpt_pack(T(), v[n][2], v[n][3]);
                }
            }
        }
    }

    /* A product of all tokens, whose inputs begin at `from`, two columns of stages at a time: they
     * have the same tokens. */
    template <int PRODUCT>
    __device__ __forceinline__ void multiply(int layer, const uint16_t *from, int from_row,
                                             enum model_bias which)
    {
        const struct clusters_matrix &matrix = args.matrix[PRODUCT];
        const uint16_t *bias = bias_of(layer, which) + lane / 4;
        for (int column = 0; column < matrix.columns; column += CLUSTERS_HALVES) {
            float sum[CLUSTERS_HALVES][NT][4] = {};
            uint16_t plus[CLUSTERS_HALVES][2] = {};
            const int tile = CLUSTERS_TILE * warp, output = column * matrix.outputs + tile;
            int tiles = 0;
#pragma unroll
            for (int half = 0; half < CLUSTERS_HALVES; half++) {
                const int begin = output + half * matrix.outputs;
                if (tile >= matrix.outputs || begin >= matrix.n) break;
                plus[half][0] = __ldg(bias + begin), plus[half][1] = __ldg(bias + begin + 8);
                tiles++;
            }
            for (int chunk = 0; chunk < matrix.chunks; chunk++) {
                uint32_t b[4][NT][2];
                tokens(b, hopper_shared(from) + 128 * (uint32_t)chunk, 2 * (uint32_t)from_row);
                multiply_stages(sum, column + 1 < matrix.columns, tiles, b);
            }
#pragma unroll
            for (int half = 0; half < CLUSTERS_HALVES; half++) {
                if (half >= tiles) break;
#pragma unroll
                for (int n = 0; n < NT; n++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        sum[half][n][i] +=
                            pair_of(plus[half][i / 2]).x + (tiles == 1 ? sum[1][n][i] : 0.0f);
                store<PRODUCT>(layer, output + half * matrix.outputs, sum[half]);
            }
        }
    }

    __device__ __forceinline__ const uint16_t *bias_of(int layer, enum model_bias which) const
    {
        return args.bias + ((int64_t)layer * MODEL_BIAS_LAYER + which) * args.channels;
    }

    /* ------------------------------------------------------------ layers -- */

    /* All blocks of the cluster have written the layer's keys and values, each before it came here.
     * Two barriers take turns: of a layer's, a block that is ahead cannot arrive twice. */
    __device__ __forceinline__ void hand_over(int layer) const
    {
        const uint32_t barrier = ring.handed(layer % 2);
        meet();
        if (warp == 0 && lane < args.cluster) clusters_arrive_release(barrier, (uint32_t)lane);
        clusters_wait_acquire(barrier, (uint32_t)layer / 2 % 2);
    }

    /* A warp per head; where there are fewer, several that compute the same scores. */
    __device__ __forceinline__ void attend(int layer) const
    {
        const int parts = max(1, CLUSTERS_WARPS / args.heads);
        for (int item = warp; item < args.heads * parts; item += CLUSTERS_WARPS) {
            const int channel = item / parts * args.size;
            const int64_t block = clusters_block_at(args, layer, sequence, channel, 0);
            const struct clusters_head<T, NT> head = {
                args, (const uint32_t *)wide + channel / 2, args.keys + block, args.values + block,
                    first, lane
            };
            head.run(item % parts, parts, narrow + channel);
        }
        meet();
    }

    __device__ __forceinline__ void run_all(void)
    {
        start();
        for (int layer = 0; layer < args.layers; layer++) {
            normalise(2 * layer, bias_of(layer, MODEL_BIAS_NORM1));
            multiply<MODEL_P_QKV>(layer, narrow, args.narrow_row, MODEL_BIAS_QKV);
            hand_over(layer);
            attend(layer);
            multiply<MODEL_P_PROJ>(layer, narrow, args.narrow_row, MODEL_BIAS_PROJ);
            normalise(2 * layer + 1, bias_of(layer, MODEL_BIAS_NORM2));
            multiply<MODEL_P_FC>(layer, narrow, args.narrow_row, MODEL_BIAS_FC);
            meet();
            multiply<MODEL_P_FC2>(layer, wide, args.wide_row, MODEL_BIAS_FC2);
        }
        finish();
    }
};
