#include "case/json_shape.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/result.h"

static void shape_value(struct json *json, const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && !*end)
        json_int(json, value);
    else
        json_string(json, text);
}

void json_shape(struct json *json, const char *text)
{
    char copy[RESULT_MAX_SHAPE], *rest = copy, *pair;
    snprintf(copy, sizeof copy, "%s", text);
    json_begin_object(json);
    while ((pair = strsep(&rest, " "))) {
        char *value = strchr(pair, '=');
        if (!value) continue;
        *value++ = '\0';
        json_key(json, pair);
        shape_value(json, value);
    }
    json_end(json);
}
