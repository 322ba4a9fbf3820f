/*
 * damage.c - a copy of a file, damaged as a seed says: damage IN OUT SEED.
 *
 * Some bytes are changed, a page is put in the place of another, a part is cleared or the end is
 * cut off. The first hundred bytes, which say that it is a database, are mostly left.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, HEADER = 100, BYTES = 8 };

/* SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014). */
static uint64_t state;

static uint64_t draw(uint64_t below)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % below;
}

static void change_bytes(unsigned char *data, size_t size)
{
    for (int i = 0; i < BYTES; i++) {
        size_t first = draw(20) ? HEADER : 0;
        unsigned char *at = data + first + draw(size - first);
        *at = (unsigned char)(draw(2) ? *at ^ (1u << draw(8)) : draw(256));
    }
}

/* The start of a page says what it is and where its cells are. */
static void change_starts(unsigned char *data, size_t size)
{
    for (int i = 0; i < BYTES; i++)
        data[PAGE * (1 + draw(size / PAGE - 1)) + draw(16)] = (unsigned char)draw(256);
}

static void copy_page(unsigned char *data, size_t size)
{
    size_t pages = size / PAGE;
    memcpy(data + PAGE * (1 + draw(pages - 1)), data + PAGE * draw(pages), PAGE);
}

static void clear_part(unsigned char *data, size_t size)
{
    size_t at = HEADER + draw(size - HEADER), bytes = 1 + draw(2 * PAGE);
    memset(data + at, (int)draw(2) * 255, bytes < size - at ? bytes : size - at);
}

static size_t damage(unsigned char *data, size_t size)
{
    static void (*const ways[])(unsigned char *, size_t) = {change_bytes, change_bytes,
                                                            change_starts, copy_page, clear_part};
    enum { WAYS = sizeof ways / sizeof *ways };
    uint64_t way = draw(WAYS + 1);
    if (way < WAYS) {
        ways[way](data, size);
        return size;
    }
    return HEADER + draw(size - HEADER);
}

int main(int argc, char **argv)
{
    enum { MOST = 64 << 20 };
    unsigned char *data = malloc(MOST);
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL;
    FILE *out = in ? fopen(argv[2], "wb") : NULL;
    if (!data || !out) return 2;
    size_t size = fread(data, 1, MOST, in);
    if (size < 2 * PAGE) return 2;
    state = strtoull(argv[3], NULL, 10);
    size = damage(data, size);
    int failed = fwrite(data, 1, size, out) != size;
    failed |= fclose(out) != 0;
    fclose(in);
    free(data);
    return failed;
}
