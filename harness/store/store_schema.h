/*
 * store_schema.h - the schema, as the SQL that makes it: a text a version, each a file
 * of its own. docs/schema.md is their manual, and a test holds them together.
 *
 * A released text is never edited: a change is a further text. The words in the CHECK
 * clauses are those of status_name() and its kin.
 */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

extern const char store_schema_v1[], store_schema_v2[], store_schema_v3[];

#endif
