/*
 * signs.h - the random signs of Freivalds' check, for host and device code.
 */
#pragma once

#include "base/fill.h"

/* 1 or -1. */
FILL_FUNCTION double sign_of(uint64_t seed, int64_t column)
{
    return fill_hash(seed, (uint64_t)column) >> 63 ? 1.0 : -1.0;
}
