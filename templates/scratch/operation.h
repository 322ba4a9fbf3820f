/* @NAME@.h - the sizes and the buffers of @NAME@, by their places. */
#pragma once

#include <assay.h>

enum { N };    /* sizes: of shape->value */
enum { X, Y }; /* buffers: of call->buffer and in[] */
