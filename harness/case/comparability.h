/*
 * comparability.h - the properties that must be equal for the times of two launches to be
 * compared: everything about the device and the method of measurement that changes times
 * by itself. The program and the suite are what one compares, so they are not among them.
 *
 * docs/schema.md lists the parts. The store's comparability key, the warnings of a
 * comparison and the breaks in a history are all derived from them.
 */
#pragma once

#include "case/result.h"

/* In the order of the key. The first three identify the device. */
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
    char part[COMPARABILITY_PARTS][RESULT_MAX_PROPERTY]; /* as text; "" unknown */
};

void comparability_of(const struct device_info *device, struct comparability *out);

/* "driver", "firmware", "power limit", ... */
const char *comparability_part_name(int part);
/* Whether it is a property of one card: between two models a difference is worth no warning. */
bool comparability_is_of_card(int part);
