/*
 * @NAME@.cu - a variant of @OPERATION@ on the GPU. It begins as the reference on the host with the
 * copies around it, which is right and slow (ASSAY_CLOCK_WALL, because it waits): put your kernel in
 * the place of what launch does, end it with `return assay_launched();`, and take the clock out.
 * In call->buffer, for the suite's shape, in device memory:
 *
@BUFFERS@
 */
#include <assay.h>
#include <cmath>
#include <vector>

static int fetch(const struct assay_call *call, int buffer, std::vector<char> &host)
{
    return assay_cuda(cudaMemcpyAsync(host.data(), call->buffer[buffer], host.size(),
                                      cudaMemcpyDeviceToHost, (cudaStream_t)call->stream),
                      "copy to the host") ||
           assay_cuda(cudaStreamSynchronize((cudaStream_t)call->stream), "copy to the host");
}

static int compute(const struct assay_call *call, const void *const in[], int buffer,
                   const struct assay_buffer &about)
{
    std::vector<double> expected(about.count), bound(about.count, NAN);
    std::vector<char> host(about.count * assay_type_bytes(about.type));
    if (call->shape->operation->reference(call->shape, in, buffer, 0, about.count, expected.data(),
                                          bound.data()))
        return -1;
    for (int64_t i = 0; i < about.count; i++)
        assay_store(about.type, host.data(), i,
                    about.type < ASSAY_I8 ? expected[i] : rint(expected[i]));
    return assay_cuda(cudaMemcpyAsync(call->buffer[buffer], host.data(), host.size(),
                                      cudaMemcpyHostToDevice, (cudaStream_t)call->stream),
                      "copy to the device") ||
           assay_cuda(cudaStreamSynchronize((cudaStream_t)call->stream), "copy to the device");
}

static int launch(struct assay_call *call)
{
    struct assay_buffer buffers[ASSAY_MAX_BUFFERS];
    std::vector<char> host[ASSAY_MAX_BUFFERS];
    const void *in[ASSAY_MAX_BUFFERS] = {};
    int count = call->shape->operation->buffers(call->shape, buffers);
    for (int i = 0; i < count; i++) {
        if (buffers[i].role != ASSAY_IN) continue;
        host[i].resize(buffers[i].count * assay_type_bytes(buffers[i].type));
        if (fetch(call, i, host[i])) return -1;
        in[i] = host[i].data();
    }
    for (int i = 0; i < count; i++)
        if (buffers[i].role == ASSAY_OUT && compute(call, in, i, buffers[i])) return -1;
    return 0;
}

static const struct assay_variant variant = {
    .operation = "@OPERATION@",
    .name = "@NAME@",
    .summary = "the reference with copies around it, to begin with",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .clock = ASSAY_CLOCK_WALL,
    .launch = launch,
};
ASSAY_REGISTER_VARIANT(variant);
