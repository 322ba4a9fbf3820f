/* fuzz_cubin.c - machine code as CUPTI hands it over: an ELF file. */
#include "device/cuda/cubin_identity.h"
#include "tests/fuzz/fuzz.h"

static void each(const char *name, struct code_hash hash, void *context)
{
    *(size_t *)context += strlen(name) + (hash.word[0] & 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t sum = 0;
    struct code_hash hash;
    cubin_each_function(data, size, each, &sum);
    cubin_identity(data, size, &hash);
    return 0;
}
