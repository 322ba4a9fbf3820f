/*
 * store_key.h - the comparability key of a launch: a hash of its parts (comparability.h).
 * It always follows from the facts that are stored, so that launches which an older
 * version measured have the key that they would have today.
 */
#pragma once

#include "store/store_internal.h"

void store_key(const struct device_info *device, char key[ID_SIZE]);

/* Give every launch the key of its facts; for rows that came from outside. -1 with
 * assay_error. */
int store_rekey(struct store *store);
