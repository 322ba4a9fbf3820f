// kernels.cu - what tests/device/test_kernel_image.c compiles.
#include <cuda_fp16.h>

struct five {
    int value[5];
};

__global__ void scale(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

namespace inner
{
template <class T, int N> __global__ void power(T *y, five by, long n)
{
    extern __shared__ int scratch[];
    scratch[threadIdx.x] = by.value[0];
    y[threadIdx.x] = (T)(scratch[N] + n);
}
} // namespace inner

__global__ void twice(float *x)
{
    *x *= 2;
}

__global__ void twice(__half *x)
{
    *x = *x + *x;
}

extern "C" __global__ void __launch_bounds__(128) plain(unsigned char *p)
{
    *p = 1;
}
