/* test_cubin.c - the cubin reader, its hash, and the table of symbols. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/test.h"
#include "device/cuda/cubin.h"
#include "device/cuda/symbols.h"
#include "synthetic_cubin.h"

static const unsigned char code_a[48] = {1, 2, 3, 4, 5, 6, 7, 8};
static const unsigned char code_b[64] = {9, 8, 7, 6, 5, 4, 3, 2};
static const struct synthetic_function two[] = {
    {"_Z4fillPf", code_a, sizeof code_a},
    {"_Z4copyPfS_", code_b, sizeof code_b},
};

static _Alignas(8) unsigned char cubin[SYNTHETIC_MAX];

/* The cubin of both; its size. */
static size_t make_two(void)
{
    return synthetic_cubin(cubin, two, 2);
}

static bool equal(struct code_hash a, struct code_hash b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

struct seen {
    int count;
    char name[8][64];
    struct code_hash hash[8];
};

static void see(const char *name, struct code_hash hash, void *context)
{
    struct seen *seen = context;
    if (seen->count < 8) {
        snprintf(seen->name[seen->count], sizeof seen->name[0], "%s", name);
        seen->hash[seen->count] = hash;
    }
    seen->count++;
}

TEST(every_function_is_named_with_the_hash_of_its_code)
{
    size_t size = make_two();
    struct seen seen = {0};
    assert_int_equal(cubin_each_function(cubin, size, see, &seen), 2);
    assert_int_equal(seen.count, 2);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(seen.name[i], two[i].name);
        assert_true(equal(seen.hash[i], code_hash_of(two[i].code, two[i].size)));
    }
}

TEST(sections_other_than_code_are_passed_over)
{
    size_t size = make_two();
    Elf64_Shdr *second = (Elf64_Shdr *)(cubin + sizeof(Elf64_Ehdr)) + 3;
    second->sh_type = SHT_NOBITS;
    struct seen seen = {0};
    assert_int_equal(cubin_each_function(cubin, size, see, &seen), 1);
    assert_string_equal(seen.name[0], two[0].name);
}

TEST(a_cubin_need_not_be_aligned)
{
    static unsigned char shifted[SYNTHETIC_MAX + 1];
    size_t size = make_two();
    memcpy(shifted + 1, cubin, size);
    struct seen seen = {0};
    assert_int_equal(cubin_each_function(shifted + 1, size, see, &seen), 2);
    assert_true(equal(seen.hash[1], code_hash_of(code_b, sizeof code_b)));
}

TEST(the_section_count_may_be_in_section_zero)
{
    size_t size = make_two();
    Elf64_Ehdr *header = (Elf64_Ehdr *)cubin;
    Elf64_Shdr *first = (Elf64_Shdr *)(cubin + sizeof *header);
    first->sh_size = header->e_shnum;
    first->sh_link = header->e_shstrndx;
    header->e_shnum = 0;
    header->e_shstrndx = SHN_XINDEX;
    struct seen seen = {0};
    assert_int_equal(cubin_each_function(cubin, size, see, &seen), 2);
}

TEST(every_truncation_is_refused)
{
    size_t size = make_two();
    for (size_t cut = 0; cut < size; cut++) {
        /* Exactly as long as it claims, so that a sanitizer sees one byte more. */
        unsigned char *part = malloc(cut + (cut == 0));
        assert_non_null(part);
        memcpy(part, cubin, cut);
        struct seen seen = {0};
        assert_int_equal(cubin_each_function(part, cut, see, &seen), -1);
        free(part);
    }
}

TEST(no_byte_of_the_tables_can_lead_out_of_bounds)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t size = make_two();
    size_t tables = sizeof(Elf64_Ehdr) + 4 * sizeof(Elf64_Shdr);
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    for (size_t at = 0; at < tables; at++)
        for (size_t i = 0; i < sizeof values; i++) {
            memcpy(copy, cubin, size);
            copy[at] = values[i];
            struct seen seen = {0};
            int found = cubin_each_function(copy, size, see, &seen);
            assert_in_range(found + 1, 0, 3);
        }
    free(copy);
}

TEST(what_is_no_cubin_is_refused)
{
    static const char text[256] = "#!/bin/sh";
    struct seen seen = {0};
    assert_int_equal(cubin_each_function(text, sizeof text, see, &seen), -1);
    assert_int_equal(cubin_each_function(NULL, 0, see, &seen), -1);
    assert_int_equal(seen.count, 0);
}

TEST(one_bit_of_code_changes_the_hash)
{
    unsigned char bytes[100] = {0};
    struct code_hash before = code_hash_of(bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        struct code_hash after = code_hash_of(bytes, sizeof bytes);
        assert_int_not_equal(before.word[0], after.word[0]);
        assert_int_not_equal(before.word[1], after.word[1]);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

TEST(trailing_zeros_change_the_hash)
{
    static const unsigned char zeros[65];
    for (size_t size = 0; size + 1 < sizeof zeros; size++)
        assert_false(equal(code_hash_of(zeros, size), code_hash_of(zeros, size + 1)));
}

TEST(swapped_instructions_change_the_hash)
{
    unsigned char code[128];
    for (size_t i = 0; i < sizeof code; i++)
        code[i] = (unsigned char)(i * 37);
    struct code_hash before = code_hash_of(code, sizeof code);
    for (size_t i = 0; i + 32 <= sizeof code; i += 16) {
        unsigned char swapped[sizeof code];
        memcpy(swapped, code, sizeof code);
        memcpy(swapped + i, code + i + 16, 16);
        memcpy(swapped + i + 16, code + i, 16);
        assert_false(equal(before, code_hash_of(swapped, sizeof swapped)));
    }
}

TEST(the_hash_is_the_same_in_every_build)
{
    /* Stored in databases: a change here makes old hashes unlike new ones. */
    static const char text[] = "S2R R0, SR_TID.X ; EXIT ; and a tail of odd length";
    struct code_hash hash = code_hash_of(text, sizeof text - 1);
    assert_int_equal(hash.word[0], 0x4a559f518527d773u);
    assert_int_equal(hash.word[1], 0x6ec4af6189117842u);
}

TEST(a_name_is_kept_once_and_stays_where_it_is)
{
    struct symbols symbols = {0};
    struct symbol *first = symbols_intern(&symbols, "kernel0");
    for (int i = 0; i < 5000; i++) {
        char name[32];
        snprintf(name, sizeof name, "kernel%d", i);
        assert_non_null(symbols_intern(&symbols, name));
    }
    assert_int_equal(symbols.count, 5000);
    assert_ptr_equal(symbols_intern(&symbols, "kernel0"), first);
    assert_ptr_equal(symbols_find(&symbols, "kernel0"), first);
    assert_null(symbols_find(&symbols, "kernel5000"));
    symbols_release(&symbols);
    assert_null(symbols_find(&symbols, "kernel0"));
}

TEST(two_codes_under_one_name_are_ambiguous)
{
    struct symbols symbols = {0};
    struct symbol *symbol = symbols_intern(&symbols, "kernel");
    struct code_hash a = {{1, 2}}, b = {{1, 3}};
    assert_int_equal(symbol->state, CODE_UNSEEN);
    symbol_see(symbol, a);
    symbol_see(symbol, a);
    assert_int_equal(symbol->state, CODE_SEEN);
    symbol_see(symbol, b);
    assert_int_equal(symbol->state, CODE_AMBIGUOUS);
    symbol_see(symbol, a);
    assert_int_equal(symbol->state, CODE_AMBIGUOUS);
    symbols_release(&symbols);
}
