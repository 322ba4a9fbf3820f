#include "device/cuda/check_kernels.h"
#include "device/cuda/device_cuda.h"

int cuda_poison(struct device *device, void *memory, size_t bytes, uint64_t seed)
{
    if (kernel_poison(device->stream, memory, bytes, seed) < 0) return -1;
    return cuda_synchronize(device);
}

int cuda_unwritten(struct device *device, const void *memory, enum assay_type type, int64_t count,
                   uint64_t seed, struct unwritten *left)
{
    size_t size = assay_type_bytes(type);
    *left = (struct unwritten){0, 0, INT64_MAX};
    if (cuda_check(cudaMemcpyAsync(device->found, left, sizeof *left, cudaMemcpyHostToDevice,
                                   device->stream),
                   "copying") < 0)
        return -1;
    if (kernel_unwritten(device->stream, memory, (size_t)count * size, (int)size, seed,
                         device->found) < 0)
        return -1;
    return cuda_move(device, left, device->found, sizeof *left, cudaMemcpyDeviceToHost);
}

int cuda_copy(struct device *device, void *to, const void *from, size_t bytes)
{
    return cuda_move(device, to, from, bytes, cudaMemcpyDeviceToDevice);
}

_Static_assert(ASSAY_CHECK_PLACES * sizeof(struct difference) <= FOUND_BYTES, "all fit");

int cuda_differ(struct device *device, const void *a, const void *b, enum assay_type type,
                int64_t count, struct difference out[ASSAY_CHECK_PLACES])
{
    size_t bytes = ASSAY_CHECK_PLACES * sizeof *out;
    if (kernel_differ(device->stream, a, b, type, count, device->found) < 0) return -1;
    return cuda_move(device, out, device->found, bytes, cudaMemcpyDeviceToHost);
}

int cuda_signed_sums(struct device *device, const void *matrix, enum assay_type type, int64_t rows,
                     int64_t columns, uint64_t seed, double *sums)
{
    double *there = NULL;
    size_t bytes = (size_t)rows * sizeof *sums;
    if (cuda_check(cudaMalloc((void **)&there, bytes), "allocating sums") < 0) {
        cudaGetLastError(); /* clear it, or the next launch would report it */
        return -1;
    }
    int status = kernel_signed_sums(device->stream, matrix, type, rows, columns, seed, there);
    if (status == 0) status = cuda_move(device, sums, there, bytes, cudaMemcpyDeviceToHost);
    cudaFree(there);
    return status;
}
