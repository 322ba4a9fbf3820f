/*
 * symbols.h - the kernels of a process by mangled name: each name kept once,
 * with the hash of its machine code where the code was seen. Pure.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include "device/cuda/cubin.h"

enum code_state {
    CODE_UNSEEN,
    CODE_SEEN,
    CODE_AMBIGUOUS, /* two kernels of one name have different code */
};

struct symbol {
    struct code_hash code; /* CODE_SEEN only */
    enum code_state state;
    uint64_t name_hash;
    char name[];
};

struct symbols {
    struct symbol **slots; /* open addressing, linear probing */
    size_t capacity, count;
};

/* The symbol of that name, made if new. It keeps its address until
 * symbols_release. NULL when there is no memory left. */
struct symbol *symbols_intern(struct symbols *symbols, const char *name);

/* NULL when the name is not known. */
const struct symbol *symbols_find(const struct symbols *symbols, const char *name);

/* Note code that was seen under this name. */
void symbol_see(struct symbol *symbol, struct code_hash code);

/* Note the code of every function of a module (its cubin). One that cannot be read is
 * passed over: its kernels stay without a hash. */
void symbols_see_module(struct symbols *symbols, const void *cubin, size_t size);

void symbols_release(struct symbols *symbols);

#endif
