/*
 * store_central.h - the central store: a PostgreSQL database that holds the runs of many machines
 * (store/postgres/). Its tables are those of docs/schema.md; docs/fleet.md says how one is made and
 * which rights its users need. store_open takes its URL for reading.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "store/store.h"

/* Whether a path is postgres://... or postgresql://..., which libpq explains further. */
bool store_is_url(const char *path);

/* A path or URL as it may be shown: without the password that a URL may have. Returns `out`. */
enum { STORE_SHOWN = 4096 };
const char *store_shown(const char *path, char out[STORE_SHOWN]);

/* The SQL that makes the schema, or brings one of an older version to this one; for its owner. */
int central_write_schema(FILE *out);

/* What push and pull came to. Runs that the other side has as they are here are not moved. */
struct central_outcome {
    int moved, there; /* runs */
    struct merge_outcome rows;
};

/* All runs of `store`, or the `count` with these ids, to the server, and with all runs the noise
 * and the verdicts too. Some runs at a time are one transaction: after a failure, which *outcome
 * has up to there, the next push goes on. -1 with assay_error. */
int central_push(struct store *store, const char *url, const char (*ids)[STORE_ID], int count,
                 struct central_outcome *outcome);

/* The other way. `store` is one to write to, `remote` the server's. Each run is one transaction. */
int central_pull(struct store *store, struct store *remote, const char (*ids)[STORE_ID], int count,
                 struct central_outcome *outcome);
