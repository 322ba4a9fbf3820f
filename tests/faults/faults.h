/* faults.h - the operation whose variants go wrong, each in its own way. */
#pragma once

#include "assay.h"

enum { FAULT_N };          /* dims */
enum { FAULT_X, FAULT_Y }; /* buffers: y[i] = 2 x[i] */
