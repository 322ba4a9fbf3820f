/*
 * operations.h - how an instruction that a lane does alone is written: def("add.f32", a function of
 * one lane), whose types say how wide the registers are.
 */
#pragma once

#include <cfenv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "emulator.h"

namespace emu
{

std::map<string, Op> &operations(); /* by name, without what changes nothing here */

void define_small_floats();
void define_conversions();

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
    operations()[name] = Lanes<F, decltype(&F::operator())>::op();
}

template <class T> using U = std::make_unsigned_t<T>;

template <class T> T smallest(T a, T b)
{
    if (std::isnan(a)) return b;
    if (std::isnan(b)) return a;
    return a < b || (a == b && std::signbit(a)) ? a : b;
}

/* Rounded down, whatever the compiler thinks: what f reads is volatile. */
template <class T, class F> T downward(F f)
{
    fesetround(FE_DOWNWARD);
    volatile T out = f();
    fesetround(FE_TONEAREST);
    return out;
}

} // namespace emu
