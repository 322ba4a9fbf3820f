#include "store/postgres/pq.h"

#include <stdbool.h>
#include <stdlib.h>

#include "assay.h"
#include "base/error.h"

#define SYMBOL(member, result, parameters, name) {name, NULL, offsetof(struct pq, member), false},
static const struct library_symbol symbols[] = {EACH_PQ_CALL(SYMBOL)};

/* Loaded once and kept. */
struct pq pq;

int pq_load(void)
{
    static bool is_loaded;
    const char *chosen = getenv("ASSAY_LIBPQ");
    const char *const names[] = {chosen && *chosen ? chosen : "libpq.so.5", NULL};
    if (is_loaded) return 0;
    void *library = library_open(names, NULL);
    if (!library)
        return assay_error("PostgreSQL's client library cannot be loaded (Debian's package "
                           "libpq5): %s",
                           assay_last_error());
    if (library_bind(library, symbols, sizeof symbols / sizeof *symbols, &pq) != 0)
        return assay_error("PostgreSQL's client library cannot be used: %s", assay_last_error());
    is_loaded = true;
    return 0;
}
