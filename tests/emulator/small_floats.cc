/*
 * small_floats.cc - what a lane does alone on fp16, bf16, e4m3 and e5m2, one or two in a register
 * (PTX ISA, "Half Precision Floating Point Instructions" and "cvt").
 */
#include "operations.h"

namespace emu
{

namespace
{

template <size_t, class T> using Repeat = T;

/* One number in a register, and two: op of their values. */
template <const Format &F, class Op, size_t... I>
void one_and_two(const string &name, Op, std::index_sequence<I...>)
{
    def(name, [](Repeat<I, uint16_t>... a) -> uint16_t {
        return (uint16_t)encode(F, Op{}(decode(F, a)...));
    });
    def(name + "x2", [](Repeat<I, uint32_t>... a) -> uint32_t {
        return encode(F, Op{}(decode(F, a & 0xffff)...)) | encode(F, Op{}(decode(F, a >> 16)...))
                                                               << 16;
    });
}

/* Sums and products of two 16-bit numbers are exact in double; so is a fused product but for sums
 * of far numbers, where the second rounding shows once in millions. */
template <const Format &F> void halves(const string &t)
{
    std::index_sequence<0> one;
    std::index_sequence<0, 1> two;
    std::index_sequence<0, 1, 2> three;
    one_and_two<F>(
        "add." + t, [](double a, double b) { return a + b; }, two);
    one_and_two<F>(
        "sub." + t, [](double a, double b) { return a - b; }, two);
    one_and_two<F>(
        "mul." + t, [](double a, double b) { return a * b; }, two);
    one_and_two<F>(
        "fma." + t, [](double a, double b, double c) { return a * b + c; }, three);
    one_and_two<F>(
        "min." + t, [](double a, double b) { return smallest(a, b); }, two);
    one_and_two<F>(
        "max." + t, [](double a, double b) { return -smallest(-a, -b); }, two);
    one_and_two<F>(
        "neg." + t, [](double a) { return -a; }, one);
    one_and_two<F>(
        "abs." + t, [](double a) { return std::fabs(a); }, one);
    def("mov." + t, [](uint16_t a) -> uint16_t { return a; });
    def("mov." + t + "x2", [](uint32_t a) -> uint32_t { return a; });
    def("selp." + t, [](uint16_t a, uint16_t b, bool c) -> uint16_t { return c ? a : b; });
    def("setp.eq." + t,
        [](uint16_t a, uint16_t b) -> bool { return decode(F, a) == decode(F, b); });
    def("setp.neu." + t,
        [](uint16_t a, uint16_t b) -> bool { return decode(F, a) != decode(F, b); });
    def("setp.lt." + t, [](uint16_t a, uint16_t b) -> bool { return decode(F, a) < decode(F, b); });
    def("setp.le." + t,
        [](uint16_t a, uint16_t b) -> bool { return decode(F, a) <= decode(F, b); });
    def("setp.gt." + t, [](uint16_t a, uint16_t b) -> bool { return decode(F, a) > decode(F, b); });
    def("setp.ge." + t,
        [](uint16_t a, uint16_t b) -> bool { return decode(F, a) >= decode(F, b); });
    def("cvt.f32." + t, [](uint16_t a) -> float { return (float)decode(F, a); });
    def("cvt.f64." + t, [](uint16_t a) -> double { return decode(F, a); });
    def("cvt." + t + ".f32", [](float a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt." + t + ".f64", [](double a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt." + t + ".u32", [](uint32_t a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt." + t + ".s32", [](int32_t a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt." + t + ".u16", [](uint16_t a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt.rni.s32." + t,
        [](uint16_t a) -> int32_t { return (int32_t)std::nearbyint(decode(F, a)); });
    def("cvt.rzi.s32." + t, [](uint16_t a) -> int32_t { return (int32_t)decode(F, a); });
    /* The first operand is the upper half. */
    def("cvt." + t + "x2.f32",
        [](float a, float b) -> uint32_t { return encode(F, a) << 16 | encode(F, b); });
}

template <const Format &F> void eighths(const string &t)
{
    def("cvt.satfinite." + t + "x2.f32", [](float a, float b) -> uint16_t {
        return (uint16_t)(encode(F, a, TO_EVEN, true) << 8 | encode(F, b, TO_EVEN, true));
    });
    def("cvt.satfinite." + t + "x2.f16x2", [](uint32_t a) -> uint16_t {
        return (uint16_t)(encode(F, decode(F16, a >> 16), TO_EVEN, true) << 8 |
                          encode(F, decode(F16, a & 0xffff), TO_EVEN, true));
    });
    def("cvt.f16x2." + t + "x2", [](uint16_t a) -> uint32_t {
        return encode(F16, decode(F, a >> 8)) << 16 | encode(F16, decode(F, a & 255));
    });
}

} // namespace

void define_small_floats()
{
    halves<F16>("f16"), halves<BF16>("bf16");
    eighths<E4M3>("e4m3"), eighths<E5M2>("e5m2");
}

} // namespace emu
