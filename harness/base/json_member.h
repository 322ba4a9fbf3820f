/* json_member.h - one member of a JSON object, its key and its value, in one call. */
#ifndef JSON_MEMBER_H
#define JSON_MEMBER_H

#include "base/json.h"

void json_text_member(struct json *json, const char *key, const char *text); /* NULL: null */
/* "" is what nobody could tell: null. */
void json_known_member(struct json *json, const char *key, const char *text);
void json_number_member(struct json *json, const char *key, double value);
void json_int_member(struct json *json, const char *key, int64_t value);
/* -1 is not known: null. */
void json_count_member(struct json *json, const char *key, int64_t value);
void json_bool_member(struct json *json, const char *key, bool value);

#endif
