/* launch_overhead.h - the dims of the operation `launch_overhead`. */
#ifndef CEILINGS_LAUNCH_OVERHEAD_H
#define CEILINGS_LAUNCH_OVERHEAD_H

#include "assay.h"

enum launch_dim { LAUNCH_COUNT, LAUNCH_HOW };
enum launch_how { LAUNCH_STREAM, LAUNCH_GRAPH };

#endif
