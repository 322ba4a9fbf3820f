/* test_card.c - the device option that limits what a card shows. */
#include <stdio.h>

#include "tests/test.h"
#include "base/error.h"
#include "case/card.h"

static const struct assay_card h200 = {.sm = 90,
                                       .arch_specific = true,
                                       .multiprocessors = 132,
                                       .shared_bytes = 227 << 10,
                                       .shared_sm_bytes = 228 << 10,
                                       .l2_bytes = 60 << 20};

static void expect_card(const struct assay_card *card, const struct assay_card *expected)
{
    assert_int_equal(card->sm, expected->sm);
    assert_int_equal(card->arch_specific, expected->arch_specific);
    assert_int_equal(card->multiprocessors, expected->multiprocessors);
    assert_true(card->shared_bytes == expected->shared_bytes);
    assert_true(card->shared_sm_bytes == expected->shared_sm_bytes);
    assert_true(card->l2_bytes == expected->l2_bytes);
}

static void expect_parsed(const char *text, int index, int sm, int64_t shared, const char *limits)
{
    struct card_spec spec;
    char again[64];
    if (card_spec_parse(text, &spec) < 0) fail_msg("%s: %s", text, assay_last_error());
    assert_int_equal(spec.index, index);
    assert_int_equal(spec.sm, sm);
    assert_true(spec.shared_bytes == shared);
    card_limits_text(&spec, again, sizeof again);
    assert_string_equal(again, limits);
}

TEST(a_spec_has_an_index_and_limits_in_any_order)
{
    expect_parsed("cuda", 0, 0, 0, "");
    expect_parsed("cuda:3", 3, 0, 0, "");
    expect_parsed("cuda:0,sm=80,shared=163Ki", 0, 80, 163 << 10, "sm=80,shared=163Ki");
    expect_parsed("cuda:1,shared=101376,sm=120", 1, 120, 99 << 10, "sm=120,shared=99Ki");
    expect_parsed("cuda:0,shared=50001", 0, 0, 50001, "shared=50001");
}

TEST(a_spec_may_leave_the_gpu_open)
{
    static const struct {
        const char *text;
        bool is_any;
    } specs[] = {{"cuda", true}, {"cuda:all", true}, {"cuda:all,sm=80", true}, {"cuda:0", false}};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct card_spec spec;
        assert_int_equal(card_spec_parse(specs[i].text, &spec), 0);
        assert_int_equal(spec.is_any, specs[i].is_any);
        assert_int_equal(spec.index, 0);
    }
    expect_parsed("cuda:all,sm=80", 0, 80, 0, "sm=80");
}

static void expect_refused(const char *text, const char *message)
{
    struct card_spec spec;
    assay_clear_error();
    assert_int_equal(card_spec_parse(text, &spec), -1);
    assert_string_equal(assay_last_error(), message);
}

TEST(bad_values_are_refused)
{
    const char *sm = "device '%s': '%s' is not a compute capability without its point, as in 80";
    const char *shared =
        "device '%s': '%s' is not the shared memory of a block, as in 163Ki (48Ki at least)";
    static const char *const bad_sm[] = {"", "8.0", "ninety", "-80", "90a", "8", "1000", "0"};
    static const char *const bad_shared[] = {"", "163KiB", "-1", "47Ki", "2Mi", "0", "1.5"};
    char text[64], message[256];
    for (size_t i = 0; i < sizeof bad_sm / sizeof *bad_sm; i++) {
        snprintf(text, sizeof text, "cuda:0,sm=%s", bad_sm[i]);
        snprintf(message, sizeof message, sm, text, bad_sm[i]);
        expect_refused(text, message);
    }
    for (size_t i = 0; i < sizeof bad_shared / sizeof *bad_shared; i++) {
        snprintf(text, sizeof text, "cuda:0,shared=%s", bad_shared[i]);
        snprintf(message, sizeof message, shared, text, bad_shared[i]);
        expect_refused(text, message);
    }
}

TEST(what_is_no_device_or_no_limit_is_refused)
{
    static const char *const no_device[] = {"cuda:",   "cuda:x",    "cuda:-1",
                                            "cuda:1k", "cuda:9999", "cuda:sm=80"};
    char message[256];
    for (size_t i = 0; i < sizeof no_device / sizeof *no_device; i++) {
        snprintf(message, sizeof message, "there is no device '%s' (cuda:N, N from 0, or cuda:all)",
                 no_device[i]);
        expect_refused(no_device[i], message);
    }
    expect_refused("cuda:0,", "device 'cuda:0,': there is no limit '' (sm=80, shared=163Ki)");
    expect_refused("cuda:0,sm", "device 'cuda:0,sm': there is no limit 'sm' (sm=80, shared=163Ki)");
    expect_refused("cuda:0,l2=6Mi",
                   "device 'cuda:0,l2=6Mi': there is no limit 'l2' (sm=80, shared=163Ki)");
    expect_refused("cuda:0,sm=80,sm=86", "device 'cuda:0,sm=80,sm=86': a limit is given twice");
}

static struct assay_card limited(const char *text)
{
    struct card_spec spec;
    struct assay_card card = h200;
    assert_int_equal(card_spec_parse(text, &spec), 0);
    if (card_limit(&card, 90, &spec) < 0) fail_msg("%s: %s", text, assay_last_error());
    return card;
}

TEST(limits_show_less_of_a_card)
{
    struct assay_card card = limited("cuda:0");
    expect_card(&card, &h200);
    card = limited("cuda:0,sm=80,shared=163Ki");
    const struct assay_card a100 = {.sm = 80,
                                    .multiprocessors = 132,
                                    .shared_bytes = 163 << 10,
                                    .shared_sm_bytes = 164 << 10,
                                    .l2_bytes = 60 << 20};
    expect_card(&card, &a100);
}

/* What a later card runs: all of sm_90 but what only Hopper has. */
TEST(any_limit_takes_the_code_for_one_generation)
{
    struct assay_card card = limited("cuda:0,sm=90");
    assert_int_equal(card.sm, 90);
    assert_false(card.arch_specific);
    assert_true(card.shared_bytes == 227 << 10 && card.shared_sm_bytes == 228 << 10);
    assert_false(limited("cuda:0,shared=99Ki").arch_specific);
}

/* A card of 8.6 with a build for sm_80. */
TEST(the_build_may_have_less_than_the_limit)
{
    struct assay_card card = {.sm = 80, .shared_bytes = 227 << 10};
    struct card_spec spec = {.sm = 86};
    assert_int_equal(card_limit(&card, 90, &spec), 0);
    assert_int_equal(card.sm, 80);
}

TEST(a_card_cannot_show_more_than_it_has)
{
    struct assay_card card = h200;
    struct card_spec spec = {.sm = 120};
    assert_int_equal(card_limit(&card, 90, &spec), -1);
    assert_string_equal(assay_last_error(), "sm=120 is no limit: the card has 90");
    spec = (struct card_spec){.shared_bytes = 228 << 10};
    assert_int_equal(card_limit(&card, 90, &spec), -1);
    assert_string_equal(assay_last_error(), "shared=228Ki is no limit: the card has 227Ki");
    expect_card(&card, &h200);
}

TEST(kernels_see_what_is_shown)
{
    assert_int_equal(assay_card()->sm, 0);
    card_show(&h200);
    expect_card(assay_card(), &h200);
}
