/*
 * code_listing.h - the machine code of two builds as text, and where it differs: instructions by
 * kind, registers, stack, and the two listings side by side. Pure.
 *
 * It reads what `cuobjdump -sass` and `-res-usage` (CUDA Binary Utilities) and `objdump -d
 * --no-show-raw-insn` (GNU binutils) print. Instructions are compared without what changes when
 * anything before them does: addresses, targets within the function, numbers of registers. A
 * function in which only these differ is the same. The order of instructions is aligned by their
 * longest common subsequence.
 */
#pragma once

enum { CODE_KINDS = 24, CODE_CALLS = 8 };

struct code_line {
    const char *text; /* "FFMA R4, R2, R5, R4" */
    const char *key;  /* "FFMA R, R, R, R" */
    int kind;         /* code_kind_name */
};

struct code_function {
    const char *name;
    int arch;  /* of sm_90: 90; 0: of the host */
    int place; /* in its listing */
    struct code_line *lines;
    int count;
    int registers, stack_bytes, shared_bytes; /* of a kernel; -1: not known */
};

struct code_listing {
    struct code_function *functions;
    int count;
    char **texts; /* owned: what names and lines point into */
    int text_count;
};

/* Add what a tool printed; `text` (malloc) is taken over, whatever happens. -1 with assay_error. */
int code_listing_add(struct code_listing *listing, char *text);
void code_listing_release(struct code_listing *listing);

/* "FMA", "shared memory", "calls". */
const char *code_kind_name(int kind);

/* A function whose code is not the same. */
struct code_change {
    const struct code_function *base, *candidate; /* NULL: it is not there */
    int counts[2][CODE_KINDS];                    /* instructions by kind, of base and candidate */
    const char *calls[2][CODE_CALLS]; /* what that side alone calls; NULL behind the last */
    int differing;                    /* instructions that have no partner */
};

struct code_changes {
    struct code_change *list; /* the one that differs most is first */
    int count;
};

/* Both listings outlive it. 0, or -1 with assay_error. */
int code_changes_make(struct code_changes *changes, struct code_listing *base,
                      struct code_listing *candidate);
void code_changes_release(struct code_changes *changes);

/* The lines of a change side by side: base[i] beside candidate[i], NULL where the side has none.
 * -1 with assay_error; where the function is too long to be aligned, *count is 0. */
struct code_pair {
    const struct code_line *base, *candidate;
};
int code_change_align(const struct code_change *change, struct code_pair **pairs, int *count);
