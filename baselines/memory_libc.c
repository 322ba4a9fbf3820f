/*
 * memory_libc.c - `memory` by the C library's memcpy and memset, on one core and on all.
 *
 * Bytes: those of the operation. Operations: none.
 */
#include <omp.h>
#include <string.h>

#include "kernels/ceilings/memory.h"

static const char *supports_copy(const struct assay_shape *shape)
{
    return shape->value[MEMORY_MIX] == MEMORY_COPY ? NULL : "a copy only";
}

static const char *supports_set(const struct assay_shape *shape)
{
    return shape->value[MEMORY_MIX] == MEMORY_WRITE ? NULL : "a write only";
}

/* This thread's part of `bytes`, in whole pages, so that no two threads write to one page. */
static void thread_part(size_t bytes, size_t *begin, size_t *end)
{
    enum { PAGE = 4096 };
    size_t threads = (size_t)omp_get_num_threads(), thread = (size_t)omp_get_thread_num();
    size_t each = (bytes / threads + PAGE - 1) / PAGE * PAGE;
    *begin = each * thread < bytes ? each * thread : bytes;
    *end = *begin + each < bytes && thread + 1 < threads ? *begin + each : bytes;
}

static int launch_copy(struct assay_call *call)
{
    memcpy(call->buffer[MEMORY_OUT], call->buffer[MEMORY_IN],
           4 * (size_t)memory_layout(call->shape).out_words);
    return 0;
}

static int launch_copy_omp(struct assay_call *call)
{
    size_t bytes = 4 * (size_t)memory_layout(call->shape).out_words;
#pragma omp parallel
    {
        size_t begin, end;
        thread_part(bytes, &begin, &end);
        memcpy((char *)call->buffer[MEMORY_OUT] + begin,
               (const char *)call->buffer[MEMORY_IN] + begin, end - begin);
    }
    return 0;
}

static int launch_set(struct assay_call *call)
{
    memset(call->buffer[MEMORY_OUT], MEMORY_BYTE_WRITTEN,
           4 * (size_t)memory_layout(call->shape).out_words);
    return 0;
}

static int launch_set_omp(struct assay_call *call)
{
    size_t bytes = 4 * (size_t)memory_layout(call->shape).out_words;
#pragma omp parallel
    {
        size_t begin, end;
        thread_part(bytes, &begin, &end);
        memset((char *)call->buffer[MEMORY_OUT] + begin, MEMORY_BYTE_WRITTEN, end - begin);
    }
    return 0;
}

static const struct assay_variant libc_memcpy = {
    .operation = "memory",
    .name = "memcpy",
    .summary = "the C library's memcpy on one core",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = supports_copy,
    .launch = launch_copy,
};
static const struct assay_variant libc_memcpy_omp = {
    .operation = "memory",
    .name = "memcpy_omp",
    .summary = "the C library's memcpy on every core",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = supports_copy,
    .launch = launch_copy_omp,
};
static const struct assay_variant libc_memset = {
    .operation = "memory",
    .name = "memset",
    .summary = "the C library's memset on one core",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = supports_set,
    .launch = launch_set,
};
static const struct assay_variant libc_memset_omp = {
    .operation = "memory",
    .name = "memset_omp",
    .summary = "the C library's memset on every core",
    .kind = ASSAY_BASELINE,
    .place = ASSAY_HOST,
    .supports = supports_set,
    .launch = launch_set_omp,
};
ASSAY_REGISTER_VARIANT(libc_memcpy);
ASSAY_REGISTER_VARIANT(libc_memcpy_omp);
ASSAY_REGISTER_VARIANT(libc_memset);
ASSAY_REGISTER_VARIANT(libc_memset_omp);
