#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/json.h"
#include "base/text.h"

void json_begin(struct json *json, FILE *out, int indent)
{
    *json = (struct json){.out = out, .indent = indent};
}

static void line_break(const struct json *json)
{
    if (json->indent > 0) fprintf(json->out, "\n%*s", json->indent * json->depth, "");
}

static void separate(struct json *json)
{
    if (json->depth == 0) return;
    bool *has_member = &json->has_member[json->depth - 1];
    if (*has_member) fputs(json->indent > 0 ? "," : ", ", json->out);
    *has_member = true;
    line_break(json);
}

static void before_value(struct json *json)
{
    bool in_object = json->depth > 0 && !json->is_array[json->depth - 1];
    assert(in_object == json->has_key);
    if (!in_object) separate(json);
    json->has_key = false;
}

static void begin(struct json *json, bool is_array)
{
    before_value(json);
    assert(json->depth < JSON_MAX_DEPTH);
    json->is_array[json->depth] = is_array;
    json->has_member[json->depth] = false;
    json->depth++;
    fputc(is_array ? '[' : '{', json->out);
}

void json_begin_object(struct json *json)
{
    begin(json, false);
}

void json_begin_array(struct json *json)
{
    begin(json, true);
}

void json_end(struct json *json)
{
    assert(json->depth > 0 && !json->has_key);
    json->depth--;
    if (json->has_member[json->depth]) line_break(json);
    fputc(json->is_array[json->depth] ? ']' : '}', json->out);
}

int json_finish(struct json *json)
{
    while (json->depth > 0)
        json_end(json);
    fputc('\n', json->out);
    if (fflush(json->out) || ferror(json->out))
        return assay_error("cannot write JSON: %s", strerror(errno));
    return 0;
}

static void write_escaped(FILE *out, unsigned char c)
{
    static const char short_form[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    if (c == '"' || c == '\\')
        fprintf(out, "\\%c", c);
    else if (c < 0x20 && short_form[c])
        fprintf(out, "\\%c", short_form[c]);
    else if (c < 0x20 || c == 0x7f)
        fprintf(out, "\\u%04x", c);
    else
        fputc(c, out);
}

static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        int length = text_utf8_length((const char *)at);
        if (length == 1)
            write_escaped(out, *at);
        else if (length == 0)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(at, 1, (size_t)length, out);
        at += length ? length : 1;
    }
    fputc('"', out);
}

void json_key(struct json *json, const char *name)
{
    assert(json->depth > 0 && !json->is_array[json->depth - 1] && !json->has_key);
    separate(json);
    write_text(json->out, name);
    fputs(": ", json->out);
    json->has_key = true;
}

void json_string(struct json *json, const char *text)
{
    before_value(json);
    if (text)
        write_text(json->out, text);
    else
        fputs("null", json->out);
}

void json_digits(double value, char out[JSON_DIGITS])
{
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(out, JSON_DIGITS, "%.*g", precision, value);
        if (strtod(out, NULL) == value) break;
    }
}

void json_number(struct json *json, double value)
{
    char digits[JSON_DIGITS] = "null";
    before_value(json);
    if (isfinite(value)) json_digits(value, digits);
    fputs(digits, json->out);
}

void json_int(struct json *json, int64_t value)
{
    before_value(json);
    fprintf(json->out, "%" PRId64, value);
}

void json_bool(struct json *json, bool value)
{
    before_value(json);
    fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json)
{
    before_value(json);
    fputs("null", json->out);
}

void json_object_member(struct json *json, const char *key)
{
    json_key(json, key);
    begin(json, false);
}

void json_array_member(struct json *json, const char *key)
{
    json_key(json, key);
    begin(json, true);
}

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
