/* fuzz_values.c - what people type as a value: counts, ranges, shapes, cases, devices, verdicts. */
#include "base/text.h"
#include "base/units.h"
#include "case/card.h"
#include "case/case_name.h"
#include "case/shape.h"
#include "device/sim/sim_spec.h"
#include "judge/verdict.h"
#include "suite/suite_check.h"
#include "suite/suite_value.h"
#include "tests/fake_operations.h"
#include "tests/fuzz/fuzz.h"

/* Its values are within the range of the dim. */
static void range(const char *text)
{
    for (int dim = 0; dim < 2; dim++) {
        struct suite_value *values;
        int64_t min, max;
        shape_range(&scale.dims[dim], &min, &max);
        int count = suite_values(&scale.dims[dim], text, &values);
        if (count < 0) continue;
        fuzz_check(count <= SUITE_MAX_VALUES, "a list has at most SUITE_MAX_VALUES");
        for (int i = 0; i < count; i++)
            fuzz_check(values[i].class_name || (values[i].value >= min && values[i].value <= max),
                       "a value of a list is one of its dim");
        free(values);
    }
}

/* What a shape is written as is read as the same shape. */
static void shape(const char *text)
{
    struct assay_shape first, second;
    char written[RESULT_MAX_SHAPE];
    if (shape_parse(&scale, text, &first) != 0) return;
    shape_text(&first, written, sizeof written);
    fuzz_check(shape_parse(&scale, written, &second) == 0 && shape_equal(&first, &second),
               "a shape survives its text");
}

/* The text of a case names the case. */
static void name(const char *text)
{
    struct case_id id = {.operation = "scale", .variant = "fast", .shape = "n=5 input=fp32"};
    char written[CASE_TEXT];
    case_matches(text, &id);
    case_is_word(text);
    text_copy(id.variant, sizeof id.variant, text);
    case_text(&id, written);
    fuzz_check(case_matches(written, &id), "a case matches its own text");
}

static void number(const char *text)
{
    char out[UNITS_MAX];
    int64_t count = -1;
    double value;
    if (text_parse_count(text, &count)) fuzz_check(count >= 0, "a count is not below 0");
    for (int i = 0; i < SUITE_SETTINGS; i++)
        if (suite_setting_read(&suite_settings[i], text, &value) == 0)
            fuzz_check(value >= 0 && value <= suite_settings[i].max, "a setting is in its range");
    if (strlen(text) < sizeof value) return;
    memcpy(&value, text, sizeof value);
    units_time(out, value), units_rate(out, value), units_ops(out, value, text[0] & 1);
    units_percent(out, value), units_ratio(out, value), units_bytes(out, value);
}

static void device(const char *text)
{
    struct sim_spec sim;
    struct card_spec card, again;
    char written[64], spec[80], index[16] = "all";
    if (sim_spec_parse(text, &sim) == 0) sim_spec_slowdown(&sim, "scale", "fast");
    if (card_spec_parse(text, &card) != 0) return;
    card_limits_text(&card, written, sizeof written);
    if (!card.is_any) snprintf(index, sizeof index, "%d", card.index);
    snprintf(spec, sizeof spec, "cuda:%s%s%s", index, written[0] ? "," : "", written);
    fuzz_check(card_spec_parse(spec, &again) == 0 && !memcmp(&card, &again, sizeof card),
               "a card survives its text");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    unsigned verdicts;
    (void)fake_host, (void)fake_cuda;
    range(text);
    shape(text);
    name(text);
    number(text);
    device(text);
    verdict_set_parse(text, &verdicts);
    free(text);
    return 0;
}
