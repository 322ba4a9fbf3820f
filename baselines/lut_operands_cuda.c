/* lut_operands_cuda.c - see lut_cublas.h. */
#include "lut_cublas.h"

#ifdef CUBLAS_HEADERS

static const size_t entry_bytes[] = {
    [LUT_AS_INT8] = 1, [LUT_AS_FP32] = 4, [LUT_AS_BF16] = 2, [LUT_AS_ORIGINAL] = 4};

const char *lut_cublas_supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_SCALED]) return "scaled operands are not prepared";
    const char *why = lut_decode_unsupported(shape);
    return why ? why : cublas_missing();
}

static int convert(enum lut_cublas_type type, const int8_t *in, void *out, int64_t count,
                   void *stream)
{
    switch (type) {
    case LUT_AS_INT8:
        return cuda_error(cudaMemcpyAsync(out, in, (size_t)count, cudaMemcpyDeviceToDevice, stream),
                          "decoded operands");
    case LUT_AS_FP32:
        return lut_widen_fp32(in, out, count, stream);
    case LUT_AS_BF16:
        return lut_widen_bf16(in, out, count, stream);
    default:
        return lut_originals(in, out, count, stream);
    }
}

/* Decode to `scratch` as int8, then to the library's type. */
static int fill(const struct lut_operands *operands, const struct assay_call *call,
                const struct lut_points *points, int8_t *scratch, enum lut_cublas_type type)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t left = geometry.rows * operands->stride, right = geometry.columns * operands->stride;
    if (lut_decode_i8(&geometry, call->buffer[LUT_A], geometry.rows, points, false, scratch,
                      call->stream) ||
        lut_decode_i8(&geometry, call->buffer[LUT_B], geometry.columns, points, true,
                      scratch + left, call->stream) ||
        convert(type, scratch, operands->a, left, call->stream) ||
        convert(type, scratch + left, operands->b, right, call->stream))
        return -1;
    return cuda_error(cudaStreamSynchronize(call->stream), "decoding operands");
}

int lut_operands_init(struct lut_operands *operands, struct assay_call *call,
                      enum lut_cublas_type type)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    struct lut_points points = {0};
    void *scratch = NULL;
    operands->stride = lut_decoded_stride(&geometry);
    size_t left = (size_t)(geometry.rows * operands->stride);
    size_t entries = left + (size_t)(geometry.columns * operands->stride);
    int status = lut_points_upload(call->shape, &points);
    if (status == 0) status = cuda_error(cudaMalloc(&scratch, entries), "decoded operands");
    if (status == 0)
        status = cuda_error(cudaMalloc(&operands->a, entries * entry_bytes[type]), "operands");
    if (status == 0) {
        operands->b = (char *)operands->a + left * entry_bytes[type];
        call->workspace_bytes += (int64_t)(entries * entry_bytes[type]);
        status = fill(operands, call, &points, scratch, type);
    }
    cudaFree(scratch);
    lut_points_release(&points);
    return status;
}

void lut_operands_release(struct lut_operands *operands)
{
    cudaFree(operands->a);
    operands->a = operands->b = NULL;
}

#endif
