/* sha256.c - see sha256.h. Names and steps are those of FIPS 180-4, section 6.2. */
#include "base/sha256.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t right(uint32_t x, int bits)
{
    return x >> bits | x << (32 - bits);
}

/* Each of the sigmas: two rotations, and one more or a shift. */
static uint32_t sigma(uint32_t x, int a, int b, int c)
{
    return right(x, a) ^ right(x, b) ^ right(x, c);
}

static void schedule(uint32_t w[64], const uint8_t block[64])
{
    for (int t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < 64; t++)
        w[t] = (right(w[t - 2], 17) ^ right(w[t - 2], 19) ^ w[t - 2] >> 10) + w[t - 7] +
               (right(w[t - 15], 7) ^ right(w[t - 15], 18) ^ w[t - 15] >> 3) + w[t - 16];
}

static void take_block(struct sha256 *hash, const uint8_t block[64])
{
    uint32_t w[64], *s = hash->state;
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
    schedule(w, block);
    for (int t = 0; t < 64; t++) {
        uint32_t choice = (e & f) ^ (~e & g);
        uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
        uint32_t t1 = h + sigma(e, 6, 11, 25) + choice + constants[t] + w[t];
        uint32_t t2 = sigma(a, 2, 13, 22) + majority;
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    s[0] += a, s[1] += b, s[2] += c, s[3] += d;
    s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

void sha256_begin(struct sha256 *hash)
{
    /* The fractional parts of the square roots of the first eight primes. */
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->bytes = 0;
}

void sha256_add(struct sha256 *hash, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    while (bytes > 0) {
        size_t used = hash->bytes % 64;
        size_t part = 64 - used < bytes ? 64 - used : bytes;
        if (part < 64) memcpy(hash->block + used, from, part);
        if (used + part == 64) take_block(hash, part < 64 ? hash->block : from);
        hash->bytes += part;
        from += part;
        bytes -= part;
    }
}

void sha256_end(struct sha256 *hash, char text[SHA256_TEXT])
{
    static const uint8_t padding[64] = {0x80};
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(8 * hash->bytes >> (56 - 8 * i));
    size_t used = hash->bytes % 64;
    sha256_add(hash, padding, used < 56 ? 56 - used : 120 - used);
    sha256_add(hash, length, sizeof length);
    for (int i = 0; i < 8; i++)
        snprintf(text + 8 * i, 9, "%08x", hash->state[i]);
}

int sha256_file(int fd, char text[SHA256_TEXT])
{
    enum { PIECE = 1 << 16 };
    struct sha256 hash;
    char *piece = malloc(PIECE);
    ssize_t got = -1;
    if (!piece) return -1;
    sha256_begin(&hash);
    while ((got = read(fd, piece, PIECE)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0) sha256_add(&hash, piece, (size_t)got);
    free(piece);
    sha256_end(&hash, text);
    return got < 0 ? -1 : 0;
}
