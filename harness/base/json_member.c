#include <stddef.h>

#include "base/json_member.h"

void json_text_member(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_string(json, text);
}

void json_known_member(struct json *json, const char *key, const char *text)
{
    json_text_member(json, key, text && text[0] ? text : NULL);
}

void json_number_member(struct json *json, const char *key, double value)
{
    json_key(json, key);
    json_number(json, value);
}

void json_int_member(struct json *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_int(json, value);
}

void json_count_member(struct json *json, const char *key, int64_t value)
{
    json_key(json, key);
    if (value < 0)
        json_null(json);
    else
        json_int(json, value);
}

void json_bool_member(struct json *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}
