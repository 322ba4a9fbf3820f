/* filter.h - the dim and the buffers of the operation `filter`. */
#pragma once

#include <assay.h>

enum { N };
enum { X, Y, T };
