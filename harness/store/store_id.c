/* store_id.c - random and content-hash names of rows. */
#include "store/store_id.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "assay.h"

static unsigned __int128 wide(uint64_t high, uint64_t low)
{
    return (unsigned __int128)high << 64 | low;
}

void id_hash_begin(struct id_hash *hash)
{
    hash->state = wide(0x6c62272e07bb0142, 0x62b821756295c58d);
}

void id_hash_bytes(struct id_hash *hash, const void *bytes, size_t size)
{
    const unsigned __int128 prime = wide(1 << 24, 0x13b);
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++) {
        hash->state ^= byte[i];
        hash->state *= prime;
    }
}

void id_hash_text(struct id_hash *hash, const char *text)
{
    id_hash_bytes(hash, text, strlen(text) + 1);
}

void id_hash_end(const struct id_hash *hash, char id[ID_SIZE])
{
    snprintf(id, ID_SIZE, "%016llx%016llx", (unsigned long long)(hash->state >> 64),
             (unsigned long long)hash->state);
}

int id_random(char id[ID_SIZE])
{
    uint64_t half[2];
    ssize_t got;
    do {
        got = getrandom(half, sizeof half, 0);
    } while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof half)
        return assay_error("cannot make a random id: %s", strerror(errno));
    snprintf(id, ID_SIZE, "%016llx%016llx", (unsigned long long)half[0],
             (unsigned long long)half[1]);
    return 0;
}
