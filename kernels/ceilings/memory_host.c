/*
 * memory_host.c - `memory` on the host's cores in all four mixes, one contiguous part per thread.
 *
 *   omp      ordinary stores: a cache line that is written is first read into the cache
 *   stream   stores that bypass the cache (x86 only), so a written line is not read
 *
 * Bytes: those of the operation. `omp` reads up to one more line per written line, which is not
 * counted. Operations: none counted.
 */
#include <omp.h>

#include "memory.h"

#ifdef __x86_64__
#include <immintrin.h>
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

/* Otherwise the compiler recognises the loops and calls memcpy and memset, which are measured as
 * baselines and which bypass the cache for some sizes. */
#if defined(__GNUC__) && !defined(__clang__)
#define OWN_LOOP __attribute__((optimize("no-tree-loop-distribute-patterns")))
#else
#define OWN_LOOP
#endif

typedef void part_function(uint32_t *restrict out, const uint32_t *restrict in, int64_t begin,
                           int64_t end, int64_t in_words);

/* Calls `part` in every thread with its range of output words, which begins at a multiple of 16. */
static void run_parts(struct assay_call *call, part_function *part)
{
    struct memory_layout layout = memory_layout(call->shape);
    uint32_t *out = call->buffer[MEMORY_OUT];
    const uint32_t *in = layout.in_words ? call->buffer[MEMORY_IN] : NULL;
#pragma omp parallel
    {
        int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
        int64_t each = (layout.out_words / threads + 15) / 16 * 16;
        int64_t begin = each * thread, end = begin + each;
        if (begin > layout.out_words) begin = layout.out_words;
        if (end > layout.out_words || thread + 1 == threads) end = layout.out_words;
        part(out, in, begin, end, layout.in_words);
    }
}

/* ------------------------------------------------------- ordinary stores -- */

WIDEST static uint32_t xor_words(const uint32_t *in, int64_t count)
{
    uint32_t word = 0;
#pragma omp simd reduction(^ : word)
    for (int64_t i = 0; i < count; i++)
        word ^= in[i];
    return word;
}

static void read_part(uint32_t *restrict out, const uint32_t *restrict in, int64_t begin,
                      int64_t end, int64_t in_words)
{
    for (int64_t j = begin; j < end; j++) {
        int64_t left = in_words - MEMORY_SLICE * j;
        if (left < 0) left = 0;
        out[j] = xor_words(in + MEMORY_SLICE * j, left < MEMORY_SLICE ? left : MEMORY_SLICE);
    }
}

/* r4w1's last output word, where fewer than four input words are left for it. */
static uint32_t short_word(const uint32_t *in, int64_t j, int64_t in_words)
{
    uint32_t word = 0;
    for (int64_t i = 4 * j; i < in_words; i++)
        word ^= in[i];
    return word;
}

WIDEST static void r4w1_part(uint32_t *restrict out, const uint32_t *restrict in, int64_t begin,
                             int64_t end, int64_t in_words)
{
    int64_t whole = end < in_words / 4 ? end : in_words / 4;
#pragma omp simd
    for (int64_t j = begin; j < whole; j++)
        out[j] = in[4 * j] ^ in[4 * j + 1] ^ in[4 * j + 2] ^ in[4 * j + 3];
    if (begin < end && whole < end) out[end - 1] = short_word(in, end - 1, in_words);
}

OWN_LOOP WIDEST static void copy_part(uint32_t *restrict out, const uint32_t *restrict in,
                                      int64_t begin, int64_t end, int64_t in_words)
{
#pragma omp simd
    for (int64_t j = begin; j < end; j++)
        out[j] = in[j];
}

OWN_LOOP WIDEST static void write_part(uint32_t *restrict out, const uint32_t *restrict in,
                                       int64_t begin, int64_t end, int64_t in_words)
{
#pragma omp simd
    for (int64_t j = begin; j < end; j++)
        out[j] = MEMORY_WORD_WRITTEN;
}

static int launch_omp(struct assay_call *call)
{
    static part_function *const parts[MEMORY_MIXES] = {read_part, r4w1_part, copy_part, write_part};
    run_parts(call, parts[call->shape->value[MEMORY_MIX]]);
    return 0;
}

static const struct assay_variant omp = {
    .operation = "memory",
    .name = "omp",
    .summary = "every core, SIMD, ordinary stores",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .launch = launch_omp,
};
ASSAY_REGISTER_VARIANT(omp);

/* ------------------------------------------------- stores past the cache -- */

#ifdef __x86_64__

/* Parts start at a multiple of 16 words of a 256-byte aligned buffer, so that
 * every 16-byte store is aligned. */
static void stream_r4w1(uint32_t *restrict out, const uint32_t *restrict in, int64_t begin,
                        int64_t end, int64_t in_words)
{
    int64_t whole = end < in_words / 4 ? end : in_words / 4;
    int64_t j = begin;
    for (; j + 4 <= whole; j += 4) {
        /* Transpose 4 x 4 words so that one xor of rows makes four outputs. */
        const float *from = (const float *)(in + 4 * j);
        __m128 a = _mm_load_ps(from), b = _mm_load_ps(from + 4);
        __m128 c = _mm_load_ps(from + 8), d = _mm_load_ps(from + 12);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_stream_ps((float *)(out + j), _mm_xor_ps(_mm_xor_ps(a, b), _mm_xor_ps(c, d)));
    }
    r4w1_part(out, in, j, end, in_words);
    _mm_sfence();
}

static void stream_copy(uint32_t *restrict out, const uint32_t *restrict in, int64_t begin,
                        int64_t end, int64_t in_words)
{
    int64_t j = begin;
    for (; j + 16 <= end; j += 16)
        for (int k = 0; k < 16; k += 4)
            _mm_stream_si128((__m128i *)(out + j + k),
                             _mm_load_si128((const __m128i *)(in + j + k)));
    copy_part(out, in, j, end, in_words);
    _mm_sfence();
}

static void stream_write(uint32_t *restrict out, const uint32_t *restrict in, int64_t begin,
                         int64_t end, int64_t in_words)
{
    const __m128i words = _mm_set1_epi32(MEMORY_WORD_WRITTEN);
    int64_t j = begin;
    for (; j + 16 <= end; j += 16)
        for (int k = 0; k < 16; k += 4)
            _mm_stream_si128((__m128i *)(out + j + k), words);
    write_part(out, in, j, end, in_words);
    _mm_sfence();
}

static const char *supports_stream(const struct assay_shape *shape)
{
    return shape->value[MEMORY_MIX] == MEMORY_READ ? "a read stores next to nothing" : NULL;
}

static int launch_stream(struct assay_call *call)
{
    static part_function *const parts[MEMORY_MIXES] = {NULL, stream_r4w1, stream_copy,
                                                       stream_write};
    run_parts(call, parts[call->shape->value[MEMORY_MIX]]);
    return 0;
}

static const struct assay_variant stream = {
    .operation = "memory",
    .name = "stream",
    .summary = "every core, stores that go past the cache",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_HOST,
    .supports = supports_stream,
    .launch = launch_stream,
};
ASSAY_REGISTER_VARIANT(stream);

#endif
