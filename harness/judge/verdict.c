#include <math.h>
#include <string.h>
#include <strings.h>

#include "assay.h"
#include "base/exit_code.h"
#include "base/text.h"
#include "judge/verdict.h"

static const char *const names[VERDICTS] = {
    [VERDICT_ERROR] = "ERROR",
    [VERDICT_MISSING] = "MISSING",
    [VERDICT_REGRESSED] = "REGRESSED",
    [VERDICT_SUSPECT] = "SUSPECT",
    [VERDICT_UNSTABLE] = "UNSTABLE",
    [VERDICT_INCONCLUSIVE] = "INCONCLUSIVE",
    [VERDICT_INCOMPARABLE] = "INCOMPARABLE",
    [VERDICT_IMPROVED] = "IMPROVED",
    [VERDICT_NEW] = "NEW",
    [VERDICT_PASS] = "PASS",
    [VERDICT_UNCHANGED] = "UNCHANGED",
};

static const char *const tag_names[TAGS] = {"CLOCK",  "THROTTLE",  "BIMODAL", "SAME-CODE",
                                            "DRIVER", "ACK",       "FASTER",  "REDEFINED",
                                            "STEPS",  "UNCHECKED", "AUDIT"};

const char *verdict_name(enum verdict verdict)
{
    return names[verdict];
}

int verdict_parse(const char *name)
{
    for (int i = 0; i < VERDICTS; i++)
        if (strcasecmp(name, names[i]) == 0) return i;
    return -1;
}

const char *tag_name(int bit)
{
    return tag_names[bit];
}

void tags_text(unsigned tags, char *out, int size)
{
    out[0] = '\0';
    for (int i = 0; i < TAGS; i++)
        if (tags >> i & 1) text_add(out, (size_t)size, " ", "%s", tag_names[i]);
}

/* Verdicts for which both sides have a time, or none is wanted. */
static const enum verdict compared[] = {VERDICT_REGRESSED,    VERDICT_SUSPECT,  VERDICT_UNSTABLE,
                                        VERDICT_INCONCLUSIVE, VERDICT_IMPROVED, VERDICT_PASS,
                                        VERDICT_UNCHANGED};

bool verdict_is_change(enum verdict verdict)
{
    return verdict == VERDICT_REGRESSED || verdict == VERDICT_IMPROVED;
}

bool verdict_is_judged(enum verdict verdict)
{
    return verdict_is_change(verdict) || verdict == VERDICT_PASS || verdict == VERDICT_UNCHANGED ||
           verdict == VERDICT_SUSPECT;
}

bool verdict_nothing_compared(const struct verdict_tally *tally)
{
    int count = 0;
    for (size_t i = 0; i < sizeof compared / sizeof compared[0]; i++)
        count += tally->counts[compared[i]];
    return count == 0;
}

bool verdict_too_few_judged(const struct verdict_tally *tally)
{
    if (isnan(tally->least_judged)) return false;
    return tally->judged == 0 || tally->judged < tally->least_judged * tally->cases;
}

int verdict_exit(const struct verdict_tally *tally, unsigned fail_on)
{
    const int *counts = tally->counts, *blocking = tally->blocking;
    int common = 0;
    for (int i = 0; i < VERDICTS; i++)
        if (i != VERDICT_NEW && i != VERDICT_MISSING) common += counts[i];
    if (common == 0) return EXIT_NOTHING;
    if (blocking[VERDICT_ERROR] || blocking[VERDICT_MISSING]) return EXIT_LOST;
    if (blocking[VERDICT_REGRESSED]) return EXIT_REGRESSED;
    if (verdict_nothing_compared(tally) || verdict_too_few_judged(tally)) return EXIT_NOTHING;
    if (tally->redefined > 0 && !isnan(tally->least_judged)) return EXIT_NOTHING;
    for (int i = 0; i < VERDICTS; i++)
        if ((fail_on >> i & 1) && blocking[i]) return EXIT_UNDECIDED;
    return EXIT_FINE;
}

int verdict_set_parse(const char *text, unsigned *set)
{
    char copy[256], *rest = copy, *word;
    *set = 0;
    if (text_copy(copy, sizeof copy, text) != 0) return assay_error("too many verdicts");
    while ((word = strsep(&rest, ","))) {
        int verdict = verdict_parse(word);
        if (strcasecmp(word, "any") == 0) {
            *set |= (1u << VERDICTS) - 1;
            *set &= ~(1u << VERDICT_PASS | 1u << VERDICT_UNCHANGED | 1u << VERDICT_IMPROVED |
                      1u << VERDICT_NEW);
            continue;
        }
        if (verdict < 0) {
            const char *near = text_nearest(word, names, VERDICTS);
            return near ? assay_error("there is no verdict '%s'; did you mean %s?", word, near)
                        : assay_error("there is no verdict '%s' (SUSPECT, UNSTABLE, ..., or any)",
                                      word);
        }
        *set |= 1u << verdict;
    }
    return 0;
}
