/* code_change.c - where two listings differ. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/grow.h"
#include "base/text.h"
#include "device/code_listing.h"

/* Cells of the table by which two functions are aligned: 2 bytes each. */
static const int64_t MOST_CELLS = 16 << 20;

/* --------------------------------------------------------------- alignment -- */

/* What is alike at both ends needs no table. */
struct middle {
    int from, base_to, candidate_to;
};

static bool same(const struct code_line *a, const struct code_line *b)
{
    return strcmp(a->key, b->key) == 0;
}

static struct middle middle_of(const struct code_function *base,
                               const struct code_function *candidate)
{
    struct middle middle = {0, base->count, candidate->count};
    while (middle.from < base->count && middle.from < candidate->count &&
           same(&base->lines[middle.from], &candidate->lines[middle.from]))
        middle.from++;
    while (middle.base_to > middle.from && middle.candidate_to > middle.from &&
           same(&base->lines[middle.base_to - 1], &candidate->lines[middle.candidate_to - 1])) {
        middle.base_to--;
        middle.candidate_to--;
    }
    return middle;
}

/* length[i][k]: of the longest common subsequence behind i and k. NULL: too long, or no memory. */
static uint16_t *common_lengths(const struct code_function *base,
                                const struct code_function *candidate, const struct middle *middle)
{
    int rows = middle->base_to - middle->from, columns = middle->candidate_to - middle->from;
    size_t stride = (size_t)columns + 1;
    if ((int64_t)(rows + 1) * (columns + 1) > MOST_CELLS || rows > UINT16_MAX) return NULL;
    uint16_t *length = calloc(((size_t)rows + 1) * stride, sizeof *length);
    for (int i = rows - 1; length && i >= 0; i--)
        for (int k = columns - 1; k >= 0; k--) {
            uint16_t *at = &length[(size_t)i * stride + (size_t)k];
            if (same(&base->lines[middle->from + i], &candidate->lines[middle->from + k]))
                *at = (uint16_t)(at[stride + 1] + 1);
            else
                *at = at[stride] > at[1] ? at[stride] : at[1];
        }
    return length;
}

/* Further pairs; lines of either side that have no partner stand beside nothing. */
static void walk(const struct code_function *base, const struct code_function *candidate,
                 const struct middle *middle, const uint16_t *length, struct code_pair *pairs,
                 int *count)
{
    int i = middle->from, k = middle->from;
    size_t stride = (size_t)(middle->candidate_to - middle->from) + 1;
    while (i < middle->base_to || k < middle->candidate_to) {
        const struct code_line *one = i < middle->base_to ? &base->lines[i] : NULL;
        const struct code_line *other = k < middle->candidate_to ? &candidate->lines[k] : NULL;
        const uint16_t *at =
            &length[(size_t)(i - middle->from) * stride + (size_t)(k - middle->from)];
        bool both = one && other && same(one, other);
        bool left = !both && one && (!other || at[stride] >= at[1]);
        pairs[(*count)++] = (struct code_pair){both || left ? one : NULL, left ? NULL : other};
        i += both || left;
        k += !left;
    }
}

int code_change_align(const struct code_change *change, struct code_pair **pairs, int *count)
{
    static const struct code_function none = {.name = ""};
    const struct code_function *base = change->base ? change->base : &none;
    const struct code_function *candidate = change->candidate ? change->candidate : &none;
    struct middle middle = middle_of(base, candidate);
    uint16_t *length = common_lengths(base, candidate, &middle);
    *count = 0;
    *pairs = calloc((size_t)base->count + (size_t)candidate->count + 1, sizeof **pairs);
    if (*pairs && length) {
        for (int i = 0; i < middle.from; i++)
            (*pairs)[(*count)++] = (struct code_pair){&base->lines[i], &candidate->lines[i]};
        walk(base, candidate, &middle, length, *pairs, count);
        int rest = base->count - middle.base_to;
        for (int i = 0; i < rest; i++)
            (*pairs)[(*count)++] = (struct code_pair){&base->lines[middle.base_to + i],
                                                      &candidate->lines[middle.candidate_to + i]};
    }
    free(length);
    return *pairs ? 0 : assay_error("out of memory for two listings");
}

/* ----------------------------------------------------------------- changes -- */

static int by_name(const struct code_function *x, const struct code_function *y)
{
    int order = strcmp(x->name, y->name);
    return order ? order : (x->arch > y->arch) - (x->arch < y->arch);
}

static int by_name_and_place(const void *a, const void *b)
{
    const struct code_function *x = a, *y = b;
    int order = by_name(x, y);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int by_size(const void *a, const void *b)
{
    const struct code_change *x = a, *y = b;
    return (x->differing < y->differing) - (x->differing > y->differing);
}

static const char *callee(const struct code_line *line)
{
    return text_begins(line->text, "call ");
}

static bool calls(const struct code_function *function, const char *name)
{
    for (int i = 0; function && i < function->count; i++) {
        const char *called = callee(&function->lines[i]);
        if (called && strcmp(called, name) == 0) return true;
    }
    return false;
}

/* What `function` calls and `other` does not. */
static void list_calls(const struct code_function *function, const struct code_function *other,
                       const char *list[CODE_CALLS])
{
    int count = 0;
    for (int i = 0; function && i < function->count && count < CODE_CALLS - 1; i++) {
        const char *name = callee(&function->lines[i]);
        bool is_new = name && !calls(other, name);
        for (int k = 0; k < count && is_new; k++)
            is_new = strcmp(list[k], name) != 0;
        if (is_new) list[count++] = name;
    }
}

static int count_differing(struct code_change *change)
{
    struct code_pair *pairs;
    int count;
    if (code_change_align(change, &pairs, &count) != 0) return -1;
    for (int i = 0; i < count; i++)
        change->differing += !pairs[i].base || !pairs[i].candidate;
    if (count == 0)
        change->differing = (change->base ? change->base->count : 0) +
                            (change->candidate ? change->candidate->count : 0);
    free(pairs);
    return 0;
}

static bool is_same(const struct code_function *a, const struct code_function *b)
{
    bool alike = a->count == b->count && a->registers == b->registers &&
                 a->stack_bytes == b->stack_bytes && a->shared_bytes == b->shared_bytes;
    for (int i = 0; alike && i < a->count; i++)
        alike = same(&a->lines[i], &b->lines[i]);
    return alike;
}

static int add_change(struct code_changes *changes, const struct code_function *base,
                      const struct code_function *candidate)
{
    struct code_change *change =
        grow_add(&changes->list, &changes->count, sizeof *change, "changes of code");
    if (!change) return -1;
    *change = (struct code_change){.base = base, .candidate = candidate};
    const struct code_function *sides[] = {base, candidate};
    for (int side = 0; side < 2; side++) {
        for (int i = 0; sides[side] && i < sides[side]->count; i++)
            if (sides[side]->lines[i].kind >= 0) change->counts[side][sides[side]->lines[i].kind]++;
        list_calls(sides[side], sides[1 - side], change->calls[side]);
    }
    return count_differing(change);
}

static void sort(struct code_listing *listing)
{
    if (listing->count > 0)
        qsort(listing->functions, (size_t)listing->count, sizeof *listing->functions,
              by_name_and_place);
}

/* The functions of one name, as static ones of several files are. */
struct namesakes {
    const struct code_function *list;
    int count;
};

static struct namesakes namesakes_of(const struct code_listing *listing, int from,
                                     const struct code_function *one)
{
    struct namesakes found = {listing->functions + from, 0};
    while (from + found.count < listing->count && by_name(&found.list[found.count], one) == 0)
        found.count++;
    return found;
}

/* The first function from *at on that has none of the other side's for itself: of three that are
 * the same, where there are two of them, one is left. NULL: none is. */
static const struct code_function *next_left(const struct namesakes *own,
                                             const struct namesakes *other, int *at)
{
    for (; *at < own->count; ++*at) {
        const struct code_function *one = &own->list[*at];
        int before = 0, there = 0;
        for (int i = 0; i < *at; i++)
            before += is_same(&own->list[i], one);
        for (int i = 0; i < other->count; i++)
            there += is_same(&other->list[i], one);
        if (before >= there) return &own->list[(*at)++];
    }
    return NULL;
}

/* Those that are left on both sides, in their order. */
static int add_left(struct code_changes *changes, const struct namesakes *base,
                    const struct namesakes *candidate)
{
    int b = 0, c = 0;
    for (;;) {
        const struct code_function *one = next_left(base, candidate, &b);
        const struct code_function *other = next_left(candidate, base, &c);
        if (!one && !other) return 0;
        if (add_change(changes, one, other) != 0) return -1;
    }
}

int code_changes_make(struct code_changes *changes, struct code_listing *base,
                      struct code_listing *candidate)
{
    int b = 0, c = 0, status = 0;
    *changes = (struct code_changes){0};
    sort(base);
    sort(candidate);
    while (status == 0 && (b < base->count || c < candidate->count)) {
        const struct code_function *one = b < base->count ? &base->functions[b] : NULL;
        const struct code_function *other = c < candidate->count ? &candidate->functions[c] : NULL;
        const struct code_function *first =
            !one || (other && by_name(one, other) > 0) ? other : one;
        struct namesakes left = namesakes_of(base, b, first);
        struct namesakes right = namesakes_of(candidate, c, first);
        status = add_left(changes, &left, &right);
        b += left.count;
        c += right.count;
    }
    if (status != 0) code_changes_release(changes);
    if (changes->count > 0)
        qsort(changes->list, (size_t)changes->count, sizeof *changes->list, by_size);
    return status;
}

void code_changes_release(struct code_changes *changes)
{
    free(changes->list);
    *changes = (struct code_changes){0};
}
