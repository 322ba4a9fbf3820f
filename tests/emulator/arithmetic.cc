/*
 * arithmetic.cc - what a lane does alone on whole numbers, bits, fp32 and fp64 (PTX ISA, "Integer
 * Arithmetic", "Floating Point", "Comparison and Selection" and "Logic and Shift Instructions").
 * Approximations are exact here.
 */
#include "operations.h"

namespace emu
{

std::map<string, Op> &operations()
{
    static std::map<string, Op> all;
    return all;
}

namespace
{

template <class T> void integers(const string &t)
{
    using W =
        std::conditional_t<sizeof(T) == 8,
                           std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                           std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;
    def("add." + t, [](T a, T b) -> T { return (T)((U<T>)a + (U<T>)b); });
    def("sub." + t, [](T a, T b) -> T { return (T)((U<T>)a - (U<T>)b); });
    def("mul." + t, [](T a, T b) -> T { return (T)((W)a * (W)b); });
    def("mul.hi." + t, [](T a, T b) -> T { return (T)(((W)a * (W)b) >> (8 * sizeof(T))); });
    def("mad." + t, [](T a, T b, T c) -> T { return (T)((W)((W)a * (W)b) + (W)c); });
    def("div." + t, [](T a, T b) -> T {
        if (b == 0) return (T)-1;
        if (std::is_signed_v<T> && b == (T)-1) return (T)(0 - (U<T>)a);
        return (T)(a / b);
    });
    def("rem." + t, [](T a, T b) -> T {
        if (b == 0) return a;
        if (std::is_signed_v<T> && b == (T)-1) return 0;
        return (T)(a % b);
    });
    def("min." + t, [](T a, T b) -> T { return a < b ? a : b; });
    def("max." + t, [](T a, T b) -> T { return a > b ? a : b; });
    def("neg." + t, [](T a) -> T { return (T)(0 - (U<T>)a); });
    def("abs." + t, [](T a) -> T { return a < 0 ? (T)(0 - (U<T>)a) : a; });
    def("shr." + t, [](T a, uint32_t n) -> T {
        if (n >= 8 * sizeof(T)) return std::is_signed_v<T> && a < 0 ? (T)-1 : (T)0;
        return (T)(a >> n);
    });
    if constexpr (sizeof(T) >= 4)
        def("bfe." + t, [](T a, uint32_t at, uint32_t n) -> T {
            at &= 255, n &= 255;
            T out = 0;
            const uint32_t top = 8 * sizeof(T) - 1;
            bool sign =
                std::is_signed_v<T> && n ? a >> (at + n - 1 < top ? at + n - 1 : top) & 1 : false;
            for (uint32_t k = 0; k <= top; k++) {
                bool bit = k < n && at + k <= top ? a >> (at + k) & 1 : sign;
                out |= (T)((U<T>)bit << k);
            }
            return out;
        });
    def("setp.eq." + t, [](T a, T b) -> bool { return a == b; });
    def("setp.ne." + t, [](T a, T b) -> bool { return a != b; });
    for (const char *n : {"lt", "lo"})
        def("setp." + string(n) + "." + t, [](T a, T b) -> bool { return a < b; });
    for (const char *n : {"le", "ls"})
        def("setp." + string(n) + "." + t, [](T a, T b) -> bool { return a <= b; });
    for (const char *n : {"gt", "hi"})
        def("setp." + string(n) + "." + t, [](T a, T b) -> bool { return a > b; });
    for (const char *n : {"ge", "hs"})
        def("setp." + string(n) + "." + t, [](T a, T b) -> bool { return a >= b; });
    def("mov." + t, [](T a) -> T { return a; });
    def("selp." + t, [](T a, T b, bool c) -> T { return c ? a : b; });
}

template <class T, class Wide> void widening(const string &t)
{
    def("mul.wide." + t, [](T a, T b) -> Wide { return (Wide)a * (Wide)b; });
    def("mad.wide." + t,
        [](T a, T b, Wide c) -> Wide { return (Wide)((U<Wide>)((Wide)a * (Wide)b) + (U<Wide>)c); });
}

template <class T> void bits(const string &t)
{
    def("and." + t, [](T a, T b) -> T { return a & b; });
    def("or." + t, [](T a, T b) -> T { return a | b; });
    def("xor." + t, [](T a, T b) -> T { return a ^ b; });
    def("not." + t, [](T a) -> T { return (T)~a; });
    def("shl." + t, [](T a, uint32_t n) -> T { return n >= 8 * sizeof(T) ? (T)0 : (T)(a << n); });
    def("shr." + t, [](T a, uint32_t n) -> T { return n >= 8 * sizeof(T) ? (T)0 : (T)(a >> n); });
    def("mov." + t, [](T a) -> T { return a; });
    def("selp." + t, [](T a, T b, bool c) -> T { return c ? a : b; });
    def("setp.eq." + t, [](T a, T b) -> bool { return a == b; });
    def("setp.ne." + t, [](T a, T b) -> bool { return a != b; });
    if constexpr (sizeof(T) >= 4) {
        def("popc." + t, [](T a) -> uint32_t { return (uint32_t)__builtin_popcountll(a); });
        def("clz." + t, [](T a) -> uint32_t {
            return a ? (uint32_t)__builtin_clzll(a) - (64 - 8 * (uint32_t)sizeof(T))
                     : 8 * (uint32_t)sizeof(T);
        });
        def("bfi." + t, [](T a, T b, uint32_t at, uint32_t n) -> T {
            at &= 255, n &= 255;
            for (uint32_t k = 0; k < n && at + k < 8 * sizeof(T); k++)
                b = (b & ~((T)1 << (at + k))) | (a >> k & 1) << (at + k);
            return b;
        });
    }
}

template <class T> void floats(const string &t)
{
    def("add." + t, [](T a, T b) -> T { return a + b; });
    def("sub." + t, [](T a, T b) -> T { return a - b; });
    def("mul." + t, [](T a, T b) -> T { return a * b; });
    def("fma." + t, [](T a, T b, T c) -> T { return std::fma(a, b, c); });
    def("mad." + t, [](T a, T b, T c) -> T { return std::fma(a, b, c); });
    def("div." + t, [](T a, T b) -> T { return a / b; });
    def("rcp." + t, [](T a) -> T { return 1 / a; });
    def("sqrt." + t, [](T a) -> T { return std::sqrt(a); });
    def("rsqrt." + t, [](T a) -> T { return (T)(1 / std::sqrt((double)a)); });
    def("neg." + t, [](T a) -> T { return -a; });
    def("abs." + t, [](T a) -> T { return std::fabs(a); });
    def("min." + t, [](T a, T b) -> T { return smallest(a, b); });
    def("max." + t, [](T a, T b) -> T { return -smallest(-a, -b); });
    def("copysign." + t, [](T a, T b) -> T { return std::copysign(b, a); });
    def("mov." + t, [](T a) -> T { return a; });
    def("selp." + t, [](T a, T b, bool c) -> T { return c ? a : b; });
    def("setp.eq." + t, [](T a, T b) -> bool { return a == b; });
    def("setp.ne." + t, [](T a, T b) -> bool { return a < b || a > b; });
    def("setp.lt." + t, [](T a, T b) -> bool { return a < b; });
    def("setp.le." + t, [](T a, T b) -> bool { return a <= b; });
    def("setp.gt." + t, [](T a, T b) -> bool { return a > b; });
    def("setp.ge." + t, [](T a, T b) -> bool { return a >= b; });
    def("setp.equ." + t, [](T a, T b) -> bool { return !(a < b || a > b); });
    def("setp.neu." + t, [](T a, T b) -> bool { return !(a == b); });
    def("setp.ltu." + t, [](T a, T b) -> bool { return !(a >= b); });
    def("setp.leu." + t, [](T a, T b) -> bool { return !(a > b); });
    def("setp.gtu." + t, [](T a, T b) -> bool { return !(a <= b); });
    def("setp.geu." + t, [](T a, T b) -> bool { return !(a < b); });
    def("setp.num." + t, [](T a, T b) -> bool { return a == a && b == b; });
    def("setp.nan." + t, [](T a, T b) -> bool { return a != a || b != b; });
    def("add.rm." + t, [](T a, T b) -> T {
        volatile T x = a, y = b;
        return downward<T>([&] { return x + y; });
    });
    def("fma.rm." + t, [](T a, T b, T c) -> T {
        volatile T x = a, y = b, z = c;
        return downward<T>([&] { return std::fma(x, y, z); });
    });
}

float flush(float a)
{
    return std::fabs(a) < 1.17549435e-38f ? std::copysign(0.0f, a) : a;
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t how)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t out = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t pick = how >> (4 * k) & 15, byte = both >> (8 * (pick & 7)) & 255;
        if (pick & 8) byte = byte & 128 ? 255 : 0;
        out |= byte << (8 * k);
    }
    return out;
}

template <class A, class B> int32_t dot4(uint32_t a, uint32_t b, int32_t c)
{
    for (int k = 0; k < 4; k++)
        c = (int32_t)((uint32_t)c +
                      (uint32_t)((int32_t)(A)(a >> (8 * k)) * (int32_t)(B)(b >> (8 * k))));
    return c;
}

void define()
{
    define_small_floats();
    define_conversions();
    integers<uint16_t>("u16"), integers<int16_t>("s16");
    integers<uint32_t>("u32"), integers<int32_t>("s32");
    integers<uint64_t>("u64"), integers<int64_t>("s64");
    widening<uint16_t, uint32_t>("u16"), widening<int16_t, int32_t>("s16");
    widening<uint32_t, uint64_t>("u32"), widening<int32_t, int64_t>("s32");
    bits<uint16_t>("b16"), bits<uint32_t>("b32"), bits<uint64_t>("b64");
    floats<float>("f32"), floats<double>("f64");

    def("and.pred", [](bool a, bool b) -> bool { return a && b; });
    def("or.pred", [](bool a, bool b) -> bool { return a || b; });
    def("xor.pred", [](bool a, bool b) -> bool { return a != b; });
    def("not.pred", [](bool a) -> bool { return !a; });
    def("mov.pred", [](bool a) -> bool { return a; });
    def("selp.pred", [](bool a, bool b, bool c) -> bool { return c ? a : b; });

    def("ex2.f32", [](float a) -> float { return (float)std::exp2((double)a); });
    def("ex2.approx.ftz.f32",
        [](float a) -> float { return flush((float)std::exp2((double)flush(a))); });
    def("lg2.f32", [](float a) -> float { return (float)std::log2((double)a); });
    def("lg2.approx.ftz.f32", [](float a) -> float { return (float)std::log2((double)flush(a)); });
    def("sin.f32", [](float a) -> float { return (float)std::sin((double)a); });
    def("cos.f32", [](float a) -> float { return (float)std::cos((double)a); });
    def("tanh.f32", [](float a) -> float { return (float)std::tanh((double)a); });
    def("rcp.approx.ftz.f32", [](float a) -> float { return flush(1 / flush(a)); });
    def("rcp.approx.ftz.f64", [](double a) -> double { return 1 / a; });

    def("prmt.b32",
        [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t { return permute(a, b, c); });
    def("lop3.b32", [](uint32_t a, uint32_t b, uint32_t c, uint32_t f) -> uint32_t {
        uint32_t out = 0;
        for (uint32_t k = 0; k < 8; k++)
            if (f >> k & 1) out |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
        return out;
    });
    def("shf.l.wrap.b32", [](uint32_t a, uint32_t b, uint32_t n) -> uint32_t {
        return (uint32_t)(((uint64_t)b << 32 | a) << (n & 31) >> 32);
    });
    def("shf.r.wrap.b32", [](uint32_t a, uint32_t b, uint32_t n) -> uint32_t {
        return (uint32_t)(((uint64_t)b << 32 | a) >> (n & 31));
    });
    def("shf.l.clamp.b32", [](uint32_t a, uint32_t b, uint32_t n) -> uint32_t {
        return (uint32_t)(((uint64_t)b << 32 | a) << (n < 32 ? n : 32) >> 32);
    });
    def("shf.r.clamp.b32", [](uint32_t a, uint32_t b, uint32_t n) -> uint32_t {
        return (uint32_t)(((uint64_t)b << 32 | a) >> (n < 32 ? n : 32));
    });
    def("dp4a.s32.s32",
        [](uint32_t a, uint32_t b, int32_t c) -> int32_t { return dot4<int8_t, int8_t>(a, b, c); });
    def("dp4a.u32.u32", [](uint32_t a, uint32_t b, int32_t c) -> int32_t {
        return dot4<uint8_t, uint8_t>(a, b, c);
    });
    def("dp4a.s32.u32", [](uint32_t a, uint32_t b, int32_t c) -> int32_t {
        return dot4<int8_t, uint8_t>(a, b, c);
    });
    def("dp4a.u32.s32", [](uint32_t a, uint32_t b, int32_t c) -> int32_t {
        return dot4<uint8_t, int8_t>(a, b, c);
    });
    def("dp2a.lo.u32.u32", [](uint32_t a, uint32_t b, uint32_t c) -> uint32_t {
        return c + (a & 0xffff) * (b & 255) + (a >> 16) * (b >> 8 & 255);
    });
}

} // namespace

const Op *find_op(const string &name)
{
    static const bool once = (define(), true);
    auto found = operations().find(name);
    return once && found != operations().end() ? &found->second : nullptr;
}

} // namespace emu
