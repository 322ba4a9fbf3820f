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

/* Decode one operand to the library's type; for BF16 to fp32 in `scratch` first. */
static int decode_one(const struct assay_call *call, enum lut_cublas_type type, bool right,
                      const struct lut_points *points, float *scratch, void *out)
{
    struct lut_geometry geometry = lut_geometry(call->shape);
    int64_t rows = right ? geometry.columns : geometry.rows;
    int64_t count = rows * lut_decoded_stride(&geometry);
    const void *codes = call->buffer[right ? LUT_B : LUT_A];
    float *entries = type == LUT_AS_BF16 ? scratch : out;
    if (type == LUT_AS_INT8)
        return lut_decode_i8(&geometry, codes, rows, points, right, out, call->stream);
    if (lut_decode_fp32(&geometry, codes, rows, points, right, entries, call->stream)) return -1;
    if (type == LUT_AS_BF16) return lut_narrow_bf16(entries, out, count, call->stream);
    return type == LUT_AS_ORIGINAL ? lut_add_errors(entries, count, call->stream) : 0;
}

static int decode_both(const struct lut_operands *operands, const struct assay_call *call,
                       const struct lut_points *points, float *scratch, enum lut_cublas_type type)
{
    if (decode_one(call, type, false, points, scratch, operands->a) ||
        decode_one(call, type, true, points, scratch, operands->b))
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
    size_t right = (size_t)(geometry.columns * operands->stride);
    size_t bytes = (left + right) * entry_bytes[type], most = left > right ? left : right;
    int status = lut_points_upload(call->shape, &points);
    if (status == 0 && type == LUT_AS_BF16)
        status = cuda_error(cudaMalloc(&scratch, most * sizeof(float)), "decoded operand");
    if (status == 0) status = cuda_error(cudaMalloc(&operands->a, bytes), "operands");
    if (status == 0) {
        operands->b = (char *)operands->a + left * entry_bytes[type];
        call->workspace_bytes += (int64_t)bytes;
        status = decode_both(operands, call, &points, scratch, type);
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
