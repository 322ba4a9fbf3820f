/* test_proof.c - which fingerprints prove a case unchanged, and what a gate measures all the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/temp_folder.h"
#include "judge/proof.h"

enum { MOST_FACTS = 80, MOST_TEXT = 400 };

/* What a fingerprint is made of, so that one thing can be changed. */
struct source {
    struct case_id id;
    char program[PROGRAM_CODE];
    bool needs_program;
    const char *unknown;
    int count;
    char fact[MOST_FACTS][MOST_TEXT];
};

static struct case_id case_of(const char *variant)
{
    struct case_id id = {.place = ASSAY_CUDA};
    strcpy(id.operation, "int8_quantize");
    snprintf(id.variant, sizeof id.variant, "%s", variant);
    strcpy(id.shape, "n=100");
    return id;
}

static struct fingerprint made(const struct source *source)
{
    struct fingerprint print;
    fingerprint_begin(&print, &source->id);
    snprintf(print.program, sizeof print.program, "%s", source->program);
    print.needs_program = source->needs_program;
    for (int i = 0; i < source->count; i++)
        fingerprint_add(&print, "%s", source->fact[i]);
    if (source->unknown) fingerprint_doubt(&print, "%s", source->unknown);
    fingerprint_end(&print);
    return print;
}

static void draw_source(struct source *source, struct rng *rng)
{
    *source = (struct source){.id = case_of("best")};
    source->count = 1 + (int)(rng_next(rng) % (MOST_FACTS - 1));
    source->needs_program = rng_next(rng) % 2;
    strcpy(source->program, "0123456789abcdef0123456789abcdef");
    for (int i = 0; i < source->count; i++)
        snprintf(source->fact[i], MOST_TEXT, "launch %d: kernel k%u; grid %u 1 1; code %08x%*s", i,
                 (unsigned)(rng_next(rng) % 9), (unsigned)(rng_next(rng) % 999),
                 (unsigned)rng_next(rng), rng_next(rng) % 8 ? 0 : 250, "");
}

/* ----------------------------------------------------------- mutations -- */

static void change_a_character(struct source *source, struct rng *rng)
{
    char *fact = source->fact[rng_next(rng) % (uint64_t)source->count];
    size_t at = rng_next(rng) % strlen(fact);
    fact[at] = fact[at] == 'q' ? 'r' : 'q';
}

static void leave_one_out(struct source *source, struct rng *rng)
{
    int at = (int)(rng_next(rng) % (uint64_t)source->count);
    for (int i = at; i + 1 < source->count; i++)
        strcpy(source->fact[i], source->fact[i + 1]);
    source->count--;
}

static void say_one_twice(struct source *source, struct rng *rng)
{
    strcpy(source->fact[source->count], source->fact[source->count - 1]);
    source->count++;
}

/* The first with another one: facts are numbered, so no two are the same. */
static void change_the_order(struct source *source, struct rng *rng)
{
    char kept[MOST_TEXT];
    if (source->count < 2) {
        change_a_character(source, rng);
        return;
    }
    char *other = source->fact[1 + rng_next(rng) % (uint64_t)(source->count - 1)];
    strcpy(kept, source->fact[0]);
    strcpy(source->fact[0], other);
    strcpy(other, kept);
}

static void join_two(struct source *source, struct rng *rng)
{
    char *first = source->fact[0];
    if (source->count < 2) {
        source->count = 0;
        return;
    }
    snprintf(first + strlen(first), 4, "\n");
    leave_one_out(source, rng);
}

static void be_another_kind(struct source *source, struct rng *rng)
{
    source->id.kind = ASSAY_BOUND;
}

static void have_another_program(struct source *source, struct rng *rng)
{
    source->needs_program = true;
    source->program[rng_next(rng) % 32] = 'x';
}

static void not_know_the_program(struct source *source, struct rng *rng)
{
    source->needs_program = true;
    source->program[0] = '\0';
}

static void be_in_doubt(struct source *source, struct rng *rng)
{
    source->unknown = "it calls something";
}

static void (*const mutations[])(struct source *source, struct rng *rng) = {
    change_a_character, leave_one_out,        say_one_twice,        change_the_order, join_two,
    be_another_kind,    have_another_program, not_know_the_program, be_in_doubt};
enum { MUTATIONS = sizeof mutations / sizeof mutations[0] };

TEST(no_change_is_proven_unchanged)
{
    static struct source source, changed;
    char why[ASSAY_MAX_REASON];
    struct rng rng;
    rng_seed(&rng, 21);
    for (int i = 0; i < 900; i++) {
        draw_source(&source, &rng);
        changed = source;
        mutations[i % MUTATIONS](&changed, &rng);
        struct fingerprint base = made(&source), candidate = made(&changed), again = made(&source);
        assert_true(proof_holds(&base, &again, why));
        assert_string_equal(why, "");
        assert_false(proof_holds(&base, &candidate, why));
        assert_string_not_equal(why, "");
        assert_false(proof_holds(&candidate, &base, why));
    }
}

/* Where only the GPU's work is timed, another program of the host is no change. */
TEST(the_host_counts_where_it_is_timed)
{
    struct source source = {.id = case_of("best"), .count = 1, .fact = {"launch 1: a"}};
    char why[ASSAY_MAX_REASON];
    strcpy(source.program, "one");
    struct fingerprint base = made(&source);
    strcpy(source.program, "other");
    struct fingerprint candidate = made(&source);
    assert_true(proof_holds(&base, &candidate, why));
    candidate.needs_program = true;
    assert_false(proof_holds(&base, &candidate, why));
    assert_non_null(strstr(why, "code of the host"));
    base.program[0] = candidate.program[0] = '\0';
    assert_false(proof_holds(&base, &candidate, why));
    assert_non_null(strstr(why, "is not known"));
}

TEST(the_difference_is_told)
{
    static const char *const told[][3] = {
        {"launch 2: kernel a; block 256 1 1; code 12", "launch 2: kernel a; block 128 1 1; code 34",
         "launch 2: block 128 1 1, base block 256 1 1"},
        {"launch 2: kernel a", "launch 2: kernel a; cluster 2 1 1",
         "launch 2: cluster 2 1 1, base less"},
        {"launch 2: kernel a", "launch 1: copy",
         "launch 1: copy, where the base has launch 2: kernel a"},
        {"x", "y", "y, where the base has x"},
    };
    char why[ASSAY_MAX_REASON];
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        struct source base = {.id = case_of("a"), .count = 1}, candidate = base;
        strcpy(base.fact[0], told[i][0]);
        strcpy(candidate.fact[0], told[i][1]);
        struct fingerprint one = made(&base), other = made(&candidate);
        assert_false(proof_holds(&one, &other, why));
        assert_string_equal(why, told[i][2]);
    }
}

/* -------------------------------------------------------------- the plan -- */

/* `count` cases; of those from `changed` on the candidate has other code. */
static struct proof_plan planned(int count, int changed, uint64_t seed)
{
    struct fingerprints base = {calloc((size_t)count, sizeof *base.list), count};
    struct fingerprints candidate = {calloc((size_t)count, sizeof *base.list), count};
    struct proof_plan plan;
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        struct source source = {.id = case_of(name), .count = 1, .fact = {"launch 1: a"}};
        base.list[i] = made(&source);
        if (i >= changed) strcpy(source.fact[0], "launch 1: b");
        candidate.list[count - 1 - i] = made(&source); /* in another order */
    }
    assert_int_equal(proof_plan_make(&plan, &base, &candidate, seed), 0);
    fingerprints_release(&base);
    fingerprints_release(&candidate);
    return plan;
}

TEST(one_in_twenty_is_audited)
{
    int audited = 0, gates = 0, all = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct proof_plan some = planned(41, 40, seed), none = planned(10, 10, seed);
        assert_int_equal(some.open, 1);
        assert_int_equal(some.proven + some.audited, 40);
        assert_false(some.audits_all);
        audited += some.audited;
        assert_true(none.audited == 0 || none.audited == 10);
        assert_int_equal(none.audits_all, none.audited == 10);
        gates++;
        all += none.audits_all;
        proof_plan_release(&some);
        proof_plan_release(&none);
    }
    assert_in_range(audited, 40 * gates / 20 - 120, 40 * gates / 20 + 120);
    assert_in_range(all, gates / 20 - 15, gates / 20 + 15);
}

TEST(a_seed_draws_the_same_audit)
{
    struct proof_plan one = planned(200, 150, 7), again = planned(200, 150, 7);
    struct proof_plan other = planned(200, 150, 8);
    bool differs = false;
    for (int i = 0; i < one.count; i++) {
        assert_int_equal(one.cases[i].proof, again.cases[i].proof);
        differs |= one.cases[i].proof != other.cases[i].proof;
        assert_ptr_equal(proof_plan_find(&one, &one.cases[i].id), &one.cases[i]);
    }
    assert_true(differs);
    proof_plan_release(&one);
    proof_plan_release(&again);
    proof_plan_release(&other);
}

TEST(what_a_side_lacks_is_open)
{
    struct source source = {.id = case_of("a"), .count = 1, .fact = {"launch 1: a"}};
    struct source other = {.id = case_of("b"), .count = 1, .fact = {"launch 1: a"}};
    struct fingerprint base[] = {made(&source)}, candidate[] = {made(&other), made(&source)};
    struct fingerprint twice[] = {made(&source), made(&source)};
    struct fingerprints left = {base, 1}, right = {candidate, 2}, both = {twice, 2}, empty = {0};
    struct proof_plan plan;
    assert_int_equal(proof_plan_make(&plan, &left, &right, 1), 0);
    assert_int_equal(plan.count, 2);
    assert_int_equal(plan.open, 1);
    assert_int_equal(plan.audited, 1); /* or the base would have nothing to measure */
    assert_string_equal(proof_plan_find(&plan, &other.id)->why,
                        "the base has no fingerprint of it");
    proof_plan_release(&plan);
    assert_int_equal(proof_plan_make(&plan, &left, &both, 1), 0);
    assert_int_equal(plan.proven + plan.audited, 0);
    proof_plan_release(&plan);
    assert_int_equal(proof_plan_make(&plan, &empty, &empty, 1), 0);
    assert_int_equal(plan.count, 0);
    proof_plan_release(&plan);
}

/* ------------------------------------------------------------------ files -- */

TEST(what_is_written_is_read)
{
    struct temp_folder folder;
    char path[5000];
    struct rng rng;
    static struct source source;
    struct fingerprints read;
    rng_seed(&rng, 3);
    assert_int_equal(temp_folder_make(&folder, "prints"), 0);
    snprintf(path, sizeof path, "%s/p", folder.path);
    FILE *out = fopen(path, "w");
    struct fingerprint print[20];
    assert_int_equal(fingerprints_write_head(out), 0);
    for (int i = 0; i < 20; i++) {
        draw_source(&source, &rng);
        snprintf(source.id.variant, sizeof source.id.variant, "v%d", i);
        strcpy(source.fact[0], "a tab \t, a line\nand \x1b an escape");
        if (i % 3 == 0) source.unknown = "it calls cuThis";
        print[i] = made(&source);
        assert_int_equal(fingerprint_write(out, &print[i]), 0);
    }
    assert_int_equal(fclose(out), 0);
    assert_int_equal(fingerprints_read(&read, path), 0);
    assert_int_equal(read.count, 20);
    for (int i = 0; i < 20; i++) {
        char why[ASSAY_MAX_REASON];
        assert_string_equal(read.list[i].hash, print[i].hash);
        assert_int_equal(proof_holds(&read.list[i], &print[i], why), i % 3 != 0);
    }
    fingerprints_release(&read);
    temp_folder_remove(&folder);
}

TEST(what_is_no_file_of_them_is_refused)
{
    static const char *const texts[] = {
        "",
        "assay fingerprints 2\n",
        "assay fingerprints 10\n",
        "assay fingerprints 1\nfact\tx\n",
        "assay fingerprints 1\ncase\ta\tb\tc\tcold\tcuda\tkernel\n",
        "assay fingerprints 1\ncase\ta\tb\tc\ttepid\tcuda\tkernel\nend\t0\t"
        "00000000000000000000000000000000\n",
        "assay fingerprints 1\ncase\ta\tb\tc\tcold\tcuda\tkernel\nend\t1\t"
        "00000000000000000000000000000000\n",
        "assay fingerprints 1\ncase\ta\tb\tc\tcold\tcuda\tkernel\nfact\tx\nend\t1\t00\n",
        "assay fingerprints 1\ncase\ta\tb\tc\tcold\tcuda\tkernel\nfact\tx\nwhat\nend\t1\t"
        "00000000000000000000000000000000\n",
    };
    struct temp_folder folder;
    struct fingerprints read;
    char path[5000];
    assert_int_equal(temp_folder_make(&folder, "prints"), 0);
    snprintf(path, sizeof path, "%s/p", folder.path);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        FILE *out = fopen(path, "w");
        fputs(texts[i], out);
        fclose(out);
        assert_int_equal(fingerprints_read(&read, path), -1);
        assert_int_equal(read.count, 0);
    }
    temp_folder_remove(&folder);
    assert_int_equal(fingerprints_read(&read, path), -1);
}
