/*
 * convert.cc - cvt between whole numbers, fp32 and fp64 (PTX ISA, "cvt"). What does not fit becomes
 * the nearest that does, as the hardware has it.
 */
#include <limits>

#include "operations.h"

namespace emu
{

namespace
{

template <class D, class S> D clamp(S a) /* of a whole number, to D's range */
{
    const auto low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
    if constexpr (std::is_floating_point_v<S>) {
        if (a != a) return sizeof(D) == 8 ? (D)((uint64_t)1 << 63) : (D)0;
        if (a <= (S)low) return low;
        if (a >= (S)high) return high;
        return (D)a;
    } else
        return (__int128)a < (__int128)low ? low : (__int128)a > (__int128)high ? high : (D)a;
}

template <class D, class S> void convert(const string &d, const string &s)
{
    const string name = d + "." + s;
    if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
        def("cvt." + name, [](S a) -> D { return (D)a; });
        def("cvt.sat." + name, [](S a) -> D { return clamp<D, S>(a); });
    } else if constexpr (std::is_integral_v<D>) { /* out of range: the nearest, as the hardware has
                                                     it */
        def("cvt.rni." + name, [](S a) -> D { return clamp<D, S>(std::nearbyint(a)); });
        def("cvt.rzi." + name, [](S a) -> D { return clamp<D, S>(std::trunc(a)); });
        def("cvt.rmi." + name, [](S a) -> D { return clamp<D, S>(std::floor(a)); });
        def("cvt.rpi." + name, [](S a) -> D { return clamp<D, S>(std::ceil(a)); });
        def("cvt.rni.sat." + name, [](S a) -> D { return clamp<D, S>(std::nearbyint(a)); });
        def("cvt.rzi.sat." + name, [](S a) -> D { return clamp<D, S>(std::trunc(a)); });
    } else {
        def("cvt." + name, [](S a) -> D { return (D)a; });
    }
}

template <class D> void convert_to(const string &d)
{
    convert<D, uint8_t>(d, "u8"), convert<D, int8_t>(d, "s8");
    convert<D, uint16_t>(d, "u16"), convert<D, int16_t>(d, "s16");
    convert<D, uint32_t>(d, "u32"), convert<D, int32_t>(d, "s32");
    convert<D, uint64_t>(d, "u64"), convert<D, int64_t>(d, "s64");
    convert<D, float>(d, "f32"), convert<D, double>(d, "f64");
}

} // namespace

void define_conversions()
{
    convert_to<uint8_t>("u8"), convert_to<int8_t>("s8"), convert_to<uint16_t>("u16"),
        convert_to<int16_t>("s16");
    convert_to<uint32_t>("u32"), convert_to<int32_t>("s32"), convert_to<uint64_t>("u64"),
        convert_to<int64_t>("s64");
    convert_to<float>("f32"), convert_to<double>("f64");

    def("cvt.sat.f32.f32", [](float a) -> float { return a >= 0 ? std::fmin(a, 1.0f) : 0; });
    def("cvt.rni.f32.f32", [](float a) -> float { return std::nearbyint(a); });
    def("cvt.rzi.f32.f32", [](float a) -> float { return std::trunc(a); });
    def("cvt.rmi.f32.f32", [](float a) -> float { return std::floor(a); });
    def("cvt.rpi.f32.f32", [](float a) -> float { return std::ceil(a); });
    def("cvt.rni.f64.f64", [](double a) -> double { return std::nearbyint(a); });
    def("cvt.rzi.f64.f64", [](double a) -> double { return std::trunc(a); });
    def("cvt.rmi.f64.f64", [](double a) -> double { return std::floor(a); });
    def("cvt.rpi.f64.f64", [](double a) -> double { return std::ceil(a); });
    def("cvt.rna.tf32.f32",
        [](float a) -> uint32_t { return a != a ? 0x7fffffff : encode(TF32, a, AWAY) << 13; });
    def("cvt.tf32.f32",
        [](float a) -> uint32_t { return a != a ? 0x7fffffff : encode(TF32, a) << 13; });
    def("cvt.pack.sat.s8.s32.b32", [](int32_t a, int32_t b, uint32_t c) -> uint32_t {
        return c << 16 | (uint32_t)(uint8_t)clamp<int8_t>(a) << 8 | (uint8_t)clamp<int8_t>(b);
    });
    def("cvt.pack.sat.u8.s32.b32", [](int32_t a, int32_t b, uint32_t c) -> uint32_t {
        return c << 16 | (uint32_t)clamp<uint8_t>(a) << 8 | clamp<uint8_t>(b);
    });
    def("cvt.pack.sat.s16.s32", [](int32_t a, int32_t b) -> uint32_t {
        return (uint32_t)(uint16_t)clamp<int16_t>(a) << 16 | (uint16_t)clamp<int16_t>(b);
    });
}

} // namespace emu
