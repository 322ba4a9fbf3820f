#define _GNU_SOURCE /* tdestroy */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda/symbols.h"

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct symbol *)left)->name, ((const struct symbol *)right)->name);
}

const struct symbol *symbols_find(const struct symbols *symbols, const char *name)
{
    void *const *found = tfind(&(struct symbol){.name = name}, &symbols->root, by_name);
    return found ? *found : NULL;
}

struct symbol *symbols_intern(struct symbols *symbols, const char *name)
{
    struct symbol *known = (struct symbol *)symbols_find(symbols, name);
    if (known) return known;
    size_t size = strlen(name) + 1;
    struct symbol *symbol = calloc(1, sizeof *symbol + size);
    if (!symbol) return NULL;
    symbol->name = memcpy(symbol->text, name, size);
    if (!tsearch(symbol, &symbols->root, by_name)) {
        free(symbol);
        return NULL;
    }
    symbols->count++;
    return symbol;
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
    tdestroy(symbols->root, free);
    *symbols = (struct symbols){0};
}
