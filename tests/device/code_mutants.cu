/* code_mutants.cu - what the kernels of this tree lack and test_code_mutants.c changes: constants,
 * variables and a function that is called. Compiled there, and linked nowhere. */
static __constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static __constant__ int bias = 3;
static __device__ int table[8] = {9, 8, 7, 6, 5, 4, 3, 2};
static __device__ int counter = 5;

static __device__ __noinline__ float callee(float x, int i)
{
    return fmaf(x, weights[i & 7], 1.5f) + (float)table[i & 3];
}

__global__ void __launch_bounds__(256) calls(float *p, int n)
{
    __shared__ float tile[256];
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    tile[threadIdx.x] = i < n ? p[i] : 0.25f;
    __syncthreads();
    if (i < n) p[i] = callee(tile[threadIdx.x ^ 31], i) + (float)bias;
    if (i == 0) atomicAdd(&counter, 1);
}
