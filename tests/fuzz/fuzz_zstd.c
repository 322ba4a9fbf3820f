/* fuzz_zstd.c - reading what claims to be compressed. */
#include "base/zstd_file.h"
#include "tests/fuzz/fuzz.h"

/* Everything that can be read, thrown away. */
static void read_all(FILE *packed)
{
    struct zstd_file file;
    char piece[4096];
    if (zstd_open_read(&file, "input", packed) != 0) return;
    while (fread(piece, 1, sizeof piece, file.stream) > 0)
        ;
    zstd_close(&file, ferror(file.stream) ? -1 : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *packed = fuzz_stream(data, size);
    if (!packed) return 0;
    read_all(packed);
    fclose(packed);
    return 0;
}
