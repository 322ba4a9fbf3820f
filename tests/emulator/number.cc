/*
 * number.cc - small numbers, exactly: IEEE 754 for fp16, bf16 and tf32, the OCP's "8-bit Floating
 * Point Specification" for e4m3 and e5m2, and the integers of the tensor cores.
 */
#include <cmath>

#include "emulator.h"
#include "product.h"

namespace emu
{

const Format F16 = {5, 10, true}, BF16 = {8, 7, true}, E4M3 = {4, 3, false}, E5M2 = {5, 2, true},
             TF32 = {8, 10, true};

static int bias(const Format &f)
{
    return (1 << (f.exponent_bits - 1)) - 1;
}

double decode(const Format &f, uint32_t bits)
{
    int top = (1 << f.exponent_bits) - 1, all = (1 << f.fraction_bits) - 1;
    int exponent = (int)(bits >> f.fraction_bits) & top, fraction = (int)bits & all;
    double sign = bits >> (f.exponent_bits + f.fraction_bits) & 1 ? -1 : 1;
    if (exponent == top && (f.infinities || fraction == all))
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias(f) - f.fraction_bits);
    return sign * std::ldexp(fraction + all + 1, exponent - bias(f) - f.fraction_bits);
}

/* `finite`: what is too large becomes the largest number. */
uint32_t encode(const Format &f, double value, Rounding rounding, bool finite)
{
    const uint32_t top = (1u << f.exponent_bits) - 1, all = (1u << f.fraction_bits) - 1;
    const uint32_t sign = std::signbit(value) ? 1u << (f.exponent_bits + f.fraction_bits) : 0;
    const uint32_t infinity = f.infinities ? top << f.fraction_bits : top << f.fraction_bits | all;
    const uint32_t largest = infinity - 1;
    /* NVIDIA's NaN of a 16-bit format has all bits but the sign; so has that of FP8. */
    if (std::isnan(value)) return top << f.fraction_bits | all;
    if (std::isinf(value)) return sign | (finite || rounding == TO_ZERO ? largest : infinity);
    double a = std::fabs(value);
    int exponent;
    std::frexp(a, &exponent);
    exponent--; /* a = 1.x * 2^exponent */
    if (a == 0 || exponent < 1 - bias(f)) exponent = 1 - bias(f);
    double steps = std::ldexp(a, f.fraction_bits - exponent); /* exact: a double has 53 bits */
    double whole = std::floor(steps), rest = steps - whole;
    if (rounding == AWAY
            ? rest >= 0.5
            : rounding == TO_EVEN && (rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) == 1)))
        whole++;
    /* A carry into the next exponent comes out right by adding. */
    uint32_t bits = (uint32_t)whole + ((uint32_t)(exponent + bias(f) - 1) << f.fraction_bits);
    if (bits >= infinity) bits = finite || rounding == TO_ZERO ? largest : infinity;
    return sign | bits;
}

/* ----------------------------------------------------- of the tensor cores -- */

static const char *const NUMBER[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "b1"};
const int BITS[8] = {16, 16, 32, 8, 8, 8, 8, 1};

int number_of(const string &type)
{
    for (int n = 0; n < 8; n++)
        if (type == NUMBER[n]) return n;
    return -1;
}

static double slow_value(int n, uint32_t bits)
{
    switch (n) {
    case N_F16:
        return decode(F16, bits);
    case N_BF16:
        return decode(BF16, bits);
    case N_E4M3:
        return decode(E4M3, bits);
    case N_E5M2:
        return decode(E5M2, bits);
    case N_S8:
        return (int8_t)bits;
    case N_U8:
        return bits;
    default:
        return bits;
    }
}

float number_value(int n, uint32_t bits)
{
    static std::vector<float> known[8];
    if (n == N_TF32 || n == N_BF16) { /* the lowest 13 bits of tf32 are not looked at */
        bits = n == N_TF32 ? bits & ~0x1fffu : bits << 16;
        float f;
        memcpy(&f, &bits, 4);
        return f;
    }
    if (known[n].empty())
        for (uint32_t b = 0; b < 1u << BITS[n]; b++)
            known[n].push_back((float)slow_value(n, b));
    return known[n][bits];
}

/* Element e of a row of 32-bit words, `word` of which holds it. */
float number_element(int n, uint32_t word, int e)
{
    int per = 32 / BITS[n];
    return number_value(n,
                        BITS[n] == 32 ? word : word >> (e % per * BITS[n]) & ((1u << BITS[n]) - 1));
}

} // namespace emu
