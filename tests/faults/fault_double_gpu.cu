/* fault_double_gpu.cu - the same faults on a GPU. */
#include <cuda_runtime.h>

#include "faults.h"

static int64_t elements(const struct assay_call *call)
{
    return call->shape->value[FAULT_N];
}

/* Elements [begin, end); writes outside the buffer when they are. */
__global__ void fault_twice(const float *x, float *y, int64_t begin, int64_t end)
{
    int64_t i = begin + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < end) y[i] = 2 * x[i < 0 ? 0 : i];
}

__global__ void fault_bad_pointer(void)
{
    *(volatile int *)8 = 1;
}

__global__ void fault_trap(void)
{
    __trap();
}

__global__ void fault_spin(volatile int *flag)
{
    while (*flag == 0)
        ;
}

static int launch_range(struct assay_call *call, int64_t begin, int64_t end)
{
    int64_t blocks = (end - begin + 255) / 256;
    fault_twice<<<(unsigned)blocks, 256, 0, (cudaStream_t)call->stream>>>(
        (const float *)call->buffer[FAULT_X], (float *)call->buffer[FAULT_Y], begin, end);
    return assay_launched();
}

static int right(struct assay_call *call)
{
    return launch_range(call, 0, elements(call));
}

static int bad_pointer(struct assay_call *call)
{
    fault_bad_pointer<<<1, 1, 0, (cudaStream_t)call->stream>>>();
    return assay_launched();
}

static int traps(struct assay_call *call)
{
    fault_trap<<<1, 1, 0, (cudaStream_t)call->stream>>>();
    return assay_launched();
}

static int hang_setup(struct assay_call *call)
{
    if (assay_cuda(cudaMalloc(&call->state, sizeof(int)), "allocating") < 0) return -1;
    return assay_cuda(cudaMemset(call->state, 0, sizeof(int)), "setting");
}

static void hang_teardown(struct assay_call *call)
{
    cudaFree(call->state);
}

static int hangs(struct assay_call *call)
{
    fault_spin<<<1, 1, 0, (cudaStream_t)call->stream>>>((volatile int *)call->state);
    return assay_launched();
}

/* Takes the device's memory piece by piece and keeps it. */
static int greedy_setup(struct assay_call *call)
{
    for (size_t piece = (size_t)1 << 32; piece >= ((size_t)1 << 20); piece /= 2) {
        void *memory;
        while (cudaMalloc(&memory, piece) == cudaSuccess)
            ;
    }
    cudaGetLastError();
    return 0;
}

static int overruns(struct assay_call *call)
{
    return launch_range(call, 0, elements(call) + 3);
}

static int underruns(struct assay_call *call)
{
    return launch_range(call, -2, elements(call));
}

static int forgets_the_end(struct assay_call *call)
{
    return launch_range(call, 0, elements(call) - 1);
}

static int aborts(struct assay_call *call)
{
    abort();
}

/* Right once and lazy ever after. */
static int lazy(struct assay_call *call)
{
    if (call->state) return 0;
    call->state = call;
    return right(call);
}

/* Nothing in every second launch. */
static int every_second(struct assay_call *call)
{
    static int launches;
    return launches++ % 2 ? 0 : right(call);
}

static int skips_a_block(struct assay_call *call)
{
    if (launch_range(call, 0, 40001) < 0) return -1;
    return launch_range(call, 40001 + 32768, elements(call));
}

/* The first launch computes; the others copy what it left. */
struct kept {
    bool known;
    void *y;
};

static int keep_setup(struct assay_call *call)
{
    struct kept *kept = (struct kept *)calloc(1, sizeof *kept);
    if (!kept) return assay_error("no memory");
    call->state = kept;
    return assay_cuda(cudaMalloc(&kept->y, (size_t)elements(call) * sizeof(float)), "allocating");
}

static int computes_once(struct assay_call *call)
{
    struct kept *kept = (struct kept *)call->state;
    size_t bytes = (size_t)elements(call) * sizeof(float);
    void *y = call->buffer[FAULT_Y];
    if (!kept->known && right(call) < 0) return -1;
    cudaError_t error = cudaMemcpyAsync(kept->known ? y : kept->y, kept->known ? kept->y : y, bytes,
                                        cudaMemcpyDeviceToDevice, (cudaStream_t)call->stream);
    kept->known = true;
    return assay_cuda(error, "copying");
}

static void keep_teardown(struct assay_call *call)
{
    struct kept *kept = (struct kept *)call->state;
    if (kept) cudaFree(kept->y);
    free(kept);
}

static int too_many_threads(struct assay_call *call)
{
    fault_twice<<<1, 4096, 0, (cudaStream_t)call->stream>>>(NULL, NULL, 0, 0);
    return assay_launched();
}

#define FAULT(function)                                                                            \
    static const struct assay_variant gpu_##function = {.operation = "fault_double",               \
                                                        .name = #function,                         \
                                                        .summary = "a fault",                      \
                                                        .kind = ASSAY_KERNEL,                      \
                                                        .place = ASSAY_CUDA,                       \
                                                        .launch = function};                       \
    ASSAY_REGISTER_VARIANT(gpu_##function)

FAULT(bad_pointer);
FAULT(traps);
FAULT(overruns);
FAULT(underruns);
FAULT(forgets_the_end);
FAULT(aborts);
FAULT(lazy);
FAULT(every_second);
FAULT(skips_a_block);
FAULT(too_many_threads);

static const struct assay_variant gpu_right = {.operation = "fault_double",
                                               .name = "right",
                                               .summary = "does what it should",
                                               .kind = ASSAY_BASELINE,
                                               .place = ASSAY_CUDA,
                                               .launch = right};
ASSAY_REGISTER_VARIANT(gpu_right);

static const struct assay_variant gpu_computes_once = {.operation = "fault_double",
                                                       .name = "computes_once",
                                                       .summary = "copies an earlier answer",
                                                       .kind = ASSAY_KERNEL,
                                                       .place = ASSAY_CUDA,
                                                       .setup = keep_setup,
                                                       .launch = computes_once,
                                                       .teardown = keep_teardown};
ASSAY_REGISTER_VARIANT(gpu_computes_once);

static const struct assay_variant gpu_hangs = {.operation = "fault_double",
                                               .name = "hangs",
                                               .summary = "never ends",
                                               .kind = ASSAY_KERNEL,
                                               .place = ASSAY_CUDA,
                                               .setup = hang_setup,
                                               .launch = hangs,
                                               .teardown = hang_teardown};
ASSAY_REGISTER_VARIANT(gpu_hangs);

static const struct assay_variant gpu_greedy = {.operation = "fault_double",
                                                .name = "greedy",
                                                .summary = "takes all memory",
                                                .kind = ASSAY_KERNEL,
                                                .place = ASSAY_CUDA,
                                                .setup = greedy_setup,
                                                .launch = right};
ASSAY_REGISTER_VARIANT(gpu_greedy);
