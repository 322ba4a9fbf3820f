#include "base/field.h"

#include "base/json.h"
#include "base/text.h"

static void write_member(struct json *json, const struct field *field, const void *at)
{
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_LINES:
        json_known_member(json, field->name, at);
        break;
    case FIELD_POINTER:
        json_known_member(json, field->name, *(const char *const *)at);
        break;
    case FIELD_REAL:
        json_number_member(json, field->name, *(const double *)at);
        break;
    case FIELD_COUNT:
        json_count_member(json, field->name, *(const int32_t *)at);
        break;
    case FIELD_COUNT64:
    case FIELD_BITS:
        json_count_member(json, field->name, *(const int64_t *)at);
        break;
    case FIELD_FLAG:
        json_bool_member(json, field->name, *(const bool *)at);
        break;
    case FIELD_WORD:
    case FIELD_SOME_WORD:
        json_known_member(json, field->name, words_name(field->words, *(const int32_t *)at));
        break;
    }
}

void json_fields(struct json *json, const struct field *fields, const void *base)
{
    for (const struct field *field = fields; field->name; field++)
        write_member(json, field, (const char *)base + field->offset);
}

void json_fields_element(struct json *json, const struct field *fields, const void *base)
{
    json_begin_object(json);
    json_fields(json, fields, base);
    json_end(json);
}

void json_fields_member(struct json *json, const char *key, const struct field *fields,
                        const void *base)
{
    json_key(json, key);
    json_fields_element(json, fields, base);
}
