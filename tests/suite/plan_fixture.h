/* plan_fixture.h - a plan made of a suite's text, and what is expected of it. */
#pragma once

#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "case/shape.h"
#include "tests/fake_operations.h"
#include "suite/plan.h"
#include "tests/suite_folder.h"

static const struct plan_options whole = {0};

static inline struct plan make(const char *text, const struct device_info *device,
                               const struct plan_options *options)
{
    struct suite suite;
    struct plan plan;
    write_suite("p.ini", text);
    assert_int_equal(suite_read(&suite, "p.ini"), 0);
    assert_int_equal(plan_make(&plan, &suite, device, options), 0);
    suite_release(&suite);
    return plan;
}

static inline void expect_error(const char *text, const struct device_info *device,
                                const struct plan_options *options, const char *message)
{
    struct suite suite;
    struct plan plan;
    write_suite("p.ini", text);
    assert_int_equal(suite_read(&suite, "p.ini"), 0);
    assert_int_equal(plan_make(&plan, &suite, device, options), -1);
    assert_string_equal(assay_last_error(), message);
    assert_null(plan.groups);
    suite_release(&suite);
}

/* The groups' shapes and temperatures, as text, one a line. */
static inline void expect_groups(const struct plan *plan, const char *expected)
{
    char text[4096] = "";
    for (int i = 0; i < plan->count; i++) {
        char shape[RESULT_MAX_SHAPE];
        size_t used = strlen(text);
        shape_text(&plan->groups[i].shape, shape, sizeof shape);
        snprintf(text + used, sizeof text - used, "%s %s %s\n",
                 plan->groups[i].shape.operation->name, shape,
                 temperature_name(plan->groups[i].temperature));
    }
    assert_string_equal(text, expected);
}

/* Names of a group's variants with their reasons: "plain wide(why)". */
static inline void expect_variants(const struct group *group, const char *expected)
{
    char text[2048] = "";
    for (int i = 0; i < group->variant_count; i++) {
        size_t used = strlen(text);
        const char *skip = group->skip[i];
        snprintf(text + used, sizeof text - used, "%s%s%s%s%s", i ? " " : "",
                 group->variant[i]->name, *skip ? "(" : "", skip, *skip ? ")" : "");
    }
    assert_string_equal(text, expected);
}
