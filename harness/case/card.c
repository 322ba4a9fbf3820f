#include "case/card.h"

#include <string.h>

#include "base/text.h"

enum { SM_MIN = 50, SM_MAX = 999, SHARED_MIN = 48 << 10, SHARED_MAX = 1 << 20, SPEC_MAX = 64 };

static struct assay_card shown;

void card_show(const struct assay_card *card)
{
    shown = *card;
}

const struct assay_card *assay_card(void)
{
    return &shown;
}

/* A whole number from `min` to `max`; 0 stands for "not given yet". */
static int take_number(const char *spec, const char *value, int64_t min, int64_t max,
                       const char *wants, int64_t *number)
{
    if (*number) return assay_error("device '%s': a limit is given twice", spec);
    if (text_parse_count(value, number) && *number >= min && *number <= max) return 0;
    return assay_error("device '%s': '%s' is not %s", spec, value, wants);
}

static int take_limit(const char *spec, char *item, struct card_spec *out)
{
    char *value = strchr(item, '=');
    int64_t sm = out->sm;
    if (value) *value++ = '\0';
    if (value && strcmp(item, "shared") == 0)
        return take_number(spec, value, SHARED_MIN, SHARED_MAX,
                           "the shared memory of a block, as in 163Ki (48Ki at least)",
                           &out->shared_bytes);
    if (!value || strcmp(item, "sm") != 0)
        return assay_error("device '%s': there is no limit '%s' (sm=80, shared=163Ki)", spec, item);
    if (take_number(spec, value, SM_MIN, SM_MAX, "a compute capability without its point, as in 80",
                    &sm) < 0)
        return -1;
    out->sm = (int)sm;
    return 0;
}

int card_spec_parse(const char *text, struct card_spec *spec)
{
    char copy[SPEC_MAX], *rest = copy;
    int64_t index = 0;
    const char *colon = strchr(text, ':');
    *spec = (struct card_spec){.is_any = colon == NULL};
    if (colon == NULL) return 0;
    if (text_copy(copy, sizeof copy, colon + 1) < 0)
        return assay_error("device '%s': too long for cuda:N,sm=80,shared=163Ki", text);
    const char *number = strsep(&rest, ",");
    spec->is_any = strcmp(number, "all") == 0;
    if (spec->is_any) number = "0";
    if (number[strspn(number, "0123456789")] || !text_parse_count(number, &index) || index > 1024)
        return assay_error("there is no device '%s' (cuda:N, N from 0, or cuda:all)", text);
    spec->index = (int)index;
    while (rest)
        if (take_limit(text, strsep(&rest, ","), spec) < 0) return -1;
    return 0;
}

void card_limits_text(const struct card_spec *spec, char *out, size_t size)
{
    *out = '\0';
    if (spec->sm) text_add(out, size, ",", "sm=%d", spec->sm);
    if (spec->shared_bytes % 1024)
        text_add(out, size, ",", "shared=%lld", (long long)spec->shared_bytes);
    else if (spec->shared_bytes)
        text_add(out, size, ",", "shared=%lldKi", (long long)(spec->shared_bytes >> 10));
}

int card_limit(struct assay_card *card, int compute_capability, const struct card_spec *spec)
{
    const int64_t RESERVED = 1024; /* of a multiprocessor, for each block */
    if (spec->sm > compute_capability)
        return assay_error("sm=%d is no limit: the card has %d", spec->sm, compute_capability);
    if (spec->shared_bytes > card->shared_bytes)
        return assay_error("shared=%lldKi is no limit: the card has %lldKi",
                           (long long)(spec->shared_bytes >> 10),
                           (long long)(card->shared_bytes >> 10));
    if (spec->sm || spec->shared_bytes) card->arch_specific = false;
    if (spec->sm && spec->sm < card->sm) card->sm = spec->sm;
    if (spec->shared_bytes) {
        card->shared_bytes = spec->shared_bytes;
        if (card->shared_sm_bytes > spec->shared_bytes + RESERVED)
            card->shared_sm_bytes = spec->shared_bytes + RESERVED;
    }
    return 0;
}
