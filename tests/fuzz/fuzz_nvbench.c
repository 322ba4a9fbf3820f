/* fuzz_nvbench.c - `assay import` of NVBench's JSON. Behind a NUL stands the file of samples, which
 * the JSON names as "s". */
#include <fcntl.h>

#include "store/exchange/store_foreign.h"
#include "tests/fuzz/fuzz_store.h"

/* Samples are looked for beside the JSON: in the current folder. */
static void write_samples(const uint8_t *data, size_t size)
{
    int fd = open("s", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size, "samples are written");
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, 0, size);
    size_t json = end ? (size_t)(end - data) : size;
    if (end) write_samples(end + 1, size - json - 1);
    fuzz_import(fuzz_stream(data, json), store_import_nvbench);
    if (end) unlink("s");
    return 0;
}
