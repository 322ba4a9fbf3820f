/* test_json.c - the rules of the JSON writer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "base/json.h"

/* Writes a document through `write` and compares its text. */
static void expect(int indent, void (*write)(struct json *json), const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    struct json json;
    json_begin(&json, out, indent);
    write(&json);
    assert_int_equal(json_finish(&json), 0);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void write_scalars(struct json *json)
{
    json_begin_array(json);
    json_string(json, "a");
    json_int(json, INT64_MIN);
    json_bool(json, true);
    json_bool(json, false);
    json_null(json);
    json_string(json, NULL);
    json_end(json);
}

TEST(members_are_separated_by_commas)
{
    expect(0, write_scalars, "[\"a\", -9223372036854775808, true, false, null, null]\n");
}

static void write_nested(struct json *json)
{
    json_begin_object(json);
    json_key(json, "rows");
    json_begin_array(json);
    json_begin_object(json);
    json_key(json, "x");
    json_int(json, 1);
    json_key(json, "y");
    json_int(json, 2);
    json_end(json);
    json_begin_object(json);
    json_end(json);
    json_end(json);
    json_key(json, "none");
    json_begin_array(json);
    json_end(json);
    json_end(json);
}

TEST(nesting_indents_and_empty_containers_stay_short)
{
    expect(0, write_nested, "{\"rows\": [{\"x\": 1, \"y\": 2}, {}], \"none\": []}\n");
    expect(2, write_nested,
           "{\n  \"rows\": [\n    {\n      \"x\": 1,\n      \"y\": 2\n    },\n    {}\n  ],\n"
           "  \"none\": []\n}\n");
}

static void write_strings(struct json *json)
{
    json_begin_object(json);
    json_key(json, "q\"k\n");
    json_string(json, "\" \\ / \b\f\n\r\t \x01 \x1f \x7f");
    json_end(json);
}

TEST(quotes_and_control_characters_are_escaped)
{
    expect(0, write_strings,
           "{\"q\\\"k\\n\": \"\\\" \\\\ / \\b\\f\\n\\r\\t \\u0001 \\u001f \\u007f\"}\n");
}

static void write_utf8(struct json *json)
{
    json_begin_array(json);
    json_string(json, "\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80"); /* two, three, four bytes */
    json_string(json, "a\xffz");                                  /* never a first byte */
    json_string(json, "\xc0\xaf");                                /* overlong */
    json_string(json, "\xed\xa0\x80");                            /* a surrogate */
    json_string(json, "\xe2\x82");                                /* cut short */
    json_end(json);
}

TEST(utf8_passes_and_other_bytes_become_the_replacement_character)
{
#define R "\xef\xbf\xbd"
    expect(0, write_utf8,
           "[\"\xc2\xb5s \xe2\x82\xac \xf0\x9f\x98\x80\", \"a" R "z\", \"" R R "\", \"" R R R
           "\", \"" R R "\"]\n");
#undef R
}

static void write_numbers(struct json *json)
{
    json_begin_array(json);
    json_number(json, NAN);
    json_number(json, INFINITY);
    json_number(json, -INFINITY);
    json_number(json, 0.1);
    json_number(json, 62);
    json_number(json, 1.0 / 3);
    json_number(json, 5e-324);
    json_end(json);
}

TEST(numbers_read_back_and_the_unmeasured_is_null)
{
    expect(0, write_numbers,
           "[null, null, null, 0.1, 62, 0.3333333333333333, 4.94065645841247e-324]\n");
}

TEST(a_stream_that_fails_is_an_error)
{
    FILE *out = fopen("/dev/full", "w");
    assert_non_null(out);
    struct json json;
    json_begin(&json, out, 0);
    write_scalars(&json);
    assert_int_equal(json_finish(&json), -1);
    assert_non_null(strstr(assay_last_error(), "cannot write JSON: No space left"));
    fclose(out);
}
