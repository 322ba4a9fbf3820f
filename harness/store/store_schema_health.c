/* store_schema_health.c - version 11: what a GPU says of its own health; version 12: where a gate
 * was made and of what, which its launches say only where it had any. */
#include "store/store_internal.h"

const char store_alter_health[] = "ALTER TABLE launch ADD COLUMN link_width INTEGER;\n"
                                  "ALTER TABLE launch ADD COLUMN link_width_max INTEGER;\n"
                                  "ALTER TABLE launch ADD COLUMN link_generation INTEGER;\n"
                                  "ALTER TABLE launch ADD COLUMN link_generation_max INTEGER;\n"
                                  "ALTER TABLE launch ADD COLUMN ecc_uncorrected INTEGER;\n";

const char store_alter_gate[] = "ALTER TABLE gate ADD COLUMN hostname TEXT;\n"
                                "ALTER TABLE gate ADD COLUMN card TEXT;\n"
                                "ALTER TABLE gate ADD COLUMN simulated INTEGER;\n"
                                "ALTER TABLE gate ADD COLUMN base_build TEXT;\n"
                                "ALTER TABLE gate ADD COLUMN candidate_build TEXT;\n";
