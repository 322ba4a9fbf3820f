/* expression.c - a recursive descent that computes while it reads. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "bench/expression.h"
#include "case/shape.h"

enum { MAX_DEPTH = 64 };

/* numerator / denominator, in lowest terms, the denominator above 0; or `real`, where that is 0. */
struct value {
    int64_t numerator, denominator;
    double real;
};

struct reading {
    const char *text, *at;
    const struct assay_shape *shape;
    int depth;
};

typedef __int128 wide;

/* ---------------------------------------------------------------- values -- */

static double real_of(struct value value)
{
    return value.denominator ? (double)value.numerator / (double)value.denominator : value.real;
}

static int set_real(struct value *out, double real)
{
    *out = (struct value){.real = real};
    return isfinite(real) ? 0 : assay_error("a number is too large");
}

static wide divisor_of(wide a, wide b)
{
    while (b) {
        wide rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static int set_fraction(struct value *out, wide numerator, wide denominator)
{
    if (denominator == 0) return assay_error("it divides by zero");
    wide divisor = divisor_of(numerator, denominator);
    if (denominator < 0) divisor = -divisor;
    numerator /= divisor;
    denominator /= divisor;
    if (numerator > INT64_MAX || numerator < -INT64_MAX || denominator > INT64_MAX)
        return assay_error("a number does not fit into 64 bits");
    *out = (struct value){.numerator = (int64_t)numerator, .denominator = (int64_t)denominator};
    return 0;
}

/* Products of two 64-bit numbers, and the sum of two such, fit into 128 bits. */
static int combine(struct value *a, char sign, struct value b)
{
    bool exact = a->denominator && b.denominator;
    wide an = a->numerator, ad = a->denominator, bn = b.numerator, bd = b.denominator;
    double x = real_of(*a), y = real_of(b);
    switch (sign) {
    case '+':
        return exact ? set_fraction(a, an * bd + bn * ad, ad * bd) : set_real(a, x + y);
    case '-':
        return exact ? set_fraction(a, an * bd - bn * ad, ad * bd) : set_real(a, x - y);
    case '*':
        return exact ? set_fraction(a, an * bn, ad * bd) : set_real(a, x * y);
    case '/':
        if (!exact && y == 0) return assay_error("it divides by zero");
        return exact ? set_fraction(a, an * bd, ad * bn) : set_real(a, x / y);
    default:
        if (!exact || ad != 1 || bd != 1) return assay_error("%% is for whole numbers");
        if (bn == 0) return assay_error("it divides by zero");
        return set_fraction(a, an % bn, 1);
    }
}

/* ------------------------------------------------------------- functions -- */

static int64_t floor_of(struct value value)
{
    int64_t whole = value.numerator / value.denominator;
    return whole - (value.numerator % value.denominator < 0);
}

static int compute_ceil(struct value *a, struct value b)
{
    (void)b;
    if (!a->denominator) return set_real(a, ceil(a->real));
    return set_fraction(a, floor_of(*a) + (a->numerator % a->denominator != 0), 1);
}

static int compute_floor(struct value *a, struct value b)
{
    (void)b;
    return a->denominator ? set_fraction(a, floor_of(*a), 1) : set_real(a, floor(a->real));
}

static bool is_less(struct value a, struct value b)
{
    if (!a.denominator || !b.denominator) return real_of(a) < real_of(b);
    return (wide)a.numerator * b.denominator < (wide)b.numerator * a.denominator;
}

static int compute_min(struct value *a, struct value b)
{
    if (is_less(b, *a)) *a = b;
    return 0;
}

static int compute_max(struct value *a, struct value b)
{
    if (is_less(*a, b)) *a = b;
    return 0;
}

static int compute_log2(struct value *a, struct value b)
{
    (void)b;
    double of = real_of(*a);
    if (!(of > 0)) return assay_error("log2 is of numbers above zero");
    bool is_power = a->denominator == 1 && (a->numerator & (a->numerator - 1)) == 0;
    if (!is_power) return set_real(a, log2(of));
    return set_fraction(a, 63 - __builtin_clzll((unsigned long long)a->numerator), 1);
}

static const struct function {
    const char *name;
    int arguments;
    int (*compute)(struct value *a, struct value b);
} functions[] = {
    {"ceil", 1, compute_ceil}, {"floor", 1, compute_floor}, {"min", 2, compute_min},
    {"max", 2, compute_max},   {"log2", 1, compute_log2},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

bool expression_is_function(const char *name)
{
    return rows_find(ROWS(functions), name) >= 0;
}

/* --------------------------------------------------------------- reading -- */

static int read_sum(struct reading *reading, struct value *out);

static char next(struct reading *reading)
{
    while (isspace((unsigned char)*reading->at))
        reading->at++;
    return *reading->at;
}

static bool takes(struct reading *reading, char sign)
{
    if (next(reading) != sign) return false;
    reading->at++;
    return true;
}

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static int read_unit(struct reading *reading, struct value *out)
{
    char unit[4];
    size_t length = 0;
    while (is_of_name(reading->at[length]))
        length++;
    snprintf(unit, sizeof unit, "%.*s", (int)length, reading->at);
    int64_t scale = length < sizeof unit ? text_scale(unit) : 0;
    if (scale == 0)
        return assay_error("'%.*s' is no unit (k M G T Ki Mi Gi Ti are)", (int)length, reading->at);
    reading->at += length;
    return combine(out, '*', (struct value){.numerator = scale, .denominator = 1});
}

static int read_number(struct reading *reading, struct value *out)
{
    const char *from = reading->at, *at = from;
    wide digits = 0, scale = 1;
    for (bool fraction = false; isdigit((unsigned char)*at) || (*at == '.' && !fraction); at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        if (digits > INT64_MAX || scale > INT64_MAX)
            return assay_error("a number does not fit into 64 bits");
        digits = 10 * digits + (*at - '0');
        if (fraction) scale *= 10;
    }
    const char *exponent = at + 1 + (at[0] && (at[1] == '-' || at[1] == '+'));
    if ((*at == 'e' || *at == 'E') && isdigit((unsigned char)*exponent)) {
        char *end;
        double real = strtod(from, &end);
        reading->at = end;
        return set_real(out, real);
    }
    reading->at = at;
    return set_fraction(out, digits, scale) ? -1 : read_unit(reading, out);
}

static int read_call(struct reading *reading, const struct function *function, struct value *out)
{
    struct value second = {.denominator = 1};
    if (!takes(reading, '(')) return assay_error("%s wants its '('", function->name);
    if (read_sum(reading, out)) return -1;
    if (function->arguments == 2 && !takes(reading, ','))
        return assay_error("%s is of two numbers, with a comma between", function->name);
    if (function->arguments == 2 && read_sum(reading, &second)) return -1;
    if (!takes(reading, ')')) return assay_error("a ')' is missing");
    return function->compute(out, second);
}

static int size_count(const struct reading *reading)
{
    return reading->shape ? shape_dims(reading->shape->operation) : 0;
}

static int refuse_name(const struct reading *reading, const char *name)
{
    const char *names[FUNCTIONS + ASSAY_MAX_DIMS];
    int count = 0;
    char hint[TEXT_HINT];
    for (; count < size_count(reading); count++)
        names[count] = reading->shape->operation->dims[count].name;
    for (int i = 0; i < FUNCTIONS; i++)
        names[count++] = functions[i].name;
    return assay_error("there is no size '%s'%s", name,
                       text_hint(hint, name, names, count, "there are "));
}

static int read_name(struct reading *reading, struct value *out)
{
    char name[ASSAY_MAX_NAME];
    size_t length = 0;
    while (is_of_name(reading->at[length]))
        length++;
    if (length >= sizeof name) return assay_error("a name is too long");
    memcpy(name, reading->at, length);
    name[length] = '\0';
    reading->at += length;
    int function = rows_find(ROWS(functions), name);
    if (function >= 0) return read_call(reading, &functions[function], out);
    int size = size_count(reading) ? shape_dim(reading->shape->operation, name) : -1;
    if (size >= 0) return set_fraction(out, reading->shape->value[size], 1);
    return refuse_name(reading, name);
}

static int read_term(struct reading *reading, struct value *out)
{
    char c = next(reading);
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)reading->at[1])))
        return read_number(reading, out);
    if (is_of_name(c)) return read_name(reading, out);
    if (takes(reading, '(')) {
        if (read_sum(reading, out)) return -1;
        return takes(reading, ')') ? 0 : assay_error("a ')' is missing");
    }
    return c ? assay_error("a number, a size or a '(' is missing before '%.10s'", reading->at)
             : assay_error("a number or a size is missing at its end");
}

static int read_signed(struct reading *reading, struct value *out)
{
    int minus = 0;
    while (takes(reading, '-'))
        minus++;
    if (read_term(reading, out)) return -1;
    if (minus % 2) out->numerator = -out->numerator, out->real = -out->real;
    return 0;
}

static int read_product(struct reading *reading, struct value *out)
{
    if (read_signed(reading, out)) return -1;
    while (next(reading) && strchr("*/%", *reading->at)) {
        char sign = *reading->at++;
        struct value factor;
        if (read_signed(reading, &factor) || combine(out, sign, factor)) return -1;
    }
    return 0;
}

static int read_sum(struct reading *reading, struct value *out)
{
    if (reading->depth == MAX_DEPTH) return assay_error("more than %d '(' are open", MAX_DEPTH);
    reading->depth++;
    if (read_product(reading, out)) return -1;
    while (next(reading) && strchr("+-", *reading->at)) {
        char sign = *reading->at++;
        struct value term;
        if (read_product(reading, &term) || combine(out, sign, term)) return -1;
    }
    reading->depth--;
    return 0;
}

static int evaluate(const char *text, const struct assay_shape *shape, struct value *out)
{
    struct reading reading = {.text = text, .at = text, .shape = shape};
    int failed = read_sum(&reading, out);
    if (!failed && next(&reading)) failed = assay_error("'%.10s' is too much", reading.at);
    if (failed) return assay_error("'%.80s': %s", text, assay_last_error());
    return 0;
}

int expression_whole(const char *text, const struct assay_shape *shape, int64_t *value)
{
    struct value result;
    if (evaluate(text, shape, &result)) return -1;
    double real = real_of(result);
    bool is_whole = result.denominator == 1;
    if (!result.denominator && real == trunc(real) && fabs(real) < 0x1p53) {
        result.numerator = (int64_t)real;
        is_whole = true;
    }
    if (!is_whole)
        return assay_error("'%.80s' is %g, which is no whole number (ceil and floor round)", text,
                           real);
    *value = result.numerator;
    return 0;
}

int expression_real(const char *text, const struct assay_shape *shape, double *value)
{
    struct value result;
    if (evaluate(text, shape, &result)) return -1;
    *value = real_of(result);
    return 0;
}
