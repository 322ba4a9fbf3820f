#include <math.h>
#include <string.h>

#include "tests/test.h"
#include "base/error.h"
#include "bench/expression.h"

static const struct assay_operation operation = {
    .dims = {{.name = "n"}, {.name = "rows"}, {.name = "large"}, {.name = "zero"}}};
static const struct assay_shape sizes = {&operation, {1000, 7, INT64_MAX, 0}};

static void gives(const char *text, int64_t expected)
{
    int64_t value;
    if (expression_whole(text, &sizes, &value)) fail_msg("%s", assay_last_error());
    assert_int_equal(value, expected);
}

static void gives_real(const char *text, double expected)
{
    double value;
    if (expression_real(text, &sizes, &value)) fail_msg("%s", assay_last_error());
    assert_true(value == expected);
}

static void refuses(const char *text, const char *why)
{
    int64_t value;
    if (expression_whole(text, &sizes, &value) == 0) fail_msg("%s is taken", text);
    if (!strstr(assay_last_error(), why)) fail_msg("%s, not %s", assay_last_error(), why);
    assert_non_null(strstr(assay_last_error(), "'")); /* the expression is named */
}

TEST(signs_have_their_usual_order)
{
    gives("1 + 2*3", 7);
    gives("(1 + 2)*3", 9);
    gives("10 - 3 - 2", 5);
    gives("100/10/5", 2);
    gives("7 % 4 * 2", 6);
    gives("-3 + 5", 2);
    gives("--3", 3);
    gives("2*-3", -6);
    gives(" n ", 1000);
}

TEST(fractions_are_exact)
{
    gives("ceil(n/256)", 4);
    gives("n/3*3", 1000);
    gives("ceil(n/3)", 334);
    gives("floor(n/3)", 333);
    gives("ceil(-7/2)", -3);
    gives("floor(-7/2)", -4);
    gives("ceil(6/2)", 3);
    /* Beyond what a double holds. */
    gives("ceil(large/2)", INT64_MAX / 2 + 1);
    gives("large - 1", INT64_MAX - 1);
    gives("0.5*n", 500);
    gives_real("1/3", 1.0 / 3);
}

TEST(units_multiply)
{
    gives("64Ki", 65536);
    gives("1.5Mi", 3 << 19);
    gives("2k + 1M", 1002000);
    gives("8Ti", INT64_C(8) << 40);
    gives_real("1e-5", 1e-5);
    gives("1e3", 1000);
}

TEST(functions_take_what_they_say)
{
    gives("min(n, rows)", 7);
    gives("max(n, rows*1000)", 7000);
    gives("min(1/3, 1/2)*3", 1);
    gives("log2(1024)", 10);
    gives_real("log2(3)", log2(3));
    gives("ceil(log2(1000))", 10);
}

TEST(what_is_wrong_is_said)
{
    refuses("n/zero", "divides by zero");
    refuses("n % zero", "divides by zero");
    refuses("1e5/(zero*1e5)", "divides by zero");
    refuses("large*2", "does not fit into 64 bits");
    refuses("large + 1", "does not fit into 64 bits");
    refuses("99999999999999999999", "does not fit into 64 bits");
    refuses("9Ti*1Mi*9", "does not fit into 64 bits");
    refuses("n/3", "no whole number");
    refuses("row", "did you mean 'rows'?");
    refuses("nn*2", "there is no size 'nn'");
    refuses("ceil n", "wants its '('");
    refuses("min(n)", "two numbers");
    refuses("(n", "a ')' is missing");
    refuses("n)", "')' is too much");
    refuses("n n", "'n' is too much");
    refuses("n*", "missing at its end");
    refuses("", "missing at its end");
    refuses("*n", "missing before '*n'");
    refuses("3q", "'q' is no unit");
    refuses("n % 0.5", "for whole numbers");
    refuses("log2(0)", "above zero");
    refuses("1e308*1e308", "too large");
    char deep[200];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    refuses(deep, "are open");
}
