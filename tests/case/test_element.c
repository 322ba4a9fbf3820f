/*
 * test_element.c - elements of buffers as doubles, and back.
 */

#include <math.h>
#include <string.h>

#include "tests/test.h"
#include "assay.h"

enum { HALVES = 0x10000 };

static double load_half(enum assay_type type, unsigned bits)
{
    uint16_t half = (uint16_t)bits;
    return assay_load(type, &half, 0);
}

static unsigned store_half(enum assay_type type, double value)
{
    uint16_t half = 0x5555;
    assay_store(type, &half, 0, value);
    return half;
}

TEST(sizes_are_those_of_the_types)
{
    static const size_t bytes[ASSAY_TYPES] = {4, 8, 2, 2, 1, 1, 2, 4, 4, 8, 1, 1};
    for (int type = 0; type < ASSAY_TYPES; type++)
        assert_int_equal(assay_type_bytes((enum assay_type)type), bytes[type]);
}

TEST(an_element_is_stored_at_its_index_and_nowhere_else)
{
    for (int type = 0; type < ASSAY_TYPES; type++) {
        size_t bytes = assay_type_bytes((enum assay_type)type);
        _Alignas(8) unsigned char buffer[40];
        memset(buffer, 0xa5, sizeof buffer);
        assay_store((enum assay_type)type, buffer, 2, 96);
        assert_true(assay_load((enum assay_type)type, buffer, 2) == 96);
        for (size_t i = 0; i < sizeof buffer; i++)
            if (i < 2 * bytes || i >= 3 * bytes) assert_int_equal(buffer[i], 0xa5);
    }
}

TEST(integers_hold_their_whole_range)
{
    static const struct {
        enum assay_type type;
        double least, most;
    } ranges[] = {
        {ASSAY_I8, -128, 127},        {ASSAY_U8, 0, 255},
        {ASSAY_I16, -32768, 32767},   {ASSAY_I32, -2147483648.0, 2147483647},
        {ASSAY_U32, 0, 4294967295.0}, {ASSAY_I64, -0x1p63, 0x1.fffffffffffffp62},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        int64_t room = 0;
        assay_store(ranges[i].type, &room, 0, ranges[i].least);
        assert_true(assay_load(ranges[i].type, &room, 0) == ranges[i].least);
        assay_store(ranges[i].type, &room, 0, ranges[i].most);
        assert_true(assay_load(ranges[i].type, &room, 0) == ranges[i].most);
    }
}

TEST(integers_truncate)
{
    int8_t value = 0;
    assay_store(ASSAY_I8, &value, 0, 3.99);
    assert_int_equal(value, 3);
    assay_store(ASSAY_I8, &value, 0, -3.99);
    assert_int_equal(value, -3);
}

TEST(a_float_rounds_to_nearest_even)
{
    float value;
    assay_store(ASSAY_F32, &value, 0, 1 + 0x1p-24);
    assert_true(value == 1);
    assay_store(ASSAY_F32, &value, 0, 1 + 0x1.8p-23);
    assert_true(value == 1 + 0x1p-22f);
    assay_store(ASSAY_F32, &value, 0, NAN);
    assert_true(isnan(value));
    double wide;
    assay_store(ASSAY_F64, &wide, 0, 0.1);
    assert_true(wide == 0.1);
}

/* What the format's definition says, by arithmetic of its own. */
static double defined_value(unsigned bits, int fraction_bits)
{
    int exponent_bits = 15 - fraction_bits, bias = (1 << (exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    int fraction = (int)bits & ((1 << fraction_bits) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

static void check_every_half(enum assay_type type, int fraction_bits)
{
    for (unsigned bits = 0; bits < HALVES; bits++) {
        double value = load_half(type, bits), expected = defined_value(bits, fraction_bits);
        assert_true(isnan(expected) ? isnan(value) : value == expected);
        if (isnan(value)) {
            assert_true(isnan(load_half(type, store_half(type, value))));
            continue;
        }
        assert_true(signbit(value) == signbit(expected));
        assert_int_equal(store_half(type, value), bits);
    }
}

TEST(every_f16_loads_as_defined_and_stores_as_itself)
{
    check_every_half(ASSAY_F16, 10);
}

TEST(every_bf16_loads_as_defined_and_stores_as_itself)
{
    check_every_half(ASSAY_BF16, 7);
}

/* Between every two neighbours: the middle goes to the even one, anything off
 * the middle to the nearer. Beyond the largest stands what would be next. */
static void check_every_border(enum assay_type type, unsigned infinity, double beyond_largest)
{
    for (unsigned bits = 0; bits < infinity; bits++) {
        double below = load_half(type, bits);
        double above = bits + 1 < infinity ? load_half(type, bits + 1) : beyond_largest;
        double middle = below + (above - below) / 2;
        assert_int_equal(store_half(type, middle), bits % 2 ? bits + 1 : bits);
        assert_int_equal(store_half(type, nextafter(middle, 0)), bits);
        assert_int_equal(store_half(type, nextafter(middle, INFINITY)), bits + 1);
        assert_int_equal(store_half(type, -nextafter(middle, 0)), bits | 0x8000);
    }
}

TEST(f16_rounds_to_nearest_even_at_every_border)
{
    check_every_border(ASSAY_F16, 0x7c00, 0x1p16);
}

TEST(bf16_rounds_to_nearest_even_at_every_border)
{
    check_every_border(ASSAY_BF16, 0x7f80, 0x1p128);
}

TEST(values_out_of_a_halfs_range_become_infinity_or_zero)
{
    static const double huge[] = {INFINITY, 1e308, 0x1p1023};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(store_half(ASSAY_F16, huge[i]), 0x7c00);
        assert_int_equal(store_half(ASSAY_BF16, -huge[i]), 0xff80);
    }
    static const double tiny[] = {0, 5e-324, 1e-310, 1e-100};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(store_half(ASSAY_F16, tiny[i]), 0);
        assert_int_equal(store_half(ASSAY_BF16, -tiny[i]), 0x8000);
    }
}

TEST(not_a_number_stays_one)
{
    assert_true(isnan(load_half(ASSAY_F16, store_half(ASSAY_F16, NAN))));
    assert_true(isnan(load_half(ASSAY_BF16, store_half(ASSAY_BF16, -NAN))));
}

/* Just above a tie of halves, on a tie of floats: by way of a float this would
 * fall back on the first tie and go to the even neighbour below. */
TEST(a_double_is_rounded_once)
{
    assert_int_equal(store_half(ASSAY_F16, 1 + 0x1p-11 + 0x1p-40), 0x3c01);
    assert_int_equal(store_half(ASSAY_BF16, 1 + 0x1p-8 + 0x1p-40), 0x3f81);
}

/* ------------------------------------------------------------ 8-bit floats -- */

enum { BYTES = 0x100, SIGN = 0x80 };

static double load_byte(enum assay_type type, unsigned code)
{
    uint8_t byte = (uint8_t)code;
    return assay_load(type, &byte, 0);
}

static unsigned store_byte(enum assay_type type, double value)
{
    uint8_t byte = 0x55;
    assay_store(type, &byte, 0, value);
    return byte;
}

/* OFP8, tables 1 and 2. e4m3 has bias 7, S.1111.111 as NaN and no infinity; e5m2 has bias 15 and
 * the infinities and NaN of IEEE 754. */
static double defined_byte(enum assay_type type, unsigned code)
{
    int fraction_bits = type == ASSAY_E4M3 ? 3 : 2, bias = type == ASSAY_E4M3 ? 7 : 15;
    int exponent = (int)(code & 0x7f) >> fraction_bits;
    int fraction = (int)code & ((1 << fraction_bits) - 1);
    double sign = code & SIGN ? -1 : 1;
    if (type == ASSAY_E4M3 && (code & 0x7f) == 0x7f) return NAN;
    if (type == ASSAY_E5M2 && exponent == 31) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
    return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

static void check_every_byte(enum assay_type type, unsigned largest)
{
    for (unsigned code = 0; code < BYTES; code++) {
        double value = load_byte(type, code), expected = defined_byte(type, code);
        assert_true(isnan(expected) ? isnan(value) : value == expected);
        if (isnan(value)) {
            assert_true(isnan(load_byte(type, store_byte(type, value))));
            continue;
        }
        assert_true(signbit(value) == signbit(expected));
        assert_int_equal(store_byte(type, value), isinf(value) ? largest | (code & SIGN) : code);
    }
}

TEST(every_8_bit_float_loads_as_defined_and_stores_as_itself)
{
    check_every_byte(ASSAY_E4M3, 0x7e);
    check_every_byte(ASSAY_E5M2, 0x7b);
    assert_true(load_byte(ASSAY_E4M3, 0x7e) == 448);
    assert_true(load_byte(ASSAY_E4M3, 0x01) == 0x1p-9);
    assert_true(load_byte(ASSAY_E5M2, 0x7b) == 57344);
    assert_true(load_byte(ASSAY_E5M2, 0x01) == 0x1p-16);
}

static void check_byte(enum assay_type type, double value, unsigned code)
{
    assert_int_equal(store_byte(type, value), code);
    assert_int_equal(store_byte(type, -value), code | SIGN);
}

/* Both neighbours of the middle too; at the end, nothing is above the largest. */
static void check_borders_of_bytes(enum assay_type type, unsigned largest)
{
    for (unsigned code = 0; code < largest; code++) {
        double middle = (load_byte(type, code) + load_byte(type, code + 1)) / 2;
        check_byte(type, middle, code + code % 2);
        check_byte(type, nextafter(middle, 0), code);
        check_byte(type, nextafter(middle, INFINITY), code + 1);
    }
    double step = load_byte(type, largest) - load_byte(type, largest - 1);
    for (int part = 0; part <= 64; part++)
        check_byte(type, load_byte(type, largest) + step * part / 16, largest);
    check_byte(type, 1e308, largest);
    check_byte(type, INFINITY, largest);
    check_byte(type, 5e-324, 0);
}

TEST(an_8_bit_float_rounds_to_nearest_even_and_saturates)
{
    check_borders_of_bytes(ASSAY_E4M3, 0x7e);
    check_borders_of_bytes(ASSAY_E5M2, 0x7b);
}

/* The nearest of all codes, for values that no table of borders was made of. */
static void check_nearest(enum assay_type type, double value)
{
    double off = fabs(load_byte(type, store_byte(type, value)) - value);
    for (unsigned code = 0; code < BYTES; code++) {
        double number = load_byte(type, code);
        if (isfinite(number)) assert_true(off <= fabs(number - value));
    }
}

TEST(no_8_bit_float_is_nearer_than_the_stored_one)
{
    for (int i = 0; i < 4000; i++) {
        double value = ldexp(1 + fmod(i * 0.6180339887498949, 1), i % 40 - 22);
        check_nearest(ASSAY_E4M3, value);
        check_nearest(ASSAY_E5M2, -value);
    }
}
