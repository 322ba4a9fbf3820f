#include "store/postgres/pq.h"

#include <stdbool.h>
#include <stdlib.h>

#include "assay.h"
#include "base/error.h"
#include "base/library.h"

#define AT(member) offsetof(struct pq, member)
static const struct library_symbol symbols[] = {
    {"PQconnectdb", NULL, AT(connect), false},
    {"PQfinish", NULL, AT(finish), false},
    {"PQstatus", NULL, AT(status), false},
    {"PQerrorMessage", NULL, AT(error), false},
    {"PQsetNoticeProcessor", NULL, AT(notices), false},
    {"PQexec", NULL, AT(exec), false},
    {"PQexecParams", NULL, AT(exec_params), false},
    {"PQgetResult", NULL, AT(next), false},
    {"PQresultStatus", NULL, AT(result_status), false},
    {"PQresultErrorField", NULL, AT(result_field), false},
    {"PQntuples", NULL, AT(rows), false},
    {"PQgetvalue", NULL, AT(value), false},
    {"PQcmdTuples", NULL, AT(changes), false},
    {"PQclear", NULL, AT(clear), false},
    {"PQputCopyData", NULL, AT(copy_put), false},
    {"PQputCopyEnd", NULL, AT(copy_end), false},
    {"PQgetCopyData", NULL, AT(copy_get), false},
    {"PQfreemem", NULL, AT(free), false},
    {"PQescapeLiteral", NULL, AT(literal), false},
};
#undef AT

/* Loaded once and kept. */
struct pq pq;

int pq_load(void)
{
    static bool is_loaded;
    const char *chosen = getenv("ASSAY_LIBPQ");
    const char *const names[] = {chosen && *chosen ? chosen : "libpq.so.5", NULL};
    const char *const patterns[] = {NULL};
    if (is_loaded) return 0;
    void *library = library_open(names, patterns);
    if (!library)
        return assay_error("PostgreSQL's client library cannot be loaded (Debian's package "
                           "libpq5): %s",
                           assay_last_error());
    if (library_bind(library, symbols, sizeof symbols / sizeof *symbols, &pq) != 0)
        return assay_error("PostgreSQL's client library cannot be used: %s", assay_last_error());
    is_loaded = true;
    return 0;
}
