#define _GNU_SOURCE /* process_vm_readv */
#include "device/cuda/host_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Libraries, the heap and the stack lie high, and what the driver maps low is not taken for the
 * host's: there an upper half is a number like 2, which arguments have too. */
enum { LEAST_HALF = 0x4000, MOST_HALF = 0xffff, MOST_HALVES = 256 };

/* The upper halves of the addresses of this process, from /proc/self/maps. */
static struct {
    uint32_t half[MOST_HALVES];
    int count;
} known;

static bool is_known(uint32_t half)
{
    for (int i = 0; i < known.count; i++)
        if (known.half[i] == half) return true;
    return false;
}

/* Not those that are reserved only, which may be of any size. */
static void read_known(void)
{
    char line[512], mode;
    uint64_t begin, end;
    FILE *file = fopen("/proc/self/maps", "r");
    known.count = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &begin, &end, &mode) != 3) continue;
        uint64_t half = begin >> 32 > LEAST_HALF ? begin >> 32 : LEAST_HALF;
        for (; mode == 'r' && half <= (end - 1) >> 32; half++)
            if (known.count < MOST_HALVES && !is_known((uint32_t)half))
                known.half[known.count++] = (uint32_t)half;
    }
    if (file) (void)fclose(file);
}

/* Asked of the system, because memory comes and goes. */
static bool has_byte(uint64_t address)
{
    char byte;
    const struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)address, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

bool host_words_readable(uint64_t at, uint64_t bytes)
{
    return bytes == 0 || (has_byte(at) && has_byte(at + bytes - 1));
}

uint64_t host_words_plain(uint64_t word, bool *is_address)
{
    uint64_t half = word >> 32;
    *is_address = false;
    if (half < LEAST_HALF || half > MOST_HALF) return word;
    if (!is_known((uint32_t)half)) read_known();
    if (!is_known((uint32_t)half)) return word;
    *is_address = has_byte(word);
    return *is_address ? 0 : (uint32_t)word;
}

/* Seen with cuBLAS 13.0: the first word of a matrix, whose address is the third, was an address of
 * the stack in one process and of a mapping in two others. */
int host_words_unset(const char *kernel, int bytes)
{
    enum { MATRIX_BYTES = 24 };
    bool is_matrix = bytes >= MATRIX_BYTES && strstr(kernel, "magma_sgemmEx_kernel");
    return is_matrix ? (int)sizeof(uint64_t) : 0;
}
