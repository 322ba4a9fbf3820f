#include "judge/proof.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "judge/timings.h"

/* The items of a fact, one after another; "" behind the last. */
static void next_item(const char **rest, char out[FINGERPRINT_FACT])
{
    const char *end = strstr(*rest, "; ");
    size_t length = end ? (size_t)(end - *rest) : strlen(*rest);
    snprintf(out, FINGERPRINT_FACT, "%.*s", (int)length, *rest);
    *rest += length + (end ? 2 : 0);
}

/* "launch 2: block 128 1 1, base 256 1 1" of two facts that differ. */
static void fact_difference(const char *base, const char *candidate, char why[ASSAY_MAX_REASON])
{
    char one[FINGERPRINT_FACT], other[FINGERPRINT_FACT];
    size_t what = strcspn(base, ":");
    if (strncmp(base, candidate, what + 1) != 0) {
        snprintf(why, ASSAY_MAX_REASON, "%.70s, where the base has %.70s", candidate, base);
        return;
    }
    const char *left = base + what, *right = candidate + what;
    if (*left) left += 2, right += 2;
    do {
        next_item(&left, one);
        next_item(&right, other);
    } while (one[0] && strcmp(one, other) == 0);
    snprintf(why, ASSAY_MAX_REASON, "%.*s: %.60s, base %.60s", (int)(what < 60 ? what : 60),
             candidate, other[0] ? other : "less", one[0] ? one : "less");
}

static int first_difference(const struct fingerprint *base, const struct fingerprint *candidate)
{
    for (int i = 0; i < FINGERPRINT_KEPT; i++)
        if (strcmp(base->fact[i], candidate->fact[i]) != 0) return i;
    return -1;
}

/* Of what the host adds to its times. */
static bool host_differs(const struct fingerprint *base, const struct fingerprint *candidate,
                         char why[ASSAY_MAX_REASON])
{
    if (!base->needs_program && !candidate->needs_program) return false;
    if (base->program[0] && strcmp(base->program, candidate->program) == 0) return false;
    snprintf(why, ASSAY_MAX_REASON, "the code of the host, which its time depends on, %s",
             base->program[0] && candidate->program[0] ? "differs" : "is not known");
    return true;
}

bool proof_holds(const struct fingerprint *base, const struct fingerprint *candidate,
                 char why[ASSAY_MAX_REASON])
{
    int at = first_difference(base, candidate);
    why[0] = '\0';
    if (candidate->unknown[0])
        snprintf(why, ASSAY_MAX_REASON, "%s", candidate->unknown);
    else if (base->unknown[0])
        snprintf(why, ASSAY_MAX_REASON, "%s", base->unknown);
    else if (base->count == 0 || candidate->count == 0)
        snprintf(why, ASSAY_MAX_REASON, "nothing is known of it");
    else if (at >= 0)
        fact_difference(base->fact[at], candidate->fact[at], why);
    else if (base->count != candidate->count || strcmp(base->hash, candidate->hash) != 0)
        snprintf(why, ASSAY_MAX_REASON, "it differs in a part that is only kept as a hash");
    else if (case_id_order(&base->id, &candidate->id) != 0 || base->id.kind != candidate->id.kind)
        snprintf(why, ASSAY_MAX_REASON, "it is another case");
    else
        host_differs(base, candidate, why);
    return why[0] == '\0';
}

static int by_case(const void *a, const void *b)
{
    const struct fingerprint *x = a, *y = b;
    return case_id_order(&x->id, &y->id);
}

static void add(struct proof_plan *plan, const struct case_id *id, bool in_both, const char *why)
{
    struct proven_case *one = &plan->cases[plan->count++];
    *one = (struct proven_case){
        .id = *id, .proof = why[0] ? PROOF_NONE : PROOF_HOLDS, .in_both = in_both};
    snprintf(one->why, sizeof one->why, "%s", why);
    plan->proven += !why[0];
    plan->open += why[0] != '\0';
}

static bool is_twice(const struct fingerprints *prints, int at)
{
    const struct fingerprint *one = &prints->list[at];
    return (at > 0 && by_case(one - 1, one) == 0) ||
           (at + 1 < prints->count && by_case(one, one + 1) == 0);
}

static void merge(struct proof_plan *plan, const struct fingerprints *base,
                  const struct fingerprints *candidate)
{
    char why[ASSAY_MAX_REASON];
    int b = 0, c = 0;
    while (b < base->count || c < candidate->count) {
        const struct fingerprint *one = b < base->count ? &base->list[b] : NULL;
        const struct fingerprint *other = c < candidate->count ? &candidate->list[c] : NULL;
        int order = !one ? 1 : !other ? -1 : case_id_order(&one->id, &other->id);
        if (order == 0) proof_holds(one, other, why);
        if (order == 0 && (is_twice(base, b) || is_twice(candidate, c)))
            snprintf(why, sizeof why, "it has more than one fingerprint");
        if (order < 0) snprintf(why, sizeof why, "the candidate has no fingerprint of it");
        if (order > 0) snprintf(why, sizeof why, "the base has no fingerprint of it");
        bool in_both = order == 0 && one->count > 0 && other->count > 0;
        add(plan, order <= 0 ? &one->id : &other->id, in_both, why);
        b += order <= 0;
        c += order >= 0;
    }
}

static uint64_t draw(uint64_t seed, const struct case_id *id)
{
    const char *const parts[] = {id->operation, id->variant, id->shape};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        for (const char *at = parts[i]; *at; at++)
            seed = rng_mix(seed, (unsigned char)*at);
    return rng_mix(seed, (uint64_t)id->temperature);
}

enum { AUDIT_STREAM = 0x61756469 };

static void audit(struct proof_plan *plan, struct proven_case *one)
{
    one->proof = PROOF_AUDITED;
    plan->proven--;
    plan->audited++;
}

static bool measures_both(const struct proof_plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        if (plan->cases[i].proof != PROOF_HOLDS && plan->cases[i].in_both) return true;
    return false;
}

static void choose_audit(struct proof_plan *plan, uint64_t seed)
{
    seed = rng_mix(seed, AUDIT_STREAM);
    plan->audits_all = plan->open == 0 && seed % PROOF_AUDIT == 0;
    for (int i = 0; i < plan->count; i++) {
        struct proven_case *one = &plan->cases[i];
        bool is_drawn = plan->open > 0 && draw(seed, &one->id) % PROOF_AUDIT == 0;
        if (one->proof == PROOF_HOLDS && (is_drawn || plan->audits_all)) audit(plan, one);
    }
    for (int i = 0; i < plan->count && plan->open > 0 && !measures_both(plan); i++)
        if (plan->cases[i].proof == PROOF_HOLDS) audit(plan, &plan->cases[i]);
}

int proof_plan_make(struct proof_plan *plan, struct fingerprints *base,
                    struct fingerprints *candidate, uint64_t seed)
{
    size_t count = (size_t)base->count + (size_t)candidate->count;
    *plan = (struct proof_plan){.cases = calloc(count + 1, sizeof *plan->cases)};
    if (!plan->cases) return assay_error("out of memory for %zu fingerprints", count);
    if (base->count) qsort(base->list, (size_t)base->count, sizeof *base->list, by_case);
    if (candidate->count)
        qsort(candidate->list, (size_t)candidate->count, sizeof *candidate->list, by_case);
    merge(plan, base, candidate);
    choose_audit(plan, seed);
    return 0;
}

void proof_plan_release(struct proof_plan *plan)
{
    free(plan->cases);
    *plan = (struct proof_plan){0};
}

const struct proven_case *proof_plan_find(const struct proof_plan *plan, const struct case_id *id)
{
    return case_first(id, plan->cases, plan->count, sizeof *plan->cases);
}
