/* lut_operands_cuda.c - see lut_cublas.h. */
#include "lut_cublas.h"

#ifdef CUBLAS_HEADERS

static const size_t entry_bytes[] = {
    [LUT_AS_INT8] = 1, [LUT_AS_FP32] = 4, [LUT_AS_BF16] = 2, [LUT_AS_ORIGINAL] = 4};

const char *lut_cublas_supports(const struct assay_shape *shape)
{
    if (shape->value[LUT_SCALED]) return "scaled operands are not prepared";
    return cublas_missing();
}

const char *lut_cublas_supports_int8(const struct assay_shape *shape)
{
    const char *why = lut_decode_unsupported(shape);
    return why ? why : lut_cublas_supports(shape);
}

const char *lut_cublas_supports_bf16(const struct assay_shape *shape)
{
    if (lut_coordinate_max(shape) > 256) return "decoded coordinates do not fit bf16";
    return lut_cublas_supports(shape);
}

/* Enqueue it; for BF16 by way of fp32 in `scratch`. */
static int decode(const struct assay_call *call, const struct lut_geometry *geometry,
                  const void *codes, int64_t rows, const struct lut_points *points, bool right,
                  enum lut_cublas_type type, float *scratch, void *out)
{
    int64_t count = rows * lut_decoded_stride(geometry);
    float *entries = type == LUT_AS_BF16 ? scratch : out;
    if (type == LUT_AS_INT8)
        return lut_decode_i8(geometry, codes, rows, points, right, out, call->stream);
    if (lut_decode_fp32(geometry, codes, rows, points, right, entries, call->stream)) return -1;
    if (type == LUT_AS_BF16) return lut_narrow_bf16(entries, out, count, call->stream);
    return type == LUT_AS_ORIGINAL ? lut_add_errors(entries, count, call->stream) : 0;
}

int lut_cublas_decode(struct assay_call *call, const struct assay_shape *shape, const void *codes,
                      int64_t rows, bool right, enum lut_cublas_type type, void **out)
{
    struct lut_geometry geometry = lut_geometry(shape);
    struct lut_points points = {0};
    void *scratch = NULL;
    size_t count = (size_t)(rows * lut_decoded_stride(&geometry));
    int status = lut_points_upload(shape, &points);
    if (status == 0)
        status = cuda_error(cudaMalloc(out, count * entry_bytes[type]), "decoded operand");
    if (status == 0 && type == LUT_AS_BF16)
        status = cuda_error(cudaMalloc(&scratch, count * sizeof(float)), "decoded operand");
    if (status == 0)
        status = decode(call, &geometry, codes, rows, &points, right, type, scratch, *out);
    if (status == 0) status = cuda_error(cudaStreamSynchronize(call->stream), "decoding");
    cudaFree(scratch);
    lut_points_release(&points);
    call->workspace_bytes += (int64_t)(count * entry_bytes[type]);
    return status;
}

int lut_operands_init(struct lut_operands *operands, struct assay_call *call,
                      enum lut_cublas_type type)
{
    const struct assay_shape *shape = call->shape;
    struct lut_geometry geometry = lut_geometry(shape);
    operands->stride = lut_decoded_stride(&geometry);
    if (lut_cublas_decode(call, shape, call->buffer[LUT_A], geometry.rows, false, type,
                          &operands->a))
        return -1;
    return lut_cublas_decode(call, shape, call->buffer[LUT_B], geometry.columns, true, type,
                             &operands->b);
}

void lut_operands_release(struct lut_operands *operands)
{
    cudaFree(operands->b);
    cudaFree(operands->a);
}

#endif
