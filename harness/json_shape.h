/*
 * json_shape.h - a shape as a member of a JSON object.
 */
#ifndef JSON_SHAPE_H
#define JSON_SHAPE_H

#include "json.h"

/* "n=5000000 input=fp32" as "shape": {"n": 5000000, "input": "fp32"}. */
void json_shape_member(struct json *json, const char *shape);

#endif
