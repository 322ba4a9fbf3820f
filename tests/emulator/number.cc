/* number.cc - small floating-point formats, exactly: see emulator.h. */
#include <cmath>

#include "emulator.h"

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
    const uint32_t largest = f.infinities ? infinity - 1 : infinity - 1;
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

} // namespace emu
