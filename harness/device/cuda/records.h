/*
 * records.h - a growing list of activity records. Pure.
 */
#pragma once

#include "device/cuda/cupti.h"

struct record_list {
    struct cupti_record *items;
    int count;
};

/* Add a copy of `record`. -1 when it has no times (CUPTI writes zeros where it could not
 * get them) or memory is short: the record is lost. */
int records_add(struct record_list *list, const struct cupti_record *record);

/* By start, then by end, then by correlation. */
void records_sort(struct record_list *list);

void records_release(struct record_list *list);
