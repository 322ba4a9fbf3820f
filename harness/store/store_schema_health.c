/* store_schema_health.c - version 11: what a GPU says of its own health. */
#include "store/store_internal.h"

const char store_schema_health[] = "ALTER TABLE launch ADD COLUMN link_width INTEGER;\n"
                                   "ALTER TABLE launch ADD COLUMN link_width_max INTEGER;\n"
                                   "ALTER TABLE launch ADD COLUMN link_generation INTEGER;\n"
                                   "ALTER TABLE launch ADD COLUMN link_generation_max INTEGER;\n"
                                   "ALTER TABLE launch ADD COLUMN ecc_uncorrected INTEGER;\n";
