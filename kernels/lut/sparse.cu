/*
 * sparse.cu - the table without its zeros, which are 3 to 41 % of its entries: as sorted
 * coordinates (coo) or as rows (csr). An entry is found by bisection.
 *
 * Operations: M^2 lookups per pair of blocks, each log2 of the number of entries searched: all of
 * them (coo) or those of a row (csr). Bytes per stored entry: 4 for its position and 4 for its
 * value (coo), 2 and 4 (csr); a dense entry has 1 to 4. With a third of the entries zero, the
 * sparse table is the larger one.
 */
#include "table.cuh"
#include "kernels/cuda/device_memory.h"

enum { THREADS = 256 };

struct sparse_state {
    uint32_t *positions; /* coo: left * q^d + right, ascending */
    uint16_t *columns;   /* csr: right, ascending in a row */
    int32_t *starts;     /* csr: where row `left` begins; one more at the end */
    float *values;
    int64_t
        entries; /* of 8 bytes: a gap behind it would be handed to kernels with what was there */
};

/* The place of `key` in sorted[begin, end), or -1. */
template <typename Key>
static __device__ __forceinline__ int find(const Key *sorted, int begin, int end, uint32_t key)
{
    int last = end;
    while (begin < end) {
        int middle = begin + (end - begin) / 2;
        if (sorted[middle] < key)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < last && sorted[begin] == key ? begin : -1;
}

struct lookup_coo {
    struct sparse_state table;
    int64_t count;

    __device__ __forceinline__ int operator()(uint32_t left, uint32_t right) const
    {
        int at = find(table.positions, 0, (int)table.entries, (uint32_t)(left * count + right));
        return at < 0 ? 0 : (int)table.values[at];
    }
};

struct lookup_csr {
    struct sparse_state table;

    __device__ __forceinline__ int operator()(uint32_t left, uint32_t right) const
    {
        int at = find(table.columns, table.starts[left], table.starts[left + 1], right);
        return at < 0 ? 0 : (int)table.values[at];
    }
};

template <class Lookup>
static __global__ void __launch_bounds__(THREADS) sparse(struct table_args args, Lookup lookup)
{
    int64_t at = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (at < args.geometry.rows * args.geometry.columns)
        element(args, at / args.geometry.columns, at % args.geometry.columns, lookup);
}

/* -------------------------------------------------------------- tables -- */

/* The table's entries that are not zero, on the host; `count` is q^d. */
struct sparse_host {
    uint32_t *positions;
    uint16_t *columns;
    int32_t *starts;
    float *values;
    int32_t entries;
};

static void host_release(struct sparse_host *host)
{
    free(host->values);
    free(host->starts);
    free(host->columns);
    free(host->positions);
}

static int host_init(struct sparse_host *host, const struct codebook *codebook)
{
    size_t most = (size_t)(codebook->count * codebook->count);
    host->positions = (uint32_t *)malloc(most * sizeof *host->positions);
    host->columns = (uint16_t *)malloc(most * sizeof *host->columns);
    host->starts = (int32_t *)malloc((size_t)(codebook->count + 1) * sizeof *host->starts);
    host->values = (float *)malloc(most * sizeof *host->values);
    host->entries = 0;
    if (!host->positions || !host->columns || !host->starts || !host->values)
        return assay_error("out of host memory for the table");
    for (int64_t left = 0; left < codebook->count; left++) {
        host->starts[left] = host->entries;
        for (int64_t right = 0; right < codebook->count; right++) {
            int entry = codebook_entry(codebook, left, right);
            if (entry == 0) continue;
            host->positions[host->entries] = (uint32_t)(left * codebook->count + right);
            host->columns[host->entries] = (uint16_t)right;
            host->values[host->entries++] = (float)entry;
        }
    }
    host->starts[codebook->count] = host->entries;
    return 0;
}

static int upload(struct assay_call *call, void **device, const void *host, size_t bytes)
{
    if (assay_cuda(cudaMalloc(device, bytes), "table")) return -1;
    call->workspace_bytes += (int64_t)bytes;
    return device_upload(*device, host, bytes, "table");
}

static int upload_table(struct assay_call *call, struct sparse_state *state,
                        const struct sparse_host *host, int64_t count, bool csr)
{
    size_t entries = (size_t)host->entries;
    state->entries = host->entries;
    if (upload(call, (void **)&state->values, host->values, entries * sizeof(float))) return -1;
    if (!csr)
        return upload(call, (void **)&state->positions, host->positions,
                      entries * sizeof(uint32_t));
    if (upload(call, (void **)&state->columns, host->columns, entries * sizeof(uint16_t)))
        return -1;
    return upload(call, (void **)&state->starts, host->starts,
                  (size_t)(count + 1) * sizeof(int32_t));
}

template <bool CSR> static int setup(struct assay_call *call)
{
    const struct codebook *codebook = lut_codebook(call->shape);
    struct sparse_state *state = (struct sparse_state *)calloc(1, sizeof *state);
    struct sparse_host host = {};
    if (state == NULL) return assay_error("out of host memory");
    call->state = state;
    if (codebook == NULL) return -1;
    int status = host_init(&host, codebook);
    if (status == 0) status = upload_table(call, state, &host, codebook->count, CSR);
    host_release(&host);
    return status;
}

/* ------------------------------------------------------------- variants -- */

static const char *supports(const struct assay_shape *shape)
{
    struct lut_geometry geometry = lut_geometry(shape);
    if (geometry.count > 256) return "the sparse table of more than 256 codewords is too large";
    return NULL;
}

template <bool CSR> static int launch(struct assay_call *call)
{
    const struct sparse_state *state = (const struct sparse_state *)call->state;
    struct table_args args = table_args_of(call);
    int64_t outputs = args.geometry.rows * args.geometry.columns;
    unsigned grid = (unsigned)((outputs + THREADS - 1) / THREADS);
    cudaStream_t stream = (cudaStream_t)call->stream;
    if (CSR)
        sparse<<<grid, THREADS, 0, stream>>>(args, lookup_csr{*state});
    else
        sparse<<<grid, THREADS, 0, stream>>>(args, lookup_coo{*state, args.geometry.count});
    return assay_launched();
}

static void teardown(struct assay_call *call)
{
    struct sparse_state *state = (struct sparse_state *)call->state;
    if (state == NULL) return;
    cudaFree(state->values);
    cudaFree(state->starts);
    cudaFree(state->columns);
    cudaFree(state->positions);
    free(state);
}

static const struct assay_variant coo = {
    .operation = "lut_matmul",
    .name = "coo",
    .summary = "the table's nonzeros as sorted coordinates, bisected",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup<false>,
    .launch = launch<false>,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(coo);

static const struct assay_variant csr = {
    .operation = "lut_matmul",
    .name = "csr",
    .summary = "the nonzeros of the table by rows, searched by bisection",
    .kind = ASSAY_KERNEL,
    .place = ASSAY_CUDA,
    .supports = supports,
    .setup = setup<true>,
    .launch = launch<true>,
    .teardown = teardown,
    .model = lut_model,
};
ASSAY_REGISTER_VARIANT(csr);
