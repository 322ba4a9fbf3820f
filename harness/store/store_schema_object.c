/* store_schema_object.c - version 7: the shared objects that a run had loaded. */
#include "store/store_internal.h"

const char store_schema_object[] = "CREATE TABLE object (\n"
                                   "    run_id TEXT NOT NULL REFERENCES run (id),\n"
                                   "    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),\n"
                                   "    name TEXT NOT NULL,\n"
                                   "    sha256 TEXT NOT NULL,\n"
                                   "    git_commit TEXT NOT NULL,\n"
                                   "    PRIMARY KEY (run_id, ordinal)\n"
                                   ") STRICT, WITHOUT ROWID;\n";
