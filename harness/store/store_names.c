/* store_names.c - the names that a database knows, for those who type them. */
#include "store/store_internal.h"

int store_each_case_name(struct store *store, int (*each)(const char *name, void *context),
                         void *context)
{
    /* A seek in the index a name, where DISTINCT would walk through every result. */
    static const char sql[] =
        "WITH RECURSIVE one (operation) AS ("
        " SELECT min(operation) FROM result"
        " UNION ALL SELECT (SELECT min(operation) FROM result WHERE operation > one.operation)"
        " FROM one WHERE operation IS NOT NULL),"
        " pair (operation, variant) AS ("
        " SELECT operation, (SELECT min(variant) FROM result WHERE operation = one.operation)"
        " FROM one WHERE operation IS NOT NULL"
        " UNION ALL SELECT operation, (SELECT min(variant) FROM result"
        "  WHERE operation = pair.operation AND variant > pair.variant)"
        " FROM pair WHERE variant IS NOT NULL)"
        " SELECT operation || '/' || variant AS name FROM pair WHERE variant IS NOT NULL"
        " ORDER BY operation, variant";
    struct query query;
    int status = 0;
    query_open(&query, store, "read the names of cases", sql);
    while (status == 0 && query_step(&query) == 1) {
        char name[2 * ASSAY_MAX_NAME + 2];
        column_text(&query, "name", name, sizeof name);
        status = each(name, context);
    }
    return query_close(&query) != 0 ? -1 : status;
}

const char *store_library(void)
{
    return sqlite3_libversion();
}
