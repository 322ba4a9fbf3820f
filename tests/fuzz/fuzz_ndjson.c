/* fuzz_ndjson.c - `assay import` of NDJSON, and what is then shown. */
#include "tests/fuzz/fuzz_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import(fuzz_stream(data, size), store_import_ndjson);
    return 0;
}
