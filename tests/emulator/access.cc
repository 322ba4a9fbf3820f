/*
 * access.cc - ordinary accesses: ld, st, atom and red (PTX ISA, "Data Movement and Conversion
 * Instructions" and "Parallel Synchronization and Communication Instructions"). Where an address
 * leads is memory.cc's.
 */
#include <algorithm>

#include "emulator.h"

namespace emu
{

namespace
{

/* memcpy of a size that the compiler knows. */
void copy_element(void *to, const void *from, int bytes)
{
    switch (bytes) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    default:
        memcpy(to, from, (size_t)bytes);
    }
}

void spread(uint32_t *to, int lane, const uint8_t *from, int bytes, char kind, bool wide)
{
    uint64_t v = 0;
    copy_element(&v, from, bytes);
    if (kind == 's' && bytes < 8 && v >> (8 * bytes - 1) & 1) v |= ~0ull << (8 * bytes);
    if (wide)
        ((uint64_t *)to)[lane] = v;
    else
        to[lane] = (uint32_t)v;
}

/* mode: the registers are of 8 bytes. */
Run load(Warp &w, const Ins &i, uint32_t m)
{
    const int all = i.bytes * i.count;
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1)) continue;
        const uint8_t *from = resolve(w, l, i.space, address_of(w, i, l), all, all, false);
        for (int k = 0; k < i.count; k++)
            spread(w.regs + i.vec[k], l, from + k * i.bytes, i.bytes, i.kind, i.mode);
    }
    return NEXT;
}

Run store(Warp &w, const Ins &i, uint32_t m)
{
    const int all = i.bytes * i.count;
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1)) continue;
        uint8_t *to = resolve(w, l, i.space, address_of(w, i, l), all, all, true);
        for (int k = 0; k < i.count; k++) {
            const void *from = i.mode ? (void *)&w.u64(i.vec[k])[l] : (void *)&w.u32(i.vec[k])[l];
            copy_element(to + k * i.bytes, from, i.bytes);
        }
    }
    return NEXT;
}

/* ------------------------------------------------------------------ atomics -- */

enum { ADD, MIN, MAX, AND, OR, XOR, EXCH, CAS };

template <class T> T combine(int op, T old, T a, T b)
{
    if constexpr (std::is_integral_v<T>) switch (op) {
        case AND:
            return old & a;
        case OR:
            return old | a;
        case XOR:
            return old ^ a;
        }
    switch (op) {
    case ADD:
        return (T)(old + a);
    case MIN:
        return std::min(old, a);
    case MAX:
        return std::max(old, a);
    case CAS:
        return old == a ? b : old;
    default:
        return a;
    }
}

uint64_t combined(const Ins &i, uint64_t old, uint64_t a, uint64_t b)
{
    auto as = [&](auto zero) {
        using T = decltype(zero);
        T x, y, z;
        memcpy(&x, &old, sizeof x), memcpy(&y, &a, sizeof y), memcpy(&z, &b, sizeof z);
        x = combine<T>(i.mode, x, y, z);
        uint64_t out = 0;
        memcpy(&out, &x, sizeof x);
        return out;
    };
    switch (i.kind) {
    case 's':
        return i.bytes == 8 ? as((int64_t)0) : as((int32_t)0);
    case 'f':
        return i.bytes == 8 ? as(0.0) : as(0.0f);
    default:
        return i.bytes == 8 ? as((uint64_t)0) : i.bytes == 2 ? as((uint16_t)0) : as((uint32_t)0);
    }
}

/* s[0]: destination or -1; vec: values; s[2]: the second of cas. */
Run atomic(Warp &w, const Ins &i, uint32_t m)
{
    const int all = i.bytes * i.count;
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1)) continue;
        uint8_t *at = resolve(w, l, i.space, address_of(w, i, l), all, all, true);
        for (int k = 0; k < i.count; k++, at += i.bytes) {
            auto value = [&](int slot) { return i.bytes == 8 ? w.u64(slot)[l] : w.u32(slot)[l]; };
            uint64_t old = 0, now;
            memcpy(&old, at, i.bytes);
            now = combined(i, old, value(i.vec[k]), i.s[2] < 0 ? 0 : value(i.s[2]));
            memcpy(at, &now, i.bytes);
            if (i.s[0] < 0) continue;
            if (i.bytes == 8)
                w.u64(i.s[0])[l] = old;
            else
                w.u32(i.s[0])[l] = (uint32_t)old;
        }
    }
    return NEXT;
}

} // namespace

bool build_memory(Builder &b)
{
    Ins &i = b.ins;
    const string &name = b.part[0];
    static const std::vector<string> ignored = {"prefetch", "membar"};
    if (std::count(ignored.begin(), ignored.end(), name)) {
        i.run = nothing;
        return true;
    }
    if (name == "createpolicy") {
        i.s[0] = b.slot(0, true);
        i.run = nothing;
        return true;
    }
    if (name == "ld" || name == "st") {
        bool is_store = name == "st";
        i.space = b.space();
        const string &type = b.part.back();
        i.kind = type[0];
        i.bytes = (uint8_t)type_bytes(type);
        b.address(is_store ? 0 : 1);
        Arg &data = b.args[is_store ? 1 : 0];
        Arg &first = data.kind == Arg::VEC ? data.vec[0] : data;
        bool wide = first.kind == Arg::REG && first.name != "_" ? first.wide : i.bytes == 8;
        if (data.kind == Arg::VEC)
            for (Arg &a : data.vec)
                if (a.kind == Arg::REG && a.name != "_") wide = a.wide;
        i.vec = b.slots(is_store ? 1 : 0, wide);
        i.mode = wide;
        i.count = (uint8_t)i.vec.size();
        i.run = is_store ? store : load;
        return true;
    }
    if (name == "atom" || name == "red") {
        static const char *const names[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas"};
        i.mode = -1;
        for (int k = 0; k < 8; k++)
            if (b.has(names[k])) i.mode = k;
        if (i.mode < 0 || b.has("async")) return false;
        const string &type = b.part.back();
        i.space = b.space();
        if (type.find("f16") != string::npos) return false;
        i.kind = type[0];
        i.bytes = (uint8_t)type_bytes(type);
        bool wide = i.bytes == 8, atom = name == "atom";
        if (atom) i.s[0] = b.slot(0, wide);
        b.address(atom);
        i.vec = b.slots(1 + atom, wide);
        i.count = (uint8_t)i.vec.size();
        if (i.count > 1 && atom) return false;
        if (i.mode == CAS) i.s[2] = b.slot(2 + atom, wide);
        i.run = atomic;
        return true;
    }
    return build_move(b);
}

} // namespace emu
