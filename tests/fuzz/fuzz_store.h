/*
 * fuzz_store.h - a database in the current folder for the harnesses of imports: what comes in is
 * written out again in every format, and forgotten.
 */
#pragma once

#include "export/export.h"
#include "show/show.h"
#include "store/store.h"
#include "store/store_internal.h"
#include "store/store_rows.h"
#include "tests/fuzz/fuzz.h"

static inline struct store *fuzz_store(void)
{
    static struct store *store;
    if (store) return store;
    unlink("fuzz.sqlite"); /* of a process that was ended by what it found */
    fuzz_check(store_open(&store, "fuzz.sqlite", STORE_WRITE) == 0, "a database opens");
    return store;
}

static inline void fuzz_show_run(struct store *store, const char *id)
{
    static const char *const formats[] = {"ndjson", "csv", "gbench", "bmf", "prometheus"};
    const struct show_options all = {.ceilings = true, .width = 100};
    struct stored_run run;
    struct view view;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        exchange_export(exchange_format_named(formats[i], EXCHANGE_OUT), store, id, NULL,
                        fuzz_sink());
    if (store_read_run(store, id, true, &run) != 0) return;
    if (view_make(&view, &run) == 0) {
        show_table(fuzz_sink(), &view, &all);
        show_md(fuzz_sink(), &view);
        show_csv(fuzz_sink(), &view);
        show_json(fuzz_sink(), &view);
        view_release(&view);
    }
    stored_run_release(&run);
}

/* Read a stream by a format, show each run that came in, and delete everything. */
static inline void fuzz_import(FILE *in, int (*import)(struct store *, const char *, FILE *, int *))
{
    struct store *store = fuzz_store();
    char id[STORE_ID], sql[80];
    int rows, tables = 0;
    if (!in) return;
    int status = import(store, "input", in, &rows);
    fclose(in);
    if (status != 0) return; /* and nothing of it is there */
    for (int age = 0; age < 4; age++) {
        snprintf(sql, sizeof sql, "SELECT id FROM run ORDER BY id LIMIT 1 OFFSET %d", age);
        if (store_text(store, "fuzz", sql, NULL, id, sizeof id) == 1) fuzz_show_run(store, id);
    }
    while (exchange_tables[tables].table)
        tables++;
    while (tables-- > 0) {
        snprintf(sql, sizeof sql, "DELETE FROM %s", exchange_tables[tables].table);
        fuzz_check(store_exec(store, "fuzz", sql) == 0, "rows can be deleted");
    }
}
