/* code_show.c - where the machine code of two builds differs, as text. */
#include <stdlib.h>

#include "base/text.h"
#include "device/code_read.h"
#include "device/demangle.h"
#include "show/show.h"

enum { LINE = 1024, NAME = 160, COLUMN = 46, CONTEXT = 1 };

static void add_change(char *out, const char *between, const char *what, int base, int candidate)
{
    text_add(out, LINE, between, "%s %d to %d", what, base, candidate);
}

static void add_resources(char *out, const struct code_change *change)
{
    const struct code_function *base = change->base, *candidate = change->candidate;
    if (!base || !candidate || base->registers < 0 || candidate->registers < 0) return;
    if (base->registers != candidate->registers)
        add_change(out, ", ", "registers", base->registers, candidate->registers);
    if (base->stack_bytes != candidate->stack_bytes)
        add_change(out, ", ", "bytes of stack", base->stack_bytes, candidate->stack_bytes);
    if (base->shared_bytes != candidate->shared_bytes)
        add_change(out, ", ", "bytes of shared memory", base->shared_bytes,
                   candidate->shared_bytes);
}

static void add_calls(char *out, const char *const calls[CODE_CALLS], const char *lead)
{
    for (int i = 0; calls[i]; i++)
        text_add(out, LINE, i == 0 ? "; " : ", ", "%s%s", i == 0 ? lead : "", calls[i]);
}

static void summary(char out[LINE], const struct code_change *change)
{
    const struct code_function *base = change->base, *candidate = change->candidate;
    out[0] = '\0';
    if (!base || !candidate)
        text_add(out, LINE, "", "%s, %d instructions", base ? "gone" : "new",
                 base ? base->count : candidate->count);
    else
        add_change(out, "", "instructions", base->count, candidate->count);
    for (int kind = 0; kind < CODE_KINDS && base && candidate; kind++)
        if (change->counts[0][kind] != change->counts[1][kind])
            add_change(out, ", ", code_kind_name(kind), change->counts[0][kind],
                       change->counts[1][kind]);
    add_resources(out, change);
    if (!base || !candidate) return;
    add_calls(out, change->calls[1], "now calls ");
    add_calls(out, change->calls[0], "no longer calls ");
}

static bool is_alike(const struct code_pair *pair)
{
    return pair->base && pair->candidate;
}

static bool is_shown(const struct code_pair *pairs, int count, int at)
{
    for (int i = at - CONTEXT; i <= at + CONTEXT; i++)
        if (i >= 0 && i < count && !is_alike(&pairs[i])) return true;
    return false;
}

static void write_pair(FILE *out, const struct code_pair *pair)
{
    char base[2 * COLUMN] = "", candidate[2 * COLUMN] = "";
    if (pair->base) show_fit(base, sizeof base, pair->base->text, COLUMN);
    if (pair->candidate) show_fit(candidate, sizeof candidate, pair->candidate->text, COLUMN);
    fprintf(out, "    %-*s %c %s\n", COLUMN, base,
            is_alike(pair) ? ' '
            : pair->base   ? '<'
                           : '>',
            candidate);
}

static void write_pairs(FILE *out, const struct code_change *change, int lines)
{
    struct code_pair *pairs;
    int count, said = 0, left = 0;
    if (!change->base || !change->candidate || code_change_align(change, &pairs, &count) != 0)
        return;
    for (int i = 0; i < count; i++) {
        if (!is_shown(pairs, count, i)) continue;
        if (said < lines)
            write_pair(out, &pairs[i]);
        else
            left++;
        said++;
    }
    if (left > 0) fprintf(out, "    ... and %d lines more\n", left);
    free(pairs);
}

void code_show(FILE *out, const struct code_difference *difference, int most, int lines)
{
    const struct code_changes *changes = &difference->changes;
    char text[LINE], name[NAME];
    for (int i = 0; i < changes->count && i < most; i++) {
        const struct code_change *change = &changes->list[i];
        const struct code_function *one = change->base ? change->base : change->candidate;
        demangle(one->name, text, sizeof text);
        show_fit(name, sizeof name, text, NAME - 1);
        summary(text, change);
        if (one->arch > 0)
            fprintf(out, "  %s (sm_%d): %s\n", name, one->arch, text);
        else
            fprintf(out, "  %s: %s\n", name, text);
        write_pairs(out, change, lines);
    }
    if (changes->count > most) fprintf(out, "  and %d functions more\n", changes->count - most);
    if (changes->count == 0 && !difference->lacks[0]) fputs("  no function differs\n", out);
    if (difference->lacks[0]) fprintf(out, "  not compared: %s\n", difference->lacks);
}
