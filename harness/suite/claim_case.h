/*
 * claim_case.h - a case as a claim writes it: "operation/variant dim=value ... cold|hot".
 */
#pragma once

#include "suite/claim.h"

/* Read side `which` of a claim whose id, file and `awaits` are known. A case that the
 * program does not have is an error, or claim->missing where the claim awaits it. -1 with
 * assay_error. */
int claim_case_read(struct claim *claim, int which, const struct suite_key *key);
