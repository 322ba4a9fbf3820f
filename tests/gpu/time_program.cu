/*
 * time_program.cu - a program for tests/gpu/time.sh: two kernels in two NVTX ranges, and an end by
 * its argument. Built by that test, not by make.
 */
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

enum { N = 1 << 20 };

template <typename T> __global__ void scale(T *values, T by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) values[i] *= by;
}

/* About 200 us, whatever the clock. */
__global__ void spin()
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < 200000);
}

__global__ void fault(int *nowhere)
{
    *nowhere = 1;
}

static float *values;

static void scales(int count)
{
    for (int i = 0; i < count; i++)
        scale<float><<<N / 256, 256>>>(values, 1.5f);
}

static void in_graph()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < 3; i++)
        scale<float><<<N / 256, 256, 0, stream>>>(values, 0.5f);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    nvtxRangePushA("graph");
    for (int i = 0; i < 5; i++)
        cudaGraphLaunch(ready, stream);
    nvtxRangePop();
    cudaStreamSynchronize(stream);
}

static void end_as(const char *how)
{
    if (!strcmp(how, "graph")) in_graph();
    if (!strcmp(how, "thread")) std::thread(scales, 7).join();
    if (!strcmp(how, "reset")) {
        cudaDeviceSynchronize();
        cudaDeviceReset();
    }
    if (!strcmp(how, "many")) {
        scales(300000);
        cudaDeviceSynchronize();
    }
    if (!strcmp(how, "fault")) {
        cudaDeviceSynchronize();
        sleep(1);
        fault<<<1, 1>>>(nullptr);
        printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
        exit(7);
    }
    if (!strcmp(how, "abort")) {
        cudaDeviceSynchronize();
        sleep(1);
        abort();
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "child")) { /* before the first call to CUDA, as programs do it */
        pid_t pid = fork();
        if (pid > 0) waitpid(pid, NULL, 0);
    }
    cudaMalloc(&values, N * sizeof *values);
    nvtxRangePushA("warm up");
    scales(20);
    nvtxRangePop();
    nvtxRangePushA("work");
    for (int i = 0; i < 50; i++)
        spin<<<1, 1>>>();
    nvtxRangePop();
    scales(5);
    end_as(how);
    cudaDeviceSynchronize();
    puts("done");
    return 0;
}
