/* store_schema.c - the versions of the schema, in order; see store_schema.h. */
#include "store/store_schema.h"

#include "store/store_internal.h"

const char *const store_migrations[] = {store_schema_v1, store_schema_v2, store_schema_v3};
const int store_version = (int)(sizeof store_migrations / sizeof store_migrations[0]);
