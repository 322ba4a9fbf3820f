/* memory_alloc.h - the dims and the buffer of the operation `memory_alloc`. */
#pragma once

#include "assay.h"

enum alloc_dim { ALLOC_BYTES };
enum alloc_buffer { ALLOC_OUT };

/* What a launch writes at the start of its block and copies out. */
enum { ALLOC_TOUCHED = 64, ALLOC_BYTE = 0x3c };
