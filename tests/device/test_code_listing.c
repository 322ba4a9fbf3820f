/* test_code_listing.c - listings of machine code: what differs, and what only moved. */
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "device/code_listing.h"

static const char sass[] =
    "\n\tcode for sm_90a\n\t.target\tsm_90a\n\n\t\tFunction : _Z5scalePf\n"
    "\t.headerflags\t@\"EF_CUDA_SM90\"\n"
    "        /*0000*/                   LDG.E R4, desc[UR6][R4.64] ;       /* 0x1 */\n"
    "                                                                      /* 0x2 */\n"
    "        /*0010*/                   FFMA R5, R4.reuse, R3, 1 ;         /* 0x1 */\n"
    "        /*0020*/              @!P0 BRA 0x810 ;                        /* 0x1 */\n"
    "        /*0030*/                   EXIT ;                             /* 0x1 */\n"
    "        /*0040*/                   BRA 0x40;                          /* 0x1 */\n"
    "        /*0050*/                   NOP;                               /* 0x1 */\n"
    "\nResource usage:\n Common:\n  GLOBAL:0\n Function _Z5scalePf:\n"
    "  REG:22 STACK:0 SHARED:1536 LOCAL:0 CONSTANT[0]:548\n";

static const char host[] =
    "\na.out:     file format elf64-x86-64\n\n\nDisassembly of section .text:\n\n"
    "0000000000001030 <malloc@plt>:\n    1030:\tjmp    *0x2fe2(%rip)        # 4018 <malloc>\n\n"
    "0000000000001139 <scale>:\n    1139:\tpush   %rbp\n    113a:\tmov    0x2ee4(%rip),%eax   "
    "     # 4024 <x>\n    1140:\tje     1150 <scale+0x17>\n    1142:\tcall   1030 <malloc@plt>\n"
    "    1144:\tmulps  %xmm1,%xmm0\n    1146:\tlock addl $0x1,(%rax)\n"
    "    1149:\tdivss  %xmm1,%xmm0\n    1150:\tret\n    1151:\tnopw   0x0(%rax,%rax,1)\n";

static struct code_listing listing_of(const char *text)
{
    struct code_listing listing = {0};
    assert_int_equal(code_listing_add(&listing, strdup(text)), 0);
    return listing;
}

/* The text with one part replaced by another. */
static struct code_listing changed(const char *text, const char *from, const char *to)
{
    char *copy = calloc(1, strlen(text) + strlen(to) + 1);
    const char *at = strstr(text, from);
    struct code_listing listing = {0};
    assert_non_null(at);
    memcpy(copy, text, (size_t)(at - text));
    strcat(strcat(copy, to), at + strlen(from));
    assert_int_equal(code_listing_add(&listing, copy), 0);
    return listing;
}

static int kinds_of(const struct code_change *change, int side, const char *kind)
{
    for (int i = 0; i < CODE_KINDS; i++)
        if (strcmp(code_kind_name(i), kind) == 0) return change->counts[side][i];
    fail();
    return 0;
}

TEST(kernels_are_read)
{
    struct code_listing listing = listing_of(sass);
    assert_int_equal(listing.count, 1);
    const struct code_function *one = &listing.functions[0];
    assert_string_equal(one->name, "_Z5scalePf");
    assert_int_equal(one->arch, 90);
    assert_int_equal(one->count, 5); /* without the padding */
    assert_string_equal(one->lines[1].text, "FFMA R5, R4.reuse, R3, 1");
    assert_string_equal(one->lines[1].key, "FFMA R, R, R, 1");
    assert_string_equal(one->lines[2].key, "@!P BRA .");
    assert_string_equal(code_kind_name(one->lines[0].kind), "global memory");
    assert_int_equal(one->registers, 22);
    assert_int_equal(one->stack_bytes, 0);
    assert_int_equal(one->shared_bytes, 1536);
    code_listing_release(&listing);
}

TEST(functions_of_the_host_are_read)
{
    static const char *const kinds[] = {"moves",  "moves",   "jumps",     "calls",
                                        "packed", "atomics", "divisions", "jumps"};
    struct code_listing listing = listing_of(host);
    assert_int_equal(listing.count, 1); /* not what only jumps to a library */
    const struct code_function *one = &listing.functions[0];
    assert_string_equal(one->name, "scale");
    assert_int_equal(one->arch, 0);
    assert_int_equal(one->count, 8);
    assert_string_equal(one->lines[1].text, "mov (%rip),%eax");
    assert_string_equal(one->lines[2].text, "je .");
    assert_string_equal(one->lines[3].text, "call malloc@plt");
    assert_string_equal(one->lines[4].key, "mulps %xmm,%xmm");
    for (int i = 0; i < one->count; i++)
        assert_string_equal(code_kind_name(one->lines[i].kind), kinds[i]);
    code_listing_release(&listing);
}

/* How many functions differ, and of the first one its change. */
static int differ(const char *text, const char *from, const char *to, struct code_change *first)
{
    struct code_listing base = listing_of(text), candidate = changed(text, from, to);
    struct code_changes changes;
    assert_int_equal(code_changes_make(&changes, &base, &candidate), 0);
    int count = changes.count;
    if (count > 0) *first = changes.list[0];
    code_changes_release(&changes);
    code_listing_release(&base);
    code_listing_release(&candidate);
    return count;
}

TEST(what_only_moved_is_the_same)
{
    struct code_change change;
    assert_int_equal(differ(sass, "FFMA R5, R4.reuse, R3", "FFMA R9, R8, R3", &change), 0);
    assert_int_equal(differ(sass, "BRA 0x810", "BRA 0x990", &change), 0);
    assert_int_equal(differ(host, "je     1150", "je     1160", &change), 0);
    assert_int_equal(differ(host, "0x2ee4(%rip)", "0x1ee4(%rip)", &change), 0);
    assert_int_equal(differ(host, "call   1030", "call   1040", &change), 0);
    assert_int_equal(differ(host, "mulps  %xmm1", "mulps  %xmm7", &change), 0);
}

TEST(what_differs_is_counted)
{
    struct code_change change;
    assert_int_equal(differ(sass, "FFMA R5", "STL R5", &change), 1);
    assert_int_equal(kinds_of(&change, 0, "FMA"), 1);
    assert_int_equal(kinds_of(&change, 1, "FMA"), 0);
    assert_int_equal(kinds_of(&change, 1, "local memory"), 1);
    assert_int_equal(change.differing, 2);
    assert_int_equal(differ(sass, "REG:22", "REG:40", &change), 1);
    assert_int_equal(differ(sass, "STACK:0", "STACK:16", &change), 1);
    assert_int_equal(differ(host, "mulps ", "mulss ", &change), 1);
    assert_int_equal(kinds_of(&change, 0, "packed"), 1);
    assert_int_equal(kinds_of(&change, 1, "floating point"), 1);
    assert_int_equal(differ(host, "<scale>:", "<renamed>:", &change), 2);
}

TEST(calls_are_named)
{
    struct code_listing base = listing_of(host);
    struct code_listing candidate = changed(host, "call   1030 <malloc@plt>", "call   1050 <free>");
    struct code_changes changes;
    assert_int_equal(code_changes_make(&changes, &base, &candidate), 0);
    assert_int_equal(changes.count, 1);
    assert_string_equal(changes.list[0].calls[0][0], "malloc@plt");
    assert_string_equal(changes.list[0].calls[1][0], "free");
    assert_null(changes.list[0].calls[1][1]);
    code_changes_release(&changes);
    code_listing_release(&base);
    code_listing_release(&candidate);
}

/* Static functions of several files have one name: each finds the one that it was. */
TEST(namesakes_are_told_apart)
{
    static const char one[] = "0000 <launch>:\n  1:\tpush %rbp\n";
    static const char two[] = "0010 <launch>:\n  1:\tret\n";
    static const char three[] = "0020 <launch>:\n  1:\tleave\n";
    static const char four[] = "0020 <launch>:\n  1:\tint3\n";
    static const struct {
        const char *base[3], *candidate[3];
        int changes;
    } cases[] = {
        {{one, two, three}, {three, one, two}, 0}, {{one, two, three}, {one, three, ""}, 1},
        {{one, two, ""}, {three, one, two}, 1},    {{one, two, three}, {four, two, one}, 1},
        {{one, one, one}, {one, one, ""}, 1},      {{one, one, two}, {one, two, two}, 1},
        {{one, two, ""}, {three, four, ""}, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct code_listing base = {0}, candidate = {0};
        struct code_changes changes;
        for (int k = 0; k < 3; k++) {
            assert_int_equal(code_listing_add(&base, strdup(cases[i].base[k])), 0);
            assert_int_equal(code_listing_add(&candidate, strdup(cases[i].candidate[k])), 0);
        }
        assert_int_equal(code_changes_make(&changes, &base, &candidate), 0);
        assert_int_equal(changes.count, cases[i].changes);
        code_changes_release(&changes);
        code_listing_release(&base);
        code_listing_release(&candidate);
    }
}

/* Every line of both sides is in the alignment, in its order, and pairs are alike. */
TEST(lines_stand_side_by_side)
{
    static const char more[] = "    1139:\tpush   %rbx\n    1139:\tpush   %rbp";
    struct code_listing base = listing_of(host);
    struct code_listing candidate = changed(host, "    1139:\tpush   %rbp", more);
    struct code_changes changes;
    struct code_pair *pairs;
    int count, left = 0, right = 0;
    assert_int_equal(code_changes_make(&changes, &base, &candidate), 0);
    assert_int_equal(changes.list[0].differing, 1);
    assert_int_equal(code_change_align(&changes.list[0], &pairs, &count), 0);
    assert_int_equal(count, 9);
    for (int i = 0; i < count; i++) {
        if (pairs[i].base) assert_ptr_equal(pairs[i].base, &base.functions[0].lines[left++]);
        if (pairs[i].candidate)
            assert_ptr_equal(pairs[i].candidate, &candidate.functions[0].lines[right++]);
        if (pairs[i].base && pairs[i].candidate)
            assert_string_equal(pairs[i].base->key, pairs[i].candidate->key);
    }
    assert_int_equal(left, 8);
    assert_int_equal(right, 9);
    free(pairs);
    code_changes_release(&changes);
    code_listing_release(&base);
    code_listing_release(&candidate);
}

/* A tool that is another, or was cut off, is no code and no harm. */
TEST(what_is_no_listing_is_empty)
{
    static const char *const texts[] = {"",
                                        "\n\n",
                                        "Function :",
                                        "0 <>:\n :\t",
                                        "\tcode for sm_",
                                        " Function :\n REG:",
                                        "a <b>:\n    1:\t\n    2:\tcall <"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct code_listing listing = listing_of(texts[i]);
        assert_true(listing.count <= 1);
        code_listing_release(&listing);
    }
    for (size_t length = 0; length < sizeof sass; length++) {
        char *part = strndup(length % 2 ? sass : host, length);
        struct code_listing listing = {0};
        assert_int_equal(code_listing_add(&listing, part), 0);
        code_listing_release(&listing);
    }
}
