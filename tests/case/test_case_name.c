/* test_case_name.c - how a case is written, and what a pattern takes. */
#include <string.h>

#include "tests/test.h"
#include "case/case_name.h"

static const struct case_id best = {.operation = "int8_quantize",
                                    .variant = "best",
                                    .shape = "n=5000000 input=fp32",
                                    .place = ASSAY_CUDA,
                                    .temperature = ASSAY_COLD};
static const struct case_id bare = {.operation = "sync", .variant = "a", .temperature = ASSAY_HOT};

TEST(a_case_has_one_text)
{
    char text[CASE_TEXT];
    case_text(&best, text);
    assert_string_equal(text, "int8_quantize/best n=5000000 input=fp32 cold");
    case_group_text(&best, text);
    assert_string_equal(text, "int8_quantize n=5000000 input=fp32 cold");
    case_text(&bare, text);
    assert_string_equal(text, "sync/a hot");
    case_group_text(&bare, text);
    assert_string_equal(text, "sync hot");
}

TEST(the_longest_names_fit)
{
    char text[CASE_TEXT];
    struct case_id id = {.temperature = ASSAY_COLD};
    memset(id.operation, 'o', sizeof id.operation - 1);
    memset(id.variant, 'v', sizeof id.variant - 1);
    memset(id.shape, 's', sizeof id.shape - 1);
    case_text(&id, text);
    assert_string_equal(text + strlen(text) - 5, " cold");
    assert_true(case_matches(text, &id));
    id.variant[0] = 'w';
    assert_false(case_matches(text, &id));
}

struct example {
    const char *pattern;
    bool takes;
};

static void expect(const struct example *examples, size_t count, const struct case_id *id)
{
    for (size_t i = 0; i < count; i++)
        if (case_matches(examples[i].pattern, id) != examples[i].takes)
            fail_msg("'%s' %s", examples[i].pattern,
                     examples[i].takes ? "takes nothing" : "takes it");
}

TEST(a_pattern_is_a_name_and_words_in_any_order)
{
    static const struct example examples[] = {
        {"int8_quantize/best", true},
        {"int8*/b*", true},
        {"int8_quantize", true},
        {"*", true},
        {"*/worst", false},
        {"int8", false},
        {"best", false},
        {"", false},
        {"* n=5000000", true},
        {"* n=500000", false},
        {"* n=5* input=fp32", true},
        {"* n=5* input=fp16", false},
        {"* cold", true},
        {"* hot", false},
        {"int8_quantize/best n=5000000 input=fp32 cold", true},
        {"int8_quantize/best cold input=fp32 n=5000000", true},
        {"int8_quantize n=5000000 input=fp32 cold", true},
        {"int8_quantize/best  n=5000000 input=fp32  cold", true},
        {"int8_quantize/best n=5000000\n\t  input=fp32 cold", true},
        {"int8_quantize/best n=5000000 input=fp32 hot", false},
        {"int8_quantize/best n=50000000 input=fp32 cold", false},
        {"int8_quantize/* *n=5000000 * cold", true},
        {"int8_quantize/best *", true},
        {"n=5000000 cold", false},
    };
    expect(examples, sizeof examples / sizeof *examples, &best);
}

TEST(a_place_is_asked_for_where_it_is_named)
{
    static const struct example examples[] = {
        {"int8_quantize/best n=5000000 input=fp32 cold cuda", true},
        {"int8_quantize/best n=5000000 input=fp32 cold host", false},
        {"* cuda", true},
        {"* host", false},
    };
    expect(examples, sizeof examples / sizeof *examples, &best);
}

TEST(commas_part_patterns_but_not_the_temperature_and_place)
{
    static const struct example examples[] = {
        {"sync/a,int8_quantize/best", true},
        {"sync/a, int8_quantize/best", true},
        {"int8_quantize/best,sync/a", true},
        {"sync/a,sync/b", false},
        {"sync/a n=1 hot,int8_quantize/best n=5000000 input=fp32 cold", true},
        {"sync/a n=1 hot,int8_quantize/best n=6000000 input=fp32 cold", false},
        {"int8_quantize/best hot,sync/a cold", false},
        {"int8_quantize/best n=5000000 input=fp32, cold", true},
        {"int8_quantize/best n=5000000 input=fp32, hot", false},
        {"int8_quantize/best n=5000000 input=fp32, cold, cuda", true},
        {"int8_quantize/best n=5000000 input=fp32, cold, host", false},
        {"*, cold", true},
        {",,int8_quantize/best,", true},
    };
    expect(examples, sizeof examples / sizeof *examples, &best);
}

TEST(imported_names_match_as_printed)
{
    char text[CASE_TEXT];
    const struct case_id id = {.operation = "BM_Copy<int, float[4]>",
                               .variant = "now?",
                               .shape = "arg0=64",
                               .temperature = ASSAY_HOT};
    case_text(&id, text);
    assert_true(case_matches(text, &id));
    assert_false(case_matches(text, &best));
}

TEST(what_is_no_word_of_a_case_is_known)
{
    static const char *const words[] = {"n=5", "cold", "host", "*", "[nm]=*", "cold,", "a/b"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_true(case_is_word(words[i]));
    assert_false(case_is_word("warm"));
    assert_false(case_is_word(""));
}

TEST(the_nearest_case_is_named_by_the_first_word)
{
    static const struct case_names cases[] = {
        {"scale", "fast"}, {"scale", "wide"}, {"copy", "fast"}, {"copy", "plain"}};
    static const struct {
        const char *pattern, *near;
    } known[] = {
        {"sclae/fats n=2", "scale/fast"}, {"scale/zzz", "scale/*"}, {"copi,x", "copy/*"},
        {"copy/wide", "copy/*"},          {"s?le*/fast", ""},       {"nothing", ""},
    };
    char near[2 * ASSAY_MAX_NAME];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(case_nearest(known[i].pattern, cases, 4, near), known[i].near[0] != '\0');
        assert_string_equal(near, known[i].near);
    }
    assert_false(case_nearest("scale", NULL, 0, near));
}

TEST(what_was_right_gets_no_hint)
{
    static const struct case_names cases[] = {{"scale", "fast"}, {"copy", "plain"}};
    char hint[TEXT_HINT];
    assert_string_equal(case_hint(hint, "scale/fats n=7", cases, 2),
                        " (did you mean 'scale/fast'?)");
    assert_string_equal(case_hint(hint, "scale/fast n=7", cases, 2), "");
    assert_string_equal(case_hint(hint, "copy, hot", cases, 2), "");
    assert_string_equal(case_hint(hint, "scale", NULL, 0), "");
}
