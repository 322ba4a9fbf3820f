#include <stdlib.h>
#include <string.h>

#include "device/cuda/symbols.h"

enum { FIRST_CAPACITY = 1024 }; /* a power of two */

/* The slot of the name, or the free slot where it would be added. */
static size_t slot_of(const struct symbols *symbols, const char *name, uint64_t name_hash)
{
    size_t slot = name_hash & (symbols->capacity - 1);
    while (symbols->slots[slot] && (symbols->slots[slot]->name_hash != name_hash ||
                                    strcmp(symbols->slots[slot]->name, name)))
        slot = (slot + 1) & (symbols->capacity - 1);
    return slot;
}

static int grow(struct symbols *symbols)
{
    struct symbols larger = {.capacity =
                                 symbols->capacity ? 2 * symbols->capacity : FIRST_CAPACITY};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return -1;
    larger.count = symbols->count;
    for (size_t i = 0; i < symbols->capacity; i++)
        if (symbols->slots[i])
            larger.slots[slot_of(&larger, symbols->slots[i]->name, symbols->slots[i]->name_hash)] =
                symbols->slots[i];
    free(symbols->slots);
    *symbols = larger;
    return 0;
}

struct symbol *symbols_intern(struct symbols *symbols, const char *name)
{
    /* At most half full, so that probing stays short. */
    if (2 * symbols->count >= symbols->capacity && grow(symbols)) return NULL;
    size_t length = strlen(name);
    uint64_t name_hash = code_hash_of(name, length).word[0];
    size_t slot = slot_of(symbols, name, name_hash);
    if (symbols->slots[slot]) return symbols->slots[slot];

    struct symbol *symbol = calloc(1, sizeof *symbol + length + 1);
    if (!symbol) return NULL;
    symbol->name_hash = name_hash;
    memcpy(symbol->name, name, length + 1);
    symbols->slots[slot] = symbol;
    symbols->count++;
    return symbol;
}

const struct symbol *symbols_find(const struct symbols *symbols, const char *name)
{
    if (symbols->count == 0) return NULL;
    return symbols->slots[slot_of(symbols, name, code_hash_of(name, strlen(name)).word[0])];
}

void symbol_see(struct symbol *symbol, struct code_hash code)
{
    if (symbol->state == CODE_UNSEEN) {
        symbol->code = code;
        symbol->state = CODE_SEEN;
    } else if (memcmp(&symbol->code, &code, sizeof code)) {
        symbol->state = CODE_AMBIGUOUS;
    }
}

static void see_function(const char *name, struct code_hash hash, void *context)
{
    struct symbol *symbol = symbols_intern(context, name);
    if (symbol) symbol_see(symbol, hash);
}

void symbols_see_module(struct symbols *symbols, const void *cubin, size_t size)
{
    cubin_each_function(cubin, size, see_function, symbols);
}

void symbols_release(struct symbols *symbols)
{
    for (size_t i = 0; i < symbols->capacity; i++)
        free(symbols->slots[i]);
    free(symbols->slots);
    *symbols = (struct symbols){0};
}
