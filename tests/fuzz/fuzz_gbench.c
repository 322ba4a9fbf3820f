/* fuzz_gbench.c - `assay import` of Google Benchmark's JSON. */
#include "store/exchange/store_foreign.h"
#include "tests/fuzz/fuzz_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(fuzz_stream(data, size), store_import_gbench);
    return 0;
}
