/* arithmetic.cc - instructions that a lane does alone, on registers. */
#include <cfenv>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

#include "emulator.h"

namespace emu
{

namespace
{

std::map<string, Op> &table()
{
    static std::map<string, Op> ops;
    return ops;
}

template <class T> T get(const uint32_t *p, int lane)
{
    if constexpr (sizeof(T) == 8)
        return ((const T *)p)[lane];
    else if constexpr (std::is_same_v<T, float>)
        return ((const float *)p)[lane];
    else if constexpr (std::is_same_v<T, bool>)
        return p[lane] != 0;
    else
        return (T)p[lane];
}

template <class T> void put(uint32_t *p, int lane, T v)
{
    if constexpr (sizeof(T) == 8)
        ((T *)p)[lane] = v;
    else if constexpr (std::is_same_v<T, float>)
        ((float *)p)[lane] = v;
    else if constexpr (sizeof(T) == 4)
        p[lane] = (uint32_t)v;
    else if constexpr (std::is_same_v<T, bool>)
        p[lane] = v;
    else
        p[lane] = (std::make_unsigned_t<T>)v;
}

template <class F, class Signature> struct Lanes;
template <class F, class D, class... A> struct Lanes<F, D (F::*)(A...) const> {
    template <size_t... I>
    static void all(Warp &w, const Ins &i, uint32_t m, std::index_sequence<I...>)
    {
        uint32_t *d = w.regs + i.s[0];
        const uint32_t *a[] = {w.regs + i.s[I + 1]...};
        if (m == ~0u)
            for (int l = 0; l < LANES; l++)
                put<D>(d, l, F{}(get<A>(a[I], l)...));
        else
            for (int l = 0; l < LANES; l++)
                if (m >> l & 1) put<D>(d, l, F{}(get<A>(a[I], l)...));
    }
    static Run run(Warp &w, const Ins &i, uint32_t m)
    {
        all(w, i, m, std::index_sequence_for<A...>{});
        return NEXT;
    }
    static Op op()
    {
        return {run, 1 + (int)sizeof...(A), {sizeof(D) == 8, (sizeof(A) == 8)...}};
    }
};

template <class F> void def(const string &name, F)
{
    table()[name] = Lanes<F, decltype(&F::operator())>::op();
}

template <class T> using U = std::make_unsigned_t<T>;

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
    def("mad.hi." + t,
        [](T a, T b, T c) -> T { return (T)((((W)a * (W)b) >> (8 * sizeof(T))) + (W)c); });
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
    def("cnot." + t, [](T a) -> T { return a == 0; });
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
        def("brev." + t, [](T a) -> T {
            T out = 0;
            for (size_t k = 0; k < 8 * sizeof(T); k++)
                out |= (a >> k & 1) << (8 * sizeof(T) - 1 - k);
            return out;
        });
        def("bfi." + t, [](T a, T b, uint32_t at, uint32_t n) -> T {
            at &= 255, n &= 255;
            for (uint32_t k = 0; k < n && at + k < 8 * sizeof(T); k++)
                b = (b & ~((T)1 << (at + k))) | (a >> k & 1) << (at + k);
            return b;
        });
    }
}

template <class T> T smallest(T a, T b)
{
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    return a < b || (a == b && std::signbit(a)) ? a : b;
}

/* Rounded as the mode says, whatever the compiler thinks. */
template <class T, class F> T rounded(int mode, F f)
{
    fesetround(mode);
    volatile T out = f();
    fesetround(FE_TONEAREST);
    return out;
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
    def("testp.finite." + t, [](T a) -> bool { return std::isfinite(a); });
    def("testp.infinite." + t, [](T a) -> bool { return std::isinf(a); });
    def("testp.notanumber." + t, [](T a) -> bool { return a != a; });
    def("testp.number." + t, [](T a) -> bool { return a == a; });
    def("add.sat." + t, [](T a, T b) -> T { return std::fmin((T)1, std::fmax((T)0, a + b)); });
    def("mul.sat." + t, [](T a, T b) -> T { return std::fmin((T)1, std::fmax((T)0, a * b)); });
    def("fma.sat." + t,
        [](T a, T b, T c) -> T { return std::fmin((T)1, std::fmax((T)0, std::fma(a, b, c))); });
#define MODED(SUFFIX, MODE)                                                                        \
    def("add." SUFFIX "." + t, [](T a, T b) -> T {                                                 \
        return rounded<T>(MODE, [&] {                                                              \
            volatile T x = a, y = b;                                                               \
            return x + y;                                                                          \
        });                                                                                        \
    });                                                                                            \
    def("sub." SUFFIX "." + t, [](T a, T b) -> T {                                                 \
        return rounded<T>(MODE, [&] {                                                              \
            volatile T x = a, y = b;                                                               \
            return x - y;                                                                          \
        });                                                                                        \
    });                                                                                            \
    def("mul." SUFFIX "." + t, [](T a, T b) -> T {                                                 \
        return rounded<T>(MODE, [&] {                                                              \
            volatile T x = a, y = b;                                                               \
            return x * y;                                                                          \
        });                                                                                        \
    });                                                                                            \
    def("div." SUFFIX "." + t, [](T a, T b) -> T {                                                 \
        return rounded<T>(MODE, [&] {                                                              \
            volatile T x = a, y = b;                                                               \
            return x / y;                                                                          \
        });                                                                                        \
    });                                                                                            \
    def("fma." SUFFIX "." + t, [](T a, T b, T c) -> T {                                            \
        return rounded<T>(MODE, [&] {                                                              \
            volatile T x = a, y = b, z = c;                                                        \
            return std::fma(x, y, z);                                                              \
        });                                                                                        \
    });
    MODED("rm", FE_DOWNWARD)
    MODED("rp", FE_UPWARD)
    MODED("rz", FE_TOWARDZERO)
}

float flush(float a)
{
    return std::fabs(a) < 1.17549435e-38f ? std::copysign(0.0f, a) : a;
}

/* --------------------------------------------------------- 16-bit numbers -- */

template <const Format &F> float small(uint16_t bits)
{
    return (float)decode(F, bits);
}

/* Sums and products of two 16-bit numbers are exact in double; so is a fused product but for sums
 * of far numbers, where the second rounding shows once in millions. */
template <const Format &F> void halves(const string &t)
{
#define PAIRED(NAME, ARGS1, CALL, ARGS2, LOW, HIGH)                                                \
    def(NAME "." + t, [] ARGS1 -> uint16_t { return (uint16_t)(CALL); });                          \
    def(NAME "." + t + "x2", [] ARGS2 -> uint32_t {                                                \
        auto one = [] ARGS1 -> uint32_t { return (uint16_t)(CALL); };                              \
        return one LOW | one HIGH << 16;                                                           \
    });
#define V(x) decode(F, x)
#define A1   (uint16_t a)
#define A2   (uint16_t a, uint16_t b)
#define A3   (uint16_t a, uint16_t b, uint16_t c)
#define P1   (uint32_t a)
#define P2   (uint32_t a, uint32_t b)
#define P3   (uint32_t a, uint32_t b, uint32_t c)
#define L1   ((uint16_t)a)
#define L2   ((uint16_t)a, (uint16_t)b)
#define L3   ((uint16_t)a, (uint16_t)b, (uint16_t)c)
#define H1   ((uint16_t)(a >> 16))
#define H2   ((uint16_t)(a >> 16), (uint16_t)(b >> 16))
#define H3   ((uint16_t)(a >> 16), (uint16_t)(b >> 16), (uint16_t)(c >> 16))
    PAIRED("add", A2, encode(F, V(a) + V(b)), P2, L2, H2)
    PAIRED("sub", A2, encode(F, V(a) - V(b)), P2, L2, H2)
    PAIRED("mul", A2, encode(F, V(a) * V(b)), P2, L2, H2)
    PAIRED("fma", A3, encode(F, V(a) * V(b) + V(c)), P3, L3, H3)
    PAIRED("fma.relu", A3, encode(F, std::fmax(0.0, V(a) * V(b) + V(c))), P3, L3, H3)
    PAIRED("min", A2, encode(F, smallest(V(a), V(b))), P2, L2, H2)
    PAIRED("max", A2, encode(F, -smallest(-V(a), -V(b))), P2, L2, H2)
    PAIRED("neg", A1, a ^ 0x8000, P1, L1, H1)
    PAIRED("abs", A1, a & 0x7fff, P1, L1, H1)
    PAIRED("ex2", A1, encode(F, std::exp2(V(a))), P1, L1, H1)
    PAIRED("tanh", A1, encode(F, std::tanh(V(a))), P1, L1, H1)
    def("mov." + t, [](uint16_t a) -> uint16_t { return a; });
    def("mov." + t + "x2", [](uint32_t a) -> uint32_t { return a; });
    def("selp." + t, [](uint16_t a, uint16_t b, bool c) -> uint16_t { return c ? a : b; });
    def("setp.eq." + t, [](uint16_t a, uint16_t b) -> bool { return V(a) == V(b); });
    def("setp.neu." + t, [](uint16_t a, uint16_t b) -> bool { return V(a) != V(b); });
    def("setp.lt." + t, [](uint16_t a, uint16_t b) -> bool { return V(a) < V(b); });
    def("setp.le." + t, [](uint16_t a, uint16_t b) -> bool { return V(a) <= V(b); });
    def("setp.gt." + t, [](uint16_t a, uint16_t b) -> bool { return V(a) > V(b); });
    def("setp.ge." + t, [](uint16_t a, uint16_t b) -> bool { return V(a) >= V(b); });
    def("cvt.f32." + t, [](uint16_t a) -> float { return (float)V(a); });
    def("cvt.f64." + t, [](uint16_t a) -> double { return V(a); });
    def("cvt." + t + ".f32", [](float a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt." + t + ".f64", [](double a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt.rz." + t + ".f32",
        [](float a) -> uint16_t { return (uint16_t)encode(F, a, TO_ZERO); });
    def("cvt.relu." + t + ".f32",
        [](float a) -> uint16_t { return (uint16_t)encode(F, std::fmax(0.0f, a)); });
    def("cvt." + t + ".u32", [](uint32_t a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt." + t + ".s32", [](int32_t a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt." + t + ".u16", [](uint16_t a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt." + t + ".s16", [](int16_t a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt." + t + ".s8", [](int8_t a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt." + t + ".u8", [](uint8_t a) -> uint16_t { return (uint16_t)encode(F, a); });
    def("cvt.rni.s32." + t, [](uint16_t a) -> int32_t { return (int32_t)std::nearbyint(V(a)); });
    def("cvt.rzi.s32." + t, [](uint16_t a) -> int32_t { return (int32_t)V(a); });
    /* The first operand is the upper half. */
    def("cvt." + t + "x2.f32",
        [](float a, float b) -> uint32_t { return encode(F, a) << 16 | encode(F, b); });
    def("cvt.rz." + t + "x2.f32", [](float a, float b) -> uint32_t {
        return encode(F, a, TO_ZERO) << 16 | encode(F, b, TO_ZERO);
    });
    def("cvt.relu." + t + "x2.f32", [](float a, float b) -> uint32_t {
        return encode(F, std::fmax(0.0f, a)) << 16 | encode(F, std::fmax(0.0f, b));
    });
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

/* -------------------------------------------------------------- conversions -- */

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
        def("cvt.rz." + name, [](S a) -> D {
            return rounded<D>(FE_TOWARDZERO, [&] {
                volatile S x = a;
                return (D)x;
            });
        });
        def("cvt.rm." + name, [](S a) -> D {
            return rounded<D>(FE_DOWNWARD, [&] {
                volatile S x = a;
                return (D)x;
            });
        });
        def("cvt.rp." + name, [](S a) -> D {
            return rounded<D>(FE_UPWARD, [&] {
                volatile S x = a;
                return (D)x;
            });
        });
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

template <class A, class B> int32_t dot2(uint32_t a, uint32_t b, int32_t c, int half)
{
    for (int k = 0; k < 2; k++)
        c = (int32_t)((uint32_t)c + (uint32_t)((int32_t)(A)(a >> (16 * k)) *
                                               (int32_t)(B)(b >> (8 * (k + half)))));
    return c;
}

struct Fill {
    Fill();
} fill;

Fill::Fill()
{
    integers<uint16_t>("u16"), integers<int16_t>("s16");
    integers<uint32_t>("u32"), integers<int32_t>("s32");
    integers<uint64_t>("u64"), integers<int64_t>("s64");
    widening<uint16_t, uint32_t>("u16"), widening<int16_t, int32_t>("s16");
    widening<uint32_t, uint64_t>("u32"), widening<int32_t, int64_t>("s32");
    bits<uint16_t>("b16"), bits<uint32_t>("b32"), bits<uint64_t>("b64");
    floats<float>("f32"), floats<double>("f64");
    halves<F16>("f16"), halves<BF16>("bf16");
    eighths<E4M3>("e4m3"), eighths<E5M2>("e5m2");
    convert_to<uint8_t>("u8"), convert_to<int8_t>("s8"), convert_to<uint16_t>("u16"),
        convert_to<int16_t>("s16");
    convert_to<uint32_t>("u32"), convert_to<int32_t>("s32"), convert_to<uint64_t>("u64"),
        convert_to<int64_t>("s64");
    convert_to<float>("f32"), convert_to<double>("f64");

    def("and.pred", [](bool a, bool b) -> bool { return a && b; });
    def("or.pred", [](bool a, bool b) -> bool { return a || b; });
    def("xor.pred", [](bool a, bool b) -> bool { return a != b; });
    def("not.pred", [](bool a) -> bool { return !a; });
    def("mov.pred", [](bool a) -> bool { return a; });
    def("selp.pred", [](bool a, bool b, bool c) -> bool { return c ? a : b; });

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
    def("dp2a.lo.u32.u32", [](uint32_t a, uint32_t b, int32_t c) -> int32_t {
        return dot2<uint16_t, uint8_t>(a, b, c, 0);
    });
    def("dp2a.hi.u32.u32", [](uint32_t a, uint32_t b, int32_t c) -> int32_t {
        return dot2<uint16_t, uint8_t>(a, b, c, 2);
    });
    def("dp2a.lo.s32.s32", [](uint32_t a, uint32_t b, int32_t c) -> int32_t {
        return dot2<int16_t, int8_t>(a, b, c, 0);
    });
    def("dp2a.hi.s32.s32", [](uint32_t a, uint32_t b, int32_t c) -> int32_t {
        return dot2<int16_t, int8_t>(a, b, c, 2);
    });
    def("sad.s32", [](int32_t a, int32_t b, uint32_t c) -> uint32_t {
        return c + (uint32_t)(a > b ? a - b : b - a);
    });
    def("bfind.u32",
        [](uint32_t a) -> uint32_t { return a ? 31 - (uint32_t)__builtin_clz(a) : ~0u; });
}

} // namespace

const Op *find_op(const string &name)
{
    auto found = table().find(name);
    return found == table().end() ? nullptr : &found->second;
}

} // namespace emu
