/*
 * copy_int8_host.c - memory-bound baselines of the int8 family on the host, and the host models
 * that the copies are checked against.
 *
 *   host_copy_r4w1  reads every input element and writes one byte of it: the memory traffic of the
 *                   fused quantiser with almost no arithmetic
 *   host_memcpy     a memcpy of half as many bytes, so that as many are moved in all: half read,
 *                   half written
 *
 * Bytes per element: 4 read (bf16: 2) and 1 written; host_memcpy 2.5 and 2.5 (bf16: 1.5 and 1.5).
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/int8/int8.h"

enum { CHUNK = 1 << 16, POISON = 0xa5 };

/* The top byte of element `index` as fp32. */
static int8_t top_byte(const void *x, int64_t input, int64_t index)
{
    return input == INPUT_BF16 ? (int8_t)(((const uint16_t *)x)[index] >> 8)
                               : (int8_t)(((const uint32_t *)x)[index] >> 24);
}

static void copy_codes(const void *x, int64_t input, int64_t begin, int64_t end, int8_t *out)
{
    for (int64_t i = begin; i < end; i++)
        out[i - begin] = top_byte(x, input, i);
}

int int8_model_copy(const struct assay_shape *shape, const void *const in[], int buffer,
                    int64_t begin, int64_t end, void *out)
{
    copy_codes(in[BUF_X], shape->value[DIM_INPUT], begin, end, out);
    return 0;
}

int int8_model_copy_token(const struct assay_shape *shape, const void *const in[], int buffer,
                          int64_t begin, int64_t end, void *out)
{
    int64_t input = shape->value[TOKEN_INPUT];
    if (buffer == BUF_Y) {
        copy_codes(in[BUF_X], input, begin, end, out);
        return 0;
    }
    float *scales = out;
    for (int64_t row = begin; row < end; row++)
        scales[row - begin] = int8_load(in[BUF_X], input, row * shape->value[TOKEN_HIDDEN]);
    return 0;
}

/* ------------------------------------------------------- host_copy_r4w1 -- */

static void copy_all(const void *x, int64_t input, int64_t n, int8_t *y)
{
#pragma omp parallel for schedule(static) if (n > CHUNK)
    for (int64_t i = 0; i < n; i += CHUNK)
        copy_codes(x, input, i, i + CHUNK < n ? i + CHUNK : n, y + i);
}

static int launch_copy(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    copy_all(call->buffer[BUF_X], value[DIM_INPUT], value[DIM_N], call->buffer[BUF_Y]);
    return 0;
}

static int launch_copy_token(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    int64_t n = value[TOKEN_TOKENS] * value[TOKEN_HIDDEN];
    const void *const in[] = {call->buffer[BUF_X]};
    copy_all(in[BUF_X], value[TOKEN_INPUT], n, call->buffer[BUF_Y]);
    return int8_model_copy_token(call->shape, in, BUF_SCALES, 0, value[TOKEN_TOKENS],
                                 call->buffer[BUF_SCALES]);
}

/* ---------------------------------------------------------- host_memcpy -- */

/* The destination of the memcpy belongs to the variant. */
struct destination {
    size_t bytes;
    unsigned char memory[];
};

static int setup_memcpy(struct assay_call *call)
{
    struct assay_work work = call->shape->operation->work(call->shape);
    size_t bytes = (size_t)((work.read_bytes + work.write_bytes) / 2);
    if (bytes > (size_t)work.read_bytes) bytes = (size_t)work.read_bytes;
    struct destination *destination = malloc(sizeof *destination + bytes);
    if (!destination) return assay_error("no memory for %zu bytes", bytes);
    destination->bytes = bytes;
    memset(destination->memory, POISON, bytes);
    call->state = destination;
    call->workspace_bytes += (int64_t)bytes;
    return 0;
}

static int launch_memcpy(struct assay_call *call)
{
    struct destination *destination = call->state;
    const char *x = call->buffer[BUF_X];
    size_t chunk = 4 * CHUNK;
#pragma omp parallel for schedule(static) if (destination->bytes > chunk)
    for (size_t at = 0; at < destination->bytes; at += chunk) {
        size_t left = destination->bytes - at;
        memcpy(destination->memory + at, x + at, left < chunk ? left : chunk);
    }
    return 0;
}

static int check_memcpy(struct assay_call *call)
{
    struct destination *destination = call->state;
    int differs = memcmp(destination->memory, call->buffer[BUF_X], destination->bytes);
    memset(destination->memory, POISON, destination->bytes);
    return differs ? assay_error("the copy differs from its source") : 0;
}

static void teardown_memcpy(struct assay_call *call)
{
    free(call->state);
}

/* ------------------------------------------------------------- variants -- */

static const struct assay_variant copy = {
    .operation = "int8_quantize",
    .name = "host_copy_r4w1",
    .summary = "reads every element, writes its top byte",
    .kind = ASSAY_BOUND,
    .place = ASSAY_HOST,
    .apart = true,
    .launch = launch_copy,
    .model = int8_model_copy,
};
ASSAY_REGISTER_VARIANT(copy);

static const struct assay_variant copy_token = {
    .operation = "int8_quantize_token",
    .name = "host_copy_r4w1",
    .summary = "reads every element, writes its top byte",
    .kind = ASSAY_BOUND,
    .place = ASSAY_HOST,
    .apart = true,
    .launch = launch_copy_token,
    .model = int8_model_copy_token,
};
ASSAY_REGISTER_VARIANT(copy_token);

static const struct assay_variant half = {
    .operation = "int8_quantize",
    .name = "host_memcpy",
    .summary = "memcpy of half the bytes: as many moved, half each way",
    .kind = ASSAY_BOUND,
    .place = ASSAY_HOST,
    .apart = true,
    .setup = setup_memcpy,
    .launch = launch_memcpy,
    .teardown = teardown_memcpy,
    .check = check_memcpy,
};
ASSAY_REGISTER_VARIANT(half);

static const struct assay_variant half_token = {
    .operation = "int8_quantize_token",
    .name = "host_memcpy",
    .summary = "memcpy of half the bytes: as many moved, half each way",
    .kind = ASSAY_BOUND,
    .place = ASSAY_HOST,
    .apart = true,
    .setup = setup_memcpy,
    .launch = launch_memcpy,
    .teardown = teardown_memcpy,
    .check = check_memcpy,
};
ASSAY_REGISTER_VARIANT(half_token);
