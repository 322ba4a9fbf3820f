/* launch_overhead.h - the dims of the operation `launch_overhead`. */
#pragma once

#include "assay.h"

enum launch_dim { LAUNCH_COUNT, LAUNCH_HOW };
enum launch_how { LAUNCH_STREAM, LAUNCH_GRAPH };
