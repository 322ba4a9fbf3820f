/*
 * symbols.h - a table of names, each of them once: of the kernels of a process, mangled, with the
 * hash of the machine code if the module was seen loading; and of ranges. Pure.
 */
#pragma once

#include "device/cuda/cubin.h"

enum code_state {
    CODE_UNSEEN,
    CODE_SEEN,
    CODE_AMBIGUOUS, /* two kernels with this name have different code */
};

struct symbol {
    const char *name;
    struct code_hash code; /* CODE_SEEN only */
    enum code_state state;
    uint32_t number; /* for who numbers names; 0: it has none yet */
    char text[];     /* of the name */
};

struct symbols {
    void *root; /* of tsearch(3), by name */
    size_t count;
};

/* Find or add; the address is valid until symbols_release. NULL when out of memory. */
struct symbol *symbols_intern(struct symbols *symbols, const char *name);

/* NULL when the name is unknown. */
const struct symbol *symbols_find(const struct symbols *symbols, const char *name);

/* Record that this code was seen under the symbol's name. */
void symbol_see(struct symbol *symbol, struct code_hash code);

/* Record the code of every function of a module (its cubin). A module that cannot be read
 * is skipped: its kernels have no hash. */
void symbols_see_module(struct symbols *symbols, const void *cubin, size_t size);

void symbols_release(struct symbols *symbols);
