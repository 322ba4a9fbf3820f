/* json_shape.h - a shape's text, "n=5000000 input=fp32", as a JSON object. */
#ifndef JSON_SHAPE_H
#define JSON_SHAPE_H

#include "base/json.h"

/* A member for each dim, in order; sizes are numbers, other values strings. */
void json_shape(struct json *json, const char *text);

#endif
