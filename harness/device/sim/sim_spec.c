#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "base/text.h"
#include "device/sim/sim_spec.h"

static const double DEFAULT_NOISE_PCT = 1;

struct sim_key {
    const char *name;
    int (*take)(struct sim_spec *spec, const struct sim_key *key, char *value);
    size_t offset;      /* of the number in struct sim_spec, for take_number and take_int */
    double min, max;    /* of the number, or of the one after the colon */
    enum sim_fate fate; /* for take_rule; such a key may be given again */
    const char *wants;  /* what the value must be, for messages */
};

/* ---------------------------------------------------------------- values -- */

static bool parse_number(const char *text, double min, double max, double *value)
{
    char *end;
    errno = 0;
    double number = strtod(text, &end);
    if (errno != 0 || end == text || *end != '\0' || !(number >= min && number <= max))
        return false;
    *value = number;
    return true;
}

static int refuse(const struct sim_key *key, const char *value)
{
    return assay_error("device 'sim': %s=%s: it wants %s", key->name, value, key->wants);
}

static int take_seed(struct sim_spec *spec, const struct sim_key *key, char *value)
{
    char *end;
    errno = 0;
    unsigned long long seed = strtoull(value, &end, 10);
    if (errno != 0 || *end != '\0' || value[strspn(value, "0123456789")] != '\0')
        return refuse(key, value);
    spec->seed = seed;
    return 0;
}

/* An int; one that may be -1 is so of "all". */
static int take_int(struct sim_spec *spec, const struct sim_key *key, char *value)
{
    double number = -1;
    bool is_all = key->min < 0 && strcmp(value, "all") == 0;
    if (!is_all &&
        (!parse_number(value, fmax(key->min, 0), key->max, &number) || number != (int)number))
        return refuse(key, value);
    *(int *)((char *)spec + key->offset) = (int)number;
    return 0;
}

static int take_number(struct sim_spec *spec, const struct sim_key *key, char *value)
{
    double number;
    if (!parse_number(value, key->min, key->max, &number)) return refuse(key, value);
    memcpy((char *)spec + key->offset, &number, sizeof number);
    return 0;
}

/* A share, and how much longer that takes: two fields, one behind the other. */
static int take_share(struct sim_spec *spec, const struct sim_key *key, char *value)
{
    double share, pct;
    char *colon = strchr(value, ':');
    if (colon) *colon = '\0';
    bool fine = colon && parse_number(value, 0, 1, &share) &&
                parse_number(colon + 1, key->min, key->max, &pct);
    if (colon) *colon = ':';
    if (!fine) return refuse(key, value);
    double *field = (double *)((char *)spec + key->offset);
    field[0] = share;
    field[1] = pct;
    return 0;
}

static bool has_size(enum sim_fate fate)
{
    return fate == SIM_SLOW || fate == SIM_BIAS;
}

/* A glob; with a fate that has a size, then a colon and a number. */
static int take_rule(struct sim_spec *spec, const struct sim_key *key, char *value)
{
    struct sim_rule rule = {.fate = key->fate};
    if (has_size(key->fate)) {
        char *colon = strrchr(value, ':');
        if (colon == NULL || colon == value ||
            !parse_number(colon + 1, key->min, key->max, &rule.pct))
            return refuse(key, value);
        *colon = '\0';
    }
    if (spec->rule_count == SIM_MAX_RULES)
        return assay_error("device 'sim': more than %d globs; one may match several cases",
                           SIM_MAX_RULES);
    if (text_copy(rule.glob, sizeof rule.glob, value) < 0)
        return assay_error("device 'sim': %s: a glob has at most %d characters", key->name,
                           SIM_MAX_GLOB - 1);
    spec->rules[spec->rule_count++] = rule;
    return 0;
}

/* ------------------------------------------------------------------ keys -- */

#define SHARE     "a share from 0 to 1"
#define SHARE_PCT "SHARE:PCT with " SHARE " and per cent from -90 to 1000, as in 0.2:4"
#define GLOB      "a glob on operation/variant, as in int8_quantize/*"
#define AT(field) offsetof(struct sim_spec, field)

static const struct sim_key keys[] = {
    {"seed", take_seed, 0, 0, 0, 0, "a whole number"},
    {"noise", take_number, AT(noise_pct), 0, 100, 0, "per cent from 0 to 100, as in 1.5"},
    {"launch", take_number, AT(launch_pct), 0, 100, 0, "per cent from 0 to 100, as in 0.5"},
    {"drift", take_number, AT(drift_pct), -10, 100, 0,
     "per cent per minute from -10 to 100, as in 0.2"},
    {"modes", take_share, AT(mode_share), -90, 1000, 0, SHARE_PCT},
    {"places", take_share, AT(place_share), -90, 1000, 0, SHARE_PCT},
    {"throttle", take_number, AT(throttle_share), 0, 1, 0, SHARE ", as in 0.1"},
    {"step", take_number, AT(step_ns), 0, 1e6, 0, "ns from 0 to 1e6, as in 32"},
    {"gpus", take_int, AT(gpus), 1, SIM_MAX_GPUS, 0, "how many there are, from 1 to 64"},
    {"gpu", take_int, AT(gpu), -1, SIM_MAX_GPUS - 1, 0, "the number of one of them from 0, or all"},
    {"slow", take_rule, 0, -90, 10000, SIM_SLOW,
     "GLOB:PCT with per cent from -90 to 10000, as in int8_quantize/*:10"},
    {"bias", take_rule, 0, -90, 10000, SIM_BIAS,
     "GLOB:PCT with per cent from -90 to 10000, as in int8_quantize/*:3"},
    {"code", take_number, AT(code), 0, 1e6, 0, "a number from 0 to 1e6"},
    {"crash", take_rule, 0, 0, 0, SIM_CRASH, GLOB},
    {"hang", take_rule, 0, 0, 0, SIM_HANG, GLOB},
    {"wrong", take_rule, 0, 0, 0, SIM_WRONG, GLOB},
    {"missing", take_rule, 0, 0, 0, SIM_MISSING, GLOB},
};

static int unknown_key(const char *name)
{
    char hint[TEXT_HINT];
    return assay_error("device 'sim': there is no key '%s'%s", name,
                       rows_hint(hint, name, ROWS(keys), ""));
}

/* Take one "KEY=VALUE"; `seen` has a bit for every key that occurred before. */
static int take_item(struct sim_spec *spec, char *item, unsigned *seen)
{
    char *equals = strchr(item, '=');
    if (*item == '\0')
        return assay_error("device 'sim': KEY=VALUE is missing, as in sim:seed=1,launch=0.5");
    if (equals) *equals = '\0';
    int at = rows_find(ROWS(keys), item);
    if (at < 0) return unknown_key(item);
    const struct sim_key *key = &keys[at];
    if (equals == NULL || equals[1] == '\0') return refuse(key, "");
    if (*seen & 1u << at && key->take != take_rule)
        return assay_error("device 'sim': '%s' is given twice", key->name);
    *seen |= 1u << at;
    return key->take(spec, key, equals + 1);
}

int sim_spec_parse(const char *text, struct sim_spec *spec)
{
    *spec = (struct sim_spec){.seed = 1, .noise_pct = DEFAULT_NOISE_PCT, .gpu = -1, .code = NAN};
    const char *colon = strchr(text, ':');
    if (colon == NULL) return 0;
    char *copy = strdup(colon + 1);
    if (copy == NULL) return assay_error("out of memory for the simulated device");
    unsigned seen = 0;
    int status = 0;
    char *item = copy;
    while (item && status == 0) {
        char *next = strchr(item, ',');
        if (next) *next++ = '\0';
        status = take_item(spec, item, &seen);
        item = next;
    }
    free(copy);
    if (status == 0 && spec->gpu > 0 && spec->gpu >= spec->gpus)
        return assay_error("device 'sim': gpu=%d: there is none of that number (gpus=N makes "
                           "more)",
                           spec->gpu);
    return status;
}

/* ----------------------------------------------------------------- rules -- */

static bool matches(const struct sim_rule *rule, const char *operation, const char *variant)
{
    char name[2 * ASSAY_MAX_NAME];
    snprintf(name, sizeof name, "%s/%s", operation, variant);
    return text_glob(rule->glob, name);
}

bool sim_spec_has(const struct sim_spec *spec, enum sim_fate fate, const char *operation,
                  const char *variant)
{
    for (int i = 0; i < spec->rule_count; i++)
        if (spec->rules[i].fate == fate && matches(&spec->rules[i], operation, variant))
            return true;
    return false;
}

/* The product of 1 + PCT / 100 over the rules that match, of one fate. */
static double product(const struct sim_spec *spec, enum sim_fate fate, const char *operation,
                      const char *variant)
{
    double product = 1;
    for (int i = 0; i < spec->rule_count; i++)
        if (spec->rules[i].fate == fate && matches(&spec->rules[i], operation, variant))
            product *= 1 + spec->rules[i].pct / 100;
    return product;
}

double sim_spec_work(const struct sim_spec *spec, const char *operation, const char *variant)
{
    return product(spec, SIM_SLOW, operation, variant);
}

double sim_spec_slowdown(const struct sim_spec *spec, const char *operation, const char *variant)
{
    return sim_spec_work(spec, operation, variant) * product(spec, SIM_BIAS, operation, variant);
}

void sim_spec_code(const struct sim_spec *spec, const char *operation, const char *variant,
                   char out[SIM_CODE])
{
    snprintf(out, SIM_CODE, "%.17g by %.17g", spec->code, sim_spec_work(spec, operation, variant));
}
