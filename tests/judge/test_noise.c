/* test_noise.c - the noise floor, from blocks of unchanged code. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "judge/noise.h"
#include "tests/store_fixture.h"

#include "store/store_gate.h"

static struct case_id case_named(const char *variant)
{
    struct case_id id = {.kind = ASSAY_KERNEL, .place = ASSAY_CUDA};
    strcpy(id.operation, "copy");
    strcpy(id.variant, variant);
    strcpy(id.shape, "n=1");
    return id;
}

/* `count` blocks of ten rounds from `sessions` sessions; shift i is (i + 1) / 1000. */
static struct noise blocks(int count, int sessions)
{
    struct noise noise = {.blocks = calloc((size_t)count + 1, sizeof *noise.blocks),
                          .count = count};
    for (int i = 0; i < count; i++) {
        struct noise_block *block = &noise.blocks[i];
        block->id = case_named("fast");
        snprintf(block->session, sizeof block->session, "s%d", i % sessions);
        block->rounds = 10;
        block->time_ns = 5000;
        block->shift = (i + 1) / 1000.0;
        block->spread = 0.01;
    }
    assert_int_equal(noise_prepare(&noise), 0);
    return noise;
}

TEST(twenty_blocks_of_three_sessions_give_a_case_its_own_floor)
{
    struct noise noise = blocks(20, 3);
    struct case_id id = case_named("fast");
    assert_true(fabs(noise_floor(&noise, &id, 5000, 10) - 0.01905) < 1e-12);
    noise_release(&noise);
}

TEST(fewer_blocks_or_sessions_give_that_of_the_decade)
{
    const int counts[][2] = {{19, 3}, {20, 2}, {1, 1}};
    struct case_id id = case_named("fast"), other = case_named("other");
    for (int i = 0; i < 3; i++) {
        struct noise noise = blocks(counts[i][0], counts[i][1]);
        double pooled = 3 * 0.01 / sqrt(10);
        assert_true(fabs(noise_floor(&noise, &id, 5000, 10) - pooled) < 1e-12);
        assert_true(fabs(noise_floor(&noise, &other, 1000, 10) - pooled) < 1e-12);
        assert_true(isnan(noise_floor(&noise, &other, 999, 10))); /* nobody takes as long */
        noise_release(&noise);
    }
}

TEST(a_case_near_a_power_of_ten_is_where_its_blocks_are)
{
    struct noise noise = blocks(1, 1);
    struct case_id id = case_named("fast"), other = case_named("other");
    double pooled = 3 * 0.01 / sqrt(10);
    assert_true(fabs(noise_floor(&noise, &id, 999, 10) - pooled) < 1e-12);
    assert_true(isnan(noise_floor(&noise, &other, 999, 10)));
    noise_release(&noise);
}

TEST(nothing_measured_is_not_a_floor_of_zero)
{
    struct noise none = {0};
    struct case_id id = case_named("fast");
    assert_int_equal(noise_prepare(&none), 0);
    assert_true(isnan(noise_floor(&none, &id, 5000, 10)));
    assert_true(isnan(noise_floor(NULL, &id, 5000, 10)));
    noise_release(&none);
}

TEST(merged_noise_has_every_block_once)
{
    struct noise all = {0}, one = blocks(20, 3), two = blocks(25, 3);
    struct case_id id = case_named("fast");
    assert_int_equal(noise_merge(&all, &one), 0);
    assert_int_equal(noise_merge(&all, &two), 0); /* its first twenty are those of `one` */
    assert_int_equal(all.count, 25);
    assert_int_equal(noise_sessions(&all), 3);
    assert_true(noise_floor(&all, &id, 5000, 10) == noise_floor(&two, &id, 5000, 10));
    noise_release(&all);
    noise_release(&one);
    noise_release(&two);
}

OPEN_STORE_TEST(noise_is_kept_by_comparability_and_metric)
{
    struct noise made = blocks(1, 1), read;
    FINE(store_add_noise(store, "key", "null", "time", &made.blocks[0]));
    FINE(store_add_noise(store, "key", "null", "time", &made.blocks[0])); /* once */
    FINE(store_read_noise(store, "other", "time", NULL, &read));
    assert_int_equal(read.count, 0);
    noise_release(&read);
    FINE(store_read_noise(store, "key", "speedup", NULL, &read));
    assert_int_equal(read.count, 0);
    noise_release(&read);
    FINE(store_read_noise(store, "key", "time", NULL, &read));
    assert_int_equal(read.count, 1);
    assert_memory_equal(&read.blocks[0], &made.blocks[0], sizeof read.blocks[0]);
    noise_release(&read);
    FINE(store_read_noise(store, "key", "time", made.blocks[0].session, &read));
    assert_int_equal(read.count, 0);
    noise_release(&read);
    noise_release(&made);
}

STORE_TEST(a_merge_takes_everything_once)
{
    struct store *a = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct store *b = fixture_open(state, "b.sqlite", STORE_WRITE);
    struct noise noise = blocks(1, 1);
    struct merge_outcome merged;
    fixture_run(b, "there");
    FINE(store_add_noise(b, "key", "null", "time", &noise.blocks[0]));
    store_close(b);
    FINE(store_merge(a, fixture_path(state, "b.sqlite"), &merged));
    assert_true(merged.added > 5);
    assert_int_equal(merged.conflicts, 0);
    assert_int_equal(fixture_integer(a, "SELECT count(*) FROM result"), 2);
    assert_int_equal(fixture_integer(a, "SELECT count(*) FROM sample"), 2);
    assert_int_equal(fixture_integer(a, "SELECT count(*) FROM noise"), 1);
    FINE(store_merge(a, fixture_path(state, "b.sqlite"), &merged));
    assert_int_equal(merged.added, 0);
    assert_int_equal(merged.conflicts, 0);
    FAILS(store_merge(a, fixture_path(state, "none.sqlite"), &merged), "there is no database");
    noise_release(&noise);
    store_close(a);
}

/* Also in the order in which the newer one is there first. */
STORE_TEST(of_a_block_the_merge_keeps_the_one_of_more_rounds)
{
    for (int newer_first = 0; newer_first <= 1; newer_first++) {
        const char *const names[] = {newer_first ? "c.sqlite" : "a.sqlite",
                                     newer_first ? "d.sqlite" : "b.sqlite"};
        struct store *into = fixture_open(state, names[0], STORE_WRITE);
        struct store *other = fixture_open(state, names[1], STORE_WRITE);
        struct noise noise = blocks(1, 1);
        struct merge_outcome merged;
        struct noise_block more = noise.blocks[0];
        more.rounds += 2;
        FINE(store_add_noise(into, "key", "null", "time", newer_first ? &more : &noise.blocks[0]));
        FINE(store_add_noise(other, "key", "null", "time", newer_first ? &noise.blocks[0] : &more));
        store_close(other);
        FINE(store_merge(into, fixture_path(state, names[1]), &merged));
        assert_int_equal(merged.conflicts, 0);
        assert_int_equal(fixture_integer(into, "SELECT rounds FROM noise"), more.rounds);
        noise_release(&noise);
        store_close(into);
    }
}

STORE_TEST(a_merge_counts_what_differs_under_one_id_and_keeps_its_own)
{
    struct store *a = fixture_open(state, "a.sqlite", STORE_WRITE);
    struct store *b = fixture_open(state, "b.sqlite", STORE_WRITE);
    struct merge_outcome merged;
    fixture_run(b, "there");
    FINE(store_merge(a, fixture_path(state, "b.sqlite"), &merged));
    FINE(store_exec(b, "change",
                    "UPDATE result SET time_ns = 5 WHERE ordinal = 1;"
                    "UPDATE run SET ended_at = '9999'"));
    store_close(b);
    FINE(store_merge(a, fixture_path(state, "b.sqlite"), &merged));
    assert_int_equal(merged.conflicts, 1);
    assert_string_equal(merged.where, "1 of result");
    assert_int_equal(fixture_integer(a, "SELECT count(*) FROM result WHERE time_ns = 5"), 0);
    assert_int_equal(fixture_integer(a, "SELECT count(*) FROM run WHERE ended_at = '9999'"), 1);
    store_close(a);
}

OPEN_STORE_TEST(a_baseline_moves_only_when_it_is_set_again)
{
    struct run_info first = fixture_run(store, "first"), second = fixture_run(store, "second");
    char id[STORE_ID];
    FINE(store_set_baseline(store, "pinned", first.id, ""));
    FINE(store_find_run(store, "pinned", id));
    assert_string_equal(id, first.id);
    FINE(store_set_baseline(store, "pinned", second.id, "moved"));
    FINE(store_find_run(store, "pinned", id));
    assert_string_equal(id, second.id);
    FINE(store_drop_baseline(store, "pinned"));
    FAILS(store_drop_baseline(store, "pinned"), "there is no baseline");
}
