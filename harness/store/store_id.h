/*
 * store_id.h - how rows are named, so that databases merge: 128 bits as 32 hex
 * digits, either random (a run, a launch) or a hash of what the row says (an
 * environment, a device, a result), so that equal rows have equal names
 * wherever they were made.
 *
 * The hash is FNV-1a with 128 bits (Fowler, Noll and Vo; the constants are those
 * of the IETF draft "The FNV Non-Cryptographic Hash Algorithm"). It tells
 * honest rows apart; it does not withstand a forger, and nothing here asks it to.
 */
#pragma once

#include <stddef.h>

enum { ID_SIZE = 33 }; /* 32 hex digits and the end */

struct id_hash {
    unsigned __int128 state;
};

void id_hash_begin(struct id_hash *hash);
/* Bytes as they are: two calls hash like one with both. */
void id_hash_bytes(struct id_hash *hash, const void *bytes, size_t size);
/* Text and its end, so that "ab","c" and "a","bc" differ. */
void id_hash_text(struct id_hash *hash, const char *text);
void id_hash_end(const struct id_hash *hash, char id[ID_SIZE]);

/* 0, or -1 with assay_error when the system has no random bytes. */
int id_random(char id[ID_SIZE]);
