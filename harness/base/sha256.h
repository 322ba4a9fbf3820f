/*
 * sha256.h - SHA-256 (FIPS 180-4), so that what is hashed can be held against sha256sum(1).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SHA256_TEXT = 65 }; /* 64 hex digits and the end */

struct sha256 {
    uint32_t state[8];
    uint8_t block[64];
    uint64_t bytes; /* so far */
};

void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t bytes);
/* The hash of all that was added, in hex. */
void sha256_end(struct sha256 *hash, char text[SHA256_TEXT]);

/* That of what is read from a descriptor, up to its end. 0, or -1 with errno. */
int sha256_file(int fd, char text[SHA256_TEXT]);
