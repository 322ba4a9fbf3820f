/*
 * memory.cc - where addresses lead, and the ordinary accesses. Device memory is known by
 * allocation, each with a gap behind it: an access that no allocation has whole is a fault, and so
 * is a misaligned one.
 */
#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

#include "emulator.h"

namespace emu
{

/* ------------------------------------------------------------- allocations -- */

namespace
{

struct Allocation {
    size_t bytes;
    void *mapping;
    string what;
};

std::map<uintptr_t, Allocation> &allocations()
{
    static std::map<uintptr_t, Allocation> all;
    return all;
}

size_t used;
uintptr_t last_begin, last_end;

} // namespace

void *memory_alloc(size_t bytes, bool host)
{
    const size_t gap = 4096;
    char *at = (char *)malloc(bytes + 2 * gap);
    if (!at) return nullptr;
    char *begin = (char *)((((uintptr_t)at + gap) & ~(uintptr_t)511) |
                           256); /* no more aligned than CUDA says */
    memset(begin, 0xff, bytes);  /* NaN, should anyone read it before it is written */
    allocations()[(uintptr_t)begin] = {bytes, at, host ? "host memory" : "memory"};
    used += bytes;
    return begin;
}

bool memory_free(void *at)
{
    auto found = allocations().find((uintptr_t)at);
    if (found == allocations().end()) return false;
    used -= found->second.bytes;
    free(found->second.mapping);
    allocations().erase(found);
    last_begin = last_end = 0;
    return true;
}

size_t memory_used(void)
{
    return used;
}

uint8_t *device_memory(uint64_t address, int64_t bytes, bool write)
{
    if (address >= last_begin && address + (uint64_t)bytes <= last_end) return (uint8_t *)address;
    auto next = allocations().upper_bound(address);
    if (next != allocations().begin()) {
        auto at = std::prev(next);
        uint64_t end = at->first + at->second.bytes;
        if (address + (uint64_t)bytes <= end) {
            last_begin = at->first;
            last_end = end;
            return (uint8_t *)address;
        }
        fault("%s of %lld bytes, %lld bytes after the begin of an allocation of %zu bytes",
              write ? "write" : "read", (long long)bytes, (long long)(address - at->first),
              at->second.bytes);
    }
    fault("%s of %lld bytes at %#llx, below all allocations", write ? "write" : "read",
          (long long)bytes, (unsigned long long)address);
}

/* ---------------------------------------------------------------- addresses -- */

uint64_t address_of(Warp &w, const Ins &i, int lane)
{
    uint64_t base = i.address < 0    ? 0
                    : i.address_wide ? w.u64(i.address)[lane]
                                     : w.u32(i.address)[lane];
    return base + (uint64_t)i.offset;
}

static uint8_t *shared(Warp &w, uint64_t address, int64_t bytes, Block **block)
{
    uint32_t a = (uint32_t)address, rank = a >> 24, offset = a & 0xffffff;
    Block *b = w.block;
    if (rank) {
        if (rank > b->cluster->blocks.size())
            fault("shared memory of block %u in a cluster of %zu", rank - 1,
                  b->cluster->blocks.size());
        b = b->cluster->blocks[rank - 1];
        if (b->live_warps == 0)
            fault("shared memory of block %u of the cluster, which has ended", rank - 1);
    }
    if (offset < RESERVED || offset + bytes > (int64_t)b->shared.size())
        fault("shared memory at %lld of %lld bytes", (long long)offset - RESERVED,
              (long long)b->shared.size() - RESERVED);
    *block = b;
    return b->shared.data() + offset;
}

uint8_t *resolve(Warp &w, int lane, Space space, uint64_t address, int64_t bytes, int align,
                 bool write)
{
    if (address & (uint64_t)(align - 1))
        fault("lane %d: misaligned: address %#llx, to be a multiple of %d", lane,
              (unsigned long long)address, align);
    if (space == GENERIC)
        for (Space s : {SHARED, LOCAL, PARAM})
            if ((address ^ tag(s)) >> 56 == 0) space = s;
    try {
        switch (space) {
        case SHARED: {
            Block *block;
            uint8_t *at = shared(w, address, bytes, &block);
            if (write) wrote_shared(w, block, at, bytes);
            return at;
        }
        case LOCAL: {
            uint64_t offset = address & 0xffffffff;
            int64_t size = w.block->grid->kernel->local_bytes;
            if ((int64_t)offset + bytes > size)
                fault("local memory at %llu of %lld", (unsigned long long)offset, (long long)size);
            return w.local + lane * size + offset;
        }
        case PARAM: {
            uint64_t offset = address & 0xffffffff;
            if (offset + (uint64_t)bytes > w.block->grid->params.size())
                fault("parameters at %llu", (unsigned long long)offset);
            if (write) fault("a write to parameters");
            return w.block->grid->params.data() + offset;
        }
        default:
            return device_memory(address, bytes, write);
        }
    } catch (const Fault &f) {
        throw Fault(say("lane %d: ", lane) + f.what());
    }
}

/* What TMA and wgmma read must have been fenced by the warp that wrote it (PTX ISA, "Async proxy").
 */
void wrote_shared(Warp &w, Block *block, const uint8_t *at, int64_t bytes)
{
    int64_t first = at - block->shared.data();
    for (int64_t k = first / 16; k <= (first + bytes - 1) / 16; k++)
        block->unfenced[k] = (uint16_t)(w.index + 1);
}

void async_reads(Warp &w, const Ins &i, Block *block, const uint8_t *at, int64_t bytes)
{
    int64_t first = at - block->shared.data();
    for (int64_t k = first / 16; k <= (first + bytes - 1) / 16; k++)
        if (block->unfenced[k]) {
            finding(w, i,
                    say("reads shared memory that warp %d wrote without a fence.proxy.async since",
                        block->unfenced[k] - 1));
            return;
        }
}

void fence_async(Warp &w)
{
    for (uint16_t &who : w.block->unfenced)
        if (who == w.index + 1) who = 0;
}

/* ------------------------------------------------------------ loads, stores -- */

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

enum { ADD, MIN, MAX, AND, OR, XOR, EXCH, CAS, INC, DEC };

template <class T> T combine(int op, T old, T a, T b)
{
    if constexpr (std::is_integral_v<T>) switch (op) {
        case AND:
            return old & a;
        case OR:
            return old | a;
        case XOR:
            return old ^ a;
        case INC:
            return old >= a ? 0 : old + 1;
        case DEC:
            return old == 0 || old > a ? a : old - 1;
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

uint16_t combine_half(const Format &f, int op, uint16_t old, uint16_t a)
{
    return (uint16_t)encode(f, combine<double>(op, decode(f, old), decode(f, a), 0));
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
    const Format &half = i.kind == 'h' ? F16 : BF16;
    switch (i.kind) {
    case 's':
        return i.bytes == 8 ? as((int64_t)0) : as((int32_t)0);
    case 'f':
        return i.bytes == 8 ? as(0.0) : as(0.0f);
    case 'h':
    case 'g': {
        if (i.mode == EXCH) return a;
        uint64_t out = combine_half(half, i.mode, (uint16_t)old, (uint16_t)a);
        if (i.bytes == 4)
            out |= (uint64_t)combine_half(half, i.mode, (uint16_t)(old >> 16), (uint16_t)(a >> 16))
                   << 16;
        return out;
    }
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

/* ---------------------------------------------------------- moves, addresses -- */

Run to_generic(Warp &w, const Ins &i, uint32_t m)
{
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1) w.u64(i.s[0])[l] = (w.u64(i.s[1])[l] & 0xffffffff) | tag(i.space);
    return NEXT;
}

Run from_generic(Warp &w, const Ins &i, uint32_t m)
{
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1) w.u64(i.s[0])[l] = w.u64(i.s[1])[l] & 0xffffffff;
    return NEXT;
}

/* mapa: the same address in block `rank`; mode: generic. */
Run map_address(Warp &w, const Ins &i, uint32_t m)
{
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1)) continue;
        uint64_t a = i.mode ? w.u64(i.s[1])[l] : w.u32(i.s[1])[l];
        uint64_t rank = w.u32(i.s[2])[l];
        if (rank >= w.block->cluster->blocks.size())
            fault("mapa: rank %llu in a cluster of %zu", (unsigned long long)rank,
                  w.block->cluster->blocks.size());
        a = (a & ~(uint64_t)0xff000000) | (rank + 1) << 24;
        if (i.mode)
            w.u64(i.s[0])[l] = a;
        else
            w.u32(i.s[0])[l] = (uint32_t)a;
    }
    return NEXT;
}

/* vec: parts; s[0]: the whole; bytes: of a part; mode: the whole has 8 bytes; mode2: the parts too.
 */
Run pack(Warp &w, const Ins &i, uint32_t m)
{
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1)) continue;
        uint64_t v = 0;
        for (size_t k = i.vec.size(); k-- > 0;)
            v = v << (8 * i.bytes) | (w.u32(i.vec[k])[l] & ((1ull << (8 * i.bytes)) - 1));
        if (i.mode)
            w.u64(i.s[0])[l] = v;
        else
            w.u32(i.s[0])[l] = (uint32_t)v;
    }
    return NEXT;
}

Run unpack(Warp &w, const Ins &i, uint32_t m)
{
    for (int l = 0; l < LANES; l++) {
        if (!(m >> l & 1)) continue;
        uint64_t v = i.mode ? w.u64(i.s[0])[l] : w.u32(i.s[0])[l];
        for (size_t k = 0; k < i.vec.size(); k++)
            w.u32(i.vec[k])[l] = (uint32_t)(v >> (8 * i.bytes * k) & ((1ull << (8 * i.bytes)) - 1));
    }
    return NEXT;
}

Run nothing(Warp &, const Ins &, uint32_t)
{
    return NEXT;
}

bool build_move(Builder &b)
{
    Ins &i = b.ins;
    if (b.part[0] == "cvta") {
        bool to = b.part[1] == "to";
        i.s[0] = b.slot(0, true);
        const string space = b.part[to ? 2 : 1];
        i.s[1] = b.slot(1, true);
        if (space == "global" || space == "const")
            i.run = find_op("mov.b64")->run;
        else {
            i.space = space == "local" ? LOCAL : space == "param" ? PARAM : SHARED;
            i.run = to ? from_generic : to_generic;
        }
        return true;
    }
    if (b.part[0] == "mapa") {
        i.mode = b.part.back() == "u64" && b.args[1].wide;
        bool wide = b.part.back() == "u64";
        i.s[0] = b.slot(0, wide), i.s[1] = b.slot(1, wide), i.s[2] = b.slot(2, false);
        i.mode = wide;
        i.run = map_address;
        return true;
    }
    if (b.part[0] != "mov") return false;
    int whole = type_bytes(b.part.back());
    for (int side = 0; side < 2; side++) {
        if (b.args[side].kind != Arg::VEC) continue;
        i.vec = b.slots(side, false);
        i.bytes = (uint8_t)(whole / (int)i.vec.size());
        i.mode = whole == 8;
        i.s[0] = b.slot(1 - side, whole == 8);
        i.run = side ? pack : unpack;
        return true;
    }
    return false;
}

} // namespace

bool build_memory(Builder &b)
{
    Ins &i = b.ins;
    const string &name = b.part[0];
    static const std::vector<string> ignored = {"prefetch", "prefetchu", "discard", "applypriority",
                                                "membar"};
    if (std::count(ignored.begin(), ignored.end(), name)) {
        i.run = nothing;
        return true;
    }
    if (name == "createpolicy") {
        i.s[0] = b.slot(0, true);
        i.run = nothing;
        return true;
    }
    if (name == "ld" || name == "ldu" || name == "st") {
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
        static const char *const names[] = {"add", "min",  "max", "and", "or",
                                            "xor", "exch", "cas", "inc", "dec"};
        i.mode = -1;
        for (int k = 0; k < 10; k++)
            if (b.has(names[k])) i.mode = k;
        if (i.mode < 0 || b.has("async")) return false;
        const string &type = b.part.back();
        i.space = b.space();
        i.kind = type[0] == 'f' && type.find("f16") == 0 ? 'h'
                 : type.find("bf16") == 0                ? 'g'
                                                         : type[0];
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
