/* bench.cu - kernels that tests/gpu/bench.sh measures, right and wrong ones. */

extern "C" __global__ void scale(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

extern "C" __global__ void almost(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = i == n / 2 ? 0.75f : factor * x[i];
}

extern "C" __global__ void overruns(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = factor * x[i < n ? i : 0];
}

extern "C" __global__ void crashes(const float *x, float *y, int n, float factor)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) *(float *)16 = factor;
}

extern "C" __global__ void __launch_bounds__(128)
    bounded(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

/* Doubles what its block has put into shared memory of any size. */
extern "C" __global__ void staged(const float *x, float *y, int n, float factor)
{
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) part[threadIdx.x] = x[i];
    __syncthreads();
    if (i < n) y[i] = factor * part[threadIdx.x];
}

#if __CUDA_ARCH__ >= 900
/* Only where the launch has clusters of two blocks are all elements written. */
extern "C" __global__ void clustered(const float *x, float *y, int n, float factor)
{
    unsigned blocks;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && blocks == 2) y[i] = factor * x[i];
}
#endif

/* A type of each width, and a pointer to nothing. */
extern "C" __global__ void typed(const double *a, const signed char *b, const long long *c,
                                 double *y, long long n, short s, unsigned char u, double f,
                                 const void *nothing)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a[i] + b[i] + (double)c[i] + s + u + f + (nothing != nullptr);
}

template <class T> __global__ void converted(const float *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (T)x[i];
}
