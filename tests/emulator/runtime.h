/*
 * runtime.h - what the parts of the emulated runtime share: the files that include it stand in for
 * libcudart_static.a. A call does what it is for at once, and in order.
 */
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "emulator.h"

struct CUevent_st {
    double at_ms;
};
struct CUgraph_st {
    std::vector<std::function<void()>> nodes;
};
struct CUgraphExec_st {
    std::vector<std::function<void()>> nodes;
};
struct CUstream_st {
    CUgraph_st *capture;
};

namespace emu
{

extern cudaError_t last,
    broken; /* as CUDA has them; broken: a kernel did what it may not, and it stays */

cudaError_t fail(cudaError_t e); /* remembers it */
double now_ms();
cudaError_t enqueue(cudaStream_t stream,
                    std::function<void()> run); /* now, or later if it is being captured */

} // namespace emu
