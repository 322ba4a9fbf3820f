/*
 * comparability.h - what must be equal for the times of two launches to be compared as
 * they stand: everything that changes times by itself, of the device and of the way of
 * measuring. The program and the suite, which are what one compares, are not in it.
 *
 * docs/schema.md names the parts. The key that the store keeps, the words that a
 * comparison says and the borders of a history are made of the same ones.
 */
#ifndef COMPARABILITY_H
#define COMPARABILITY_H

#include "case/result.h"

/* In the order of the key. The first three tell devices apart. */
enum comparability_part {
    PART_SIMULATED,
    PART_NAME,
    PART_UUID,
    PART_FIRMWARE,
    PART_DRIVER,
    PART_RUNTIME,
    PART_POWER_LIMIT,
    PART_ECC,
    PART_MIG,
    PART_CLOCK,
    PART_FLUSH,
    COMPARABILITY_PARTS,
};

struct comparability {
    char part[COMPARABILITY_PARTS][RESULT_MAX_PROPERTY]; /* as people read it; "" unknown */
};

void comparability_of(const struct device_info *device, struct comparability *out);

/* "driver", "firmware", "power limit" of a part. */
const char *comparability_part_name(int part);
/* Of one card: with a card of another model this is no news. */
bool comparability_is_of_card(int part);

#endif
