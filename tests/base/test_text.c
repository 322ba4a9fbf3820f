/*
 * test_text.c - names that people type: globs, suggestions, copies, counts.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/text.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

TEST(a_text_begins_with_what_it_begins_with)
{
    const char *text = "sm_90";
    assert_true(text_begins(text, "sm_") == text + 3);
    assert_true(text_begins(text, text) == text + 5);
    assert_true(text_begins(text, "") == text);
    assert_true(!text_begins(text, "sm_90a") && !text_begins(text, "compute_"));
}

TEST(what_a_terminal_would_obey_is_shown_as_an_escape)
{
    static const char *const texts[][2] = {
        {"plain µ é 漢 😀", "plain µ é 漢 😀"},
        {"\033]0;title\007", "\\x1b]0;title\\x07"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\x9b31m"},             /* U+009B, CSI in one character */
        {"\xc2\xa0", "\xc2\xa0"}, /* the first one behind C1 */
        {"a\x9b"
         "b\xff\xc3",
         "a\\x9bb\\xff\\xc3"},
        {"two\nlines\tand\rmore", "two lines and more"},
        {"a\u202eb\u2066c\u200bd\u2028e",
         "a\\u202eb\\u2066c\\u200bd\\u2028e"},            /* direction, width */
        {"\ufeff\u061cx\u2019", "\\ufeff\\u061cx\u2019"}, /* U+2019 is a quote */
    };
    char out[64], small[8];
    for (int i = 0; i < COUNT(texts); i++) {
        text_printable(out, sizeof out, texts[i][0], "");
        assert_string_equal(out, texts[i][1]);
        assert_int_equal(text_is_printable(texts[i][0]), strcmp(texts[i][0], texts[i][1]) == 0);
    }
    text_printable(out, sizeof out, "two\nlines\033", "\n");
    assert_string_equal(out, "two\nlines\\x1b");
    text_printable(small, sizeof small, "1234\033", ""); /* half an escape is none */
    assert_string_equal(small, "1234");
    text_printable(small, sizeof small, "123456é", "");
    assert_string_equal(small, "123456");
}

TEST(a_glob_matches_the_whole_text)
{
    assert_true(text_glob("*", ""));
    assert_true(text_glob("rcp*", "rcp4_fma"));
    assert_true(text_glob("int8_quantize/rcp?_*", "int8_quantize/rcp4_fma"));
    assert_true(text_glob("*fma", "int8_quantize/rcp4_fma"));
    assert_true(text_glob("div[14]", "div4"));
    assert_false(text_glob("rcp", "rcp4"));
    assert_false(text_glob("", "rcp4"));
    assert_false(text_glob("RCP*", "rcp4"));
}

static const char *const words[] = {"run", "list", "show", "int8", "int8_quantize", "ceilings"};

static void assert_nearest(const char *word, const char *expected)
{
    const char *nearest = text_nearest(word, words, COUNT(words));
    if (!expected)
        assert_null(nearest);
    else
        assert_string_equal(nearest ? nearest : "(none)", expected);
}

TEST(a_slip_of_one_letter_finds_its_word)
{
    assert_nearest("rum", "run");
    assert_nearest("rn", "run");
    assert_nearest("runs", "run");
    assert_nearest("shwo", "show");
    assert_nearest("int8_quantise", "int8_quantize");
    assert_nearest("ceiling", "ceilings");
}

TEST(case_does_not_hide_a_word)
{
    assert_nearest("SHOW", "show");
    assert_nearest("Int8", "int8");
}

TEST(nothing_near_gives_no_suggestion)
{
    assert_nearest("xyz", NULL);
    assert_nearest("", NULL);
    assert_nearest("quantize", NULL);
    assert_null(text_nearest("run", words, 0));
}

TEST(the_nearest_of_two_wins_and_the_first_of_equals)
{
    const char *const near[] = {"abcdxx", "abcdex", "abcdey"};
    assert_string_equal(text_nearest("abcdef", near, 3), "abcdex");
}

TEST(a_word_too_long_for_a_name_is_near_nothing)
{
    char longest[64], longer[65];
    memset(longest, 'a', sizeof longest);
    memset(longer, 'a', sizeof longer);
    longest[63] = longer[64] = '\0';
    const char *const both[] = {longer, longest};
    assert_ptr_equal(text_nearest(longest, both, 2), longest);
    assert_null(text_nearest(longer, both, 2));
}

TEST(a_copy_that_fits_is_whole)
{
    char out[5];
    assert_int_equal(text_copy(out, sizeof out, "four"), 0);
    assert_string_equal(out, "four");
    assert_int_equal(text_copy(out, sizeof out, ""), 0);
    assert_string_equal(out, "");
}

TEST(a_copy_that_is_cut_says_so)
{
    char out[5] = "....";
    assert_int_equal(text_copy(out, sizeof out, "fives"), -1);
    assert_string_equal(out, "five");
    assert_int_equal(text_copy(out, 1, "x"), -1);
    assert_string_equal(out, "");
    out[0] = '.';
    assert_int_equal(text_copy(out, 0, "x"), -1);
    assert_int_equal(out[0], '.');
}

TEST(a_cut_keeps_utf8_characters_whole)
{
    char out[5];
    assert_int_equal(text_copy(out, sizeof out, "ab\xe2\x82\xac"), -1);
    assert_string_equal(out, "ab");
    assert_int_equal(text_copy(out, sizeof out, "a\xe2\x82\xac"), 0);
    assert_string_equal(out, "a\xe2\x82\xac");
    assert_int_equal(text_copy(out, sizeof out, "a\xe2\x82\xac!"), -1);
    assert_string_equal(out, "a\xe2\x82\xac");
}

TEST(counts_are_read_as_people_write_them)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        {"0", 0},
        {"500000", 500000},
        {"500k", 500000},
        {"500K", 500000},
        {"1M", 1000000},
        {"2Mi", 2097152},
        {"1.5G", 1500000000},
        {"1.5Ki", 1536},
        {"0.5Mi", 524288},
        {"5.00M", 5000000},
        {"3T", 3000000000000},
        {"1Ti", INT64_C(1) << 40},
        {"1.234567890123T", 1234567890123},
        {"007", 7},
        {"9223372036854775807", INT64_MAX},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        int64_t value = -1;
        if (!text_parse_count(rows[i].text, &value)) fail_msg("%s was refused", rows[i].text);
        assert_int_equal(value, rows[i].value);
    }
}

TEST(what_is_no_count_is_refused_and_changes_nothing)
{
    static const char *const bad[] = {
        "",
        "k",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1 k",
        "1e6",
        "0x10",
        "1.",
        ".5M",
        "1.5",
        "inf",
        "nan",
        "1kk",
        "1m",
        "1KB",
        "1.0001k",
        "1.2.3",
        "0.3Ki",
        "l2",
        "1,000",
        "9223372036854775808",
        "9223373T",
        "99999999999999999999k",
    };
    for (int i = 0; i < COUNT(bad); i++) {
        int64_t value = 42;
        if (text_parse_count(bad[i], &value)) fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(value, 42);
    }
}

TEST(parts_are_appended_and_cut_at_the_size)
{
    char out[12] = "";
    text_part(out, sizeof out, ", ", "run %s", "");
    assert_string_equal(out, "");
    text_part(out, sizeof out, ", ", "run %s", "1");
    text_add(out, sizeof out, ", ", "%d", 23);
    assert_string_equal(out, "run 1, 23");
    text_add(out, sizeof out, ", ", "%s", "more");
    assert_string_equal(out, "run 1, 23, ");
    text_add(out, sizeof out, ", ", "%s", "more");
    assert_string_equal(out, "run 1, 23, ");
}

TEST(a_word_of_a_command_is_quoted_where_it_must_be)
{
    char out[64] = "assay show";
    text_add_word(out, sizeof out, "latest~1");
    text_add_word(out, sizeof out, "two words");
    text_add_word(out, sizeof out, "it's");
    text_add_word(out, sizeof out, "");
    assert_string_equal(out, "assay show latest~1 'two words' 'it'\\''s' ''");
}

TEST(a_text_is_wrapped_at_blanks_and_counts_characters)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(text_width("\u00b1 1"), 3);
    text_wrap(out, "one \u00b1\u00b1\u00b1 three longerthanaline", 0, 2, 7);
    fclose(out);
    assert_string_equal(text, "one \u00b1\u00b1\u00b1\n  three\n  longe\n  rthan\n  aline\n");
    free(text);
    out = open_memstream(&text, &size);
    assert_non_null(out);
    text_wrap(out, "narrower", 2, 9, 3);
    fclose(out);
    assert_string_equal(text, "narr\n         ower\n");
    free(text);
}
