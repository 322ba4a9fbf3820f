/*
 * async.cc - mbarriers, and copies that land later: cp.async, bulk copies and TMA. Loads land when
 * run.cc draws them; stores and cp.async happen at once or when they are waited for, as is drawn.
 */
#include <cstring>

#include "emulator.h"
#include "tensor_map.h"

namespace emu
{

namespace
{

template <class F> void each(uint32_t mask, F f)
{
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1) f(l);
}

/* --------------------------------------------------------------- mbarriers -- */

struct State { /* of an mbarrier: 64 bits, all ones where none was made */
    uint64_t phase : 1, pending : 20, expected : 20;
    int64_t bytes : 23;
};
static_assert(sizeof(State) == 8);

State read_state(const uint8_t *at)
{
    uint64_t bits;
    memcpy(&bits, at, 8);
    if (bits == ~0ull) fault("an mbarrier that was not initialised");
    State s;
    memcpy(&s, &bits, 8);
    return s;
}

void write_state(uint8_t *at, State s)
{
    if (s.pending == 0 && s.bytes == 0) {
        s.phase ^= 1;
        s.pending = s.expected;
    }
    memcpy(at, &s, 8);
}

void complete_bytes(uint8_t *at, int64_t bytes)
{
    State s = read_state(at);
    s.bytes -= bytes;
    write_state(at, s);
}

enum { INIT, INVAL, ARRIVE, ARRIVE_EXPECT, ARRIVE_DROP, EXPECT, COMPLETE, PENDING_COUNT };

/* mode: which; s[0]: state to return or -1; s[1]: the count or -1. */
Run barrier(Warp &w, const Ins &i, uint32_t m)
{
    each(m, [&](int l) {
        uint8_t *at = resolve(w, l, i.space, address_of(w, i, l), 8, 8, true);
        uint32_t count = i.s[1] < 0 ? 1 : w.u32(i.s[1])[l];
        if (i.mode == INIT) {
            if (count == 0 || count >= 1u << 20) fault("an mbarrier of %u arrivals", count);
            State s = {0, count, count, 0};
            memcpy(at, &s, 8);
            return;
        }
        if (i.mode == INVAL) {
            memset(at, 0xff, 8);
            return;
        }
        State s = read_state(at);
        if (i.s[0] >= 0) memcpy(&w.u64(i.s[0])[l], &s, 8);
        if (i.mode == ARRIVE_EXPECT || i.mode == EXPECT) s.bytes += count;
        if (i.mode == COMPLETE) s.bytes -= count;
        if (i.mode == ARRIVE || i.mode == ARRIVE_EXPECT || i.mode == ARRIVE_DROP) {
            uint32_t arrivals = i.mode == ARRIVE ? count : 1;
            if (s.pending < arrivals)
                fault("%u arrivals at an mbarrier that waits for %u more", arrivals,
                      (unsigned)s.pending);
            s.pending -= arrivals;
            if (i.mode == ARRIVE_DROP) s.expected--;
        }
        write_state(at, s);
    });
    return NEXT;
}

/* s: predicate, state or parity; mode: parity; mode2: may wait. A warp of which no lane is done
 * waits. */
Run barrier_wait(Warp &w, const Ins &i, uint32_t m)
{
    bool any = false;
    uint32_t done = 0;
    each(m, [&](int l) {
        State s = read_state(resolve(w, l, i.space, address_of(w, i, l), 8, 8, false)), old;
        uint64_t parity;
        if (i.mode)
            parity = w.u32(i.s[1])[l] & 1;
        else {
            memcpy(&old, &w.u64(i.s[1])[l], 8);
            parity = old.phase;
        }
        if (s.phase != parity) any = true, done |= 1u << l;
    });
    if (i.mode2 && !any) return BLOCKED;
    each(m, [&](int l) { w.u32(i.s[0])[l] = done >> l & 1; });
    return NEXT;
}

bool build_barrier(Builder &b)
{
    Ins &i = b.ins;
    if (b.part[0] != "mbarrier") return false;
    const string &what = b.part[1];
    i.space = b.space();
    i.run = barrier;
    if (what == "test_wait" || what == "try_wait") {
        i.mode = b.has("parity");
        i.mode2 = what == "try_wait";
        i.s[0] = b.slot(0, false);
        b.address(1);
        i.s[1] = b.slot(2, !i.mode);
        i.run = barrier_wait;
        return true;
    }
    bool result = what == "arrive" || what == "arrive_drop";
    i.mode = what == "init"          ? INIT
             : what == "inval"       ? INVAL
             : what == "arrive_drop" ? ARRIVE_DROP
             : what == "arrive"      ? (b.has("expect_tx") ? ARRIVE_EXPECT : ARRIVE)
             : what == "expect_tx"   ? EXPECT
             : what == "complete_tx" ? COMPLETE
                                     : -1;
    if (i.mode < 0) return false;
    if (result && b.args[0].kind == Arg::MEM) result = false;
    if (result && b.args[0].name != "_") i.s[0] = b.slot(0, true);
    b.address(result);
    if ((int)b.args.size() > 1 + result) i.s[1] = b.slot(1 + result, false);
    return true;
}

/* ----------------------------------------------------------------- cp.async -- */

void copy_now(Warp &w, const Copy &c)
{
    memcpy(c.to, c.from, (size_t)c.source_bytes);
    memset(c.to + c.source_bytes, 0, (size_t)(c.bytes - c.source_bytes));
    (void)w;
}

/* bytes: 4, 8, 16; s[0]: bytes of the source, or -1; vec2[0]: slot of the source; mode: 8 bytes;
 * s[1]: ignored where. */
Run copy_async(Warp &w, const Ins &i, uint32_t m)
{
    each(m, [&](int l) {
        uint8_t *to = resolve(w, l, SHARED, address_of(w, i, l), i.bytes, i.bytes, true);
        uint64_t address =
            (i.mode ? w.u64(i.vec2[0])[l] : w.u32(i.vec2[0])[l]) + (uint64_t)(int64_t)i.mode2;
        int64_t n = i.s[0] < 0 ? i.bytes : (int64_t)w.u32(i.s[0])[l];
        if (i.s[1] >= 0 && w.u32(i.s[1])[l]) n = 0;
        if (n > i.bytes) fault("cp.async of %lld bytes into %d", (long long)n, i.bytes);
        if (address % i.bytes)
            fault("lane %d: misaligned: cp.async from %#llx", l, (unsigned long long)address);
        const uint8_t *from = n ? device_memory(address, n, false) : to;
        Copy c = {to, from, i.bytes, (int)n, l, w.copy_group[l]};
        if (w.block->grid->chance(2))
            copy_now(w, c);
        else
            w.copies.push_back(c);
    });
    return NEXT;
}

Run copy_commit(Warp &w, const Ins &, uint32_t m)
{
    each(m, [&](int l) { w.copy_group[l]++; });
    return NEXT;
}

/* mode: all, committed or not. */
Run copy_wait(Warp &w, const Ins &i, uint32_t m)
{
    if (i.mode) each(m, [&](int l) { w.copy_group[l]++; });
    finish_copies(w, m, (int)i.offset);
    return NEXT;
}

/* The barrier hears of it when the lane's copies have landed: at once. mode: noinc. */
Run copy_arrive(Warp &w, const Ins &i, uint32_t m)
{
    each(m, [&](int l) { w.copy_group[l]++; });
    finish_copies(w, m, 0);
    each(m, [&](int l) {
        uint8_t *at =
            resolve(w, l, i.space == GENERIC ? SHARED : i.space, address_of(w, i, l), 8, 8, true);
        State s = read_state(at);
        if (!i.mode) s.pending++;
        if (!s.pending) fault("too many arrivals at an mbarrier");
        s.pending--;
        write_state(at, s);
    });
    return NEXT;
}

/* --------------------------------------------------------------- bulk copies -- */

enum { FROM_GLOBAL, TO_GLOBAL, TO_CLUSTER };

struct Part {        /* of a tensor's box: a run of bytes */
    uint8_t *memory; /* NULL: outside */
    int64_t shared;
    int64_t bytes;
};

/* Where 16 bytes of a box lie in shared memory. */
int64_t swizzled(int swizzle, int64_t at)
{
    return swizzle ? at ^ (((at >> 7) & (swizzle / 16 - 1)) << 4) : at;
}

/* The box at these coordinates, in pieces of up to 16 bytes that lie together on both sides. */
std::vector<Part> box_parts(const TensorMap &t, const int32_t *at, int64_t shared, bool write)
{
    std::vector<Part> parts;
    int64_t count = 1;
    for (int d = 1; d < t.rank; d++)
        count *= t.box[d];
    const int64_t element = (int64_t)t.stride[0], row_bytes = t.box[0] * element;
    for (int64_t n = 0; n < count; n++) {
        int64_t rest = n, base = (int64_t)t.base;
        bool inside = true;
        for (int d = 1; d < t.rank; d++) {
            int64_t x = at[d] + rest % t.box[d];
            rest /= t.box[d];
            inside &= x >= 0 && x < (int64_t)t.size[d];
            base += x * (int64_t)t.stride[d];
        }
        for (int64_t k = 0; k < row_bytes;) {
            int64_t here = shared + n * row_bytes + k,
                    bytes = std::min<int64_t>(16 - here % 16, row_bytes - k);
            int64_t x = at[0] + k / element;
            bool in = inside && x >= 0 && x < (int64_t)t.size[0];
            if (!in || x + bytes / element > (int64_t)t.size[0])
                bytes = element; /* at the edge: one by one */
            uint64_t address = (uint64_t)(base + at[0] * element + k);
            parts.push_back({in ? device_memory(address, bytes, write) : nullptr,
                             swizzled(t.swizzle, here), bytes});
            k += bytes;
        }
    }
    return parts;
}

const TensorMap &tensor_map(Warp &w, const Ins &i, int lane)
{
    uint64_t address = address_of(w, i, lane);
    const TensorMap *t = (const TensorMap *)resolve(w, lane, GENERIC, address, 128, 64, false);
    if (t->magic != TENSOR_MAP) fault("no tensor map where one is named");
    return *t;
}

template <class T> void reduce_as(int op, uint8_t *to, const uint8_t *from, int64_t bytes)
{
    for (int64_t k = 0; k < bytes; k += (int64_t)sizeof(T)) {
        T a, b;
        memcpy(&a, to + k, sizeof a), memcpy(&b, from + k, sizeof b);
        a = op == 0 ? (T)(a + b) : op == 1 ? std::min(a, b) : std::max(a, b);
        memcpy(to + k, &a, sizeof a);
    }
}

/* i.kind, i.bytes: type of a reduction; i.count: 1 add, 2 min, 3 max; 0: a copy. */
void put_bytes(const Ins &i, uint8_t *to, const uint8_t *from, int64_t bytes)
{
    if (!i.count) {
        memmove(to, from, (size_t)bytes);
        return;
    }
    int op = i.count - 1;
    if (i.kind == 'f' && i.bytes == 4) return reduce_as<float>(op, to, from, bytes);
    if (i.kind == 's' && i.bytes == 4) return reduce_as<int32_t>(op, to, from, bytes);
    if (i.kind == 'u' && i.bytes == 4) return reduce_as<uint32_t>(op, to, from, bytes);
    const Format &f = i.kind == 'h' ? F16 : BF16;
    for (int64_t k = 0; k < bytes; k += 2) {
        uint16_t a, b;
        memcpy(&a, to + k, 2), memcpy(&b, from + k, 2);
        double x = decode(f, a), y = decode(f, b);
        a = (uint16_t)encode(f, op == 0 ? x + y : op == 1 ? std::min(x, y) : std::max(x, y));
        memcpy(to + k, &a, 2);
    }
}

/* Operands: vec: coordinates (tensor); `address`: the map or, of a bulk copy, the memory; s[0]:
 * slot of the address in shared memory; s[1]: bytes; s[2]: mbarrier; s[3]: mask of blocks or -1;
 * mode: direction; mode2: tensor. */
Run load_bulk(Warp &w, const Ins &i, uint32_t m)
{
    each(m, [&](int l) {
        const uint32_t to = w.u32(i.s[0])[l], bar = w.u32(i.s[2])[l];
        const uint32_t blocks = i.s[3] < 0 ? 1 : w.u32(i.s[3])[l] & 0xffff;
        Block *self = w.block;
        std::vector<Part> parts;
        int64_t bytes = 0;
        if (i.mode2) {
            const TensorMap &t = tensor_map(w, i, l);
            int32_t at[5];
            if (i.vec.size() != t.rank)
                fault("%zu coordinates of a tensor map of %d dimensions", i.vec.size(), t.rank);
            for (int d = 0; d < t.rank; d++)
                at[d] = (int32_t)w.u32(i.vec[(size_t)d])[l];
            if (to % 128) fault("TMA to shared memory that is not aligned to 128 bytes");
            parts = box_parts(t, at, to & 0xffffff, false);
            bytes = (int64_t)t.stride[0];
            for (int d = 0; d < t.rank; d++)
                bytes *= t.box[d];
        } else {
            bytes = w.u32(i.s[1])[l];
            uint64_t from = address_of(w, i, l);
            if (bytes % 16 || from % 16 || to % 16)
                fault("a bulk copy of %lld bytes from %#llx to %#x: all to be multiples of 16",
                      (long long)bytes, (unsigned long long)from, to);
            uint8_t *memory = bytes ? resolve(w, l, i.mode == TO_CLUSTER ? SHARED : GENERIC, from,
                                              bytes, 16, false)
                                    : nullptr;
            if (i.mode == TO_CLUSTER) async_reads(w, i, self, memory, bytes);
            parts.push_back({memory, to & 0xffffff, bytes});
        }
        for (uint32_t r = 0; r < 16; r++) {
            if (!(blocks >> r & 1)) continue;
            uint64_t where = to, signal = bar;
            if (i.s[3] >= 0) {
                where = (to & 0xffffff) | (r + 1) << 24;
                signal = (bar & 0xffffff) | (r + 1) << 24;
            }
            uint8_t *first = bytes ? resolve(w, l, SHARED, where, bytes, 16, false) : nullptr;
            uint8_t *arrives = resolve(w, l, SHARED, signal, 8, 8, false);
            uint8_t *shared = first - (to & 0xffffff);
            Block *target = where >> 24 ? self->cluster->blocks[(where >> 24) - 1] : self;
            w.block->grid->pending.push_back([=] {
                for (const Part &p : parts) {
                    if (p.memory)
                        memcpy(shared + p.shared, p.memory, (size_t)p.bytes);
                    else
                        memset(shared + p.shared, 0, (size_t)p.bytes);
                    for (int64_t k = p.shared / 16; k <= (p.shared + p.bytes - 1) / 16; k++)
                        target->unfenced[(size_t)k] = 0;
                }
                complete_bytes(arrives, bytes);
            });
        }
    });
    return NEXT;
}

Run store_bulk(Warp &w, const Ins &i, uint32_t m)
{
    each(m, [&](int l) {
        const uint32_t from = w.u32(i.s[0])[l];
        std::vector<Part> parts;
        int64_t bytes;
        if (i.mode2) {
            const TensorMap &t = tensor_map(w, i, l);
            int32_t at[5];
            for (int d = 0; d < t.rank; d++)
                at[d] = (int32_t)w.u32(i.vec[(size_t)d])[l];
            if (from % 128) fault("TMA from shared memory that is not aligned to 128 bytes");
            parts = box_parts(t, at, from & 0xffffff, true);
            bytes = (int64_t)t.stride[0];
            for (int d = 0; d < t.rank; d++)
                bytes *= t.box[d];
        } else {
            bytes = w.u32(i.s[1])[l];
            uint64_t to = address_of(w, i, l);
            if (bytes % 16 || from % 16 || to % 16)
                fault("a bulk copy of %lld bytes from %#x to %#llx: all to be multiples of 16",
                      (long long)bytes, from, (unsigned long long)to);
            if (!bytes) return;
            parts.push_back({device_memory(to, bytes, true), from & 0xffffff, bytes});
        }
        uint8_t *first = resolve(w, l, SHARED, from, bytes, 16, false),
                *shared = first - (from & 0xffffff);
        async_reads(w, i, w.block, first, bytes);
        const Ins *ins = &i;
        auto run = [=] {
            for (const Part &p : parts)
                if (p.memory) put_bytes(*ins, p.memory, shared + p.shared, p.bytes);
        };
        if (w.block->grid->chance(2))
            run();
        else
            w.stores.push_back({l, w.store_group[l], run});
    });
    return NEXT;
}

Run bulk_commit(Warp &w, const Ins &, uint32_t m)
{
    each(m, [&](int l) { w.store_group[l]++; });
    return NEXT;
}

Run bulk_wait(Warp &w, const Ins &i, uint32_t m)
{
    finish_stores(w, m, (int)i.offset);
    return NEXT;
}

Run fence(Warp &w, const Ins &i, uint32_t)
{
    if (i.mode) fence_async(w);
    return NEXT;
}

Run nothing(Warp &, const Ins &, uint32_t)
{
    return NEXT;
}

bool build_bulk(Builder &b)
{
    Ins &i = b.ins;
    const bool reduces = b.part[1] == "reduce";
    if (b.has("prefetch")) {
        i.run = nothing;
        return true;
    }
    if (b.has("commit_group")) {
        i.run = bulk_commit;
        return true;
    }
    if (b.has("wait_group")) {
        i.offset = b.args[0].value;
        i.run = bulk_wait;
        return true;
    }
    if (b.has("im2col")) return false;
    i.mode2 = b.has("tensor");
    i.count = 0;
    if (reduces) {
        i.count = b.has("add") ? 1 : b.has("min") ? 2 : b.has("max") ? 3 : 9;
        if (i.count == 9) return false;
        const string &type = b.part.back();
        if (!i.mode2)
            i.kind = type.find("f16") == 0    ? 'h'
                     : type.find("bf16") == 0 ? 'g'
                                              : type[0],
            i.bytes = (uint8_t)type_bytes(type);
        if (i.mode2) return false;
    }
    auto coordinates = [&](int arg) {
        for (Arg &a : b.args[(size_t)arg].vec)
            i.vec.push_back(b.slot_of(a, false));
    };
    auto shared_slot = [&](int arg) {
        Arg &a = b.args[(size_t)arg];
        if (a.kind != Arg::MEM || a.value || a.slot < 0)
            fault("address not handled: %s", i.text.c_str());
        if (!a.wide) return a.slot;
        fault("a 64-bit address in shared memory is not handled: %s", i.text.c_str());
    };
    /* .DESTINATION.SOURCE */
    size_t d = 0;
    while (d < b.part.size() && b.part[d] != "global" && b.part[d].find("shared") != 0)
        d++;
    if (d + 1 >= b.part.size()) return false;
    if (b.part[d] == "global") {
        i.mode = TO_GLOBAL;
        b.address(0);
        if (i.mode2) coordinates(0);
        i.s[0] = shared_slot(1);
        if (!i.mode2) i.s[1] = b.slot(2, false);
        i.run = store_bulk;
        return true;
    }
    i.mode = b.part[d + 1] == "global" ? FROM_GLOBAL : TO_CLUSTER;
    i.s[0] = shared_slot(0);
    b.address(1);
    if (i.mode2)
        coordinates(1);
    else
        i.s[1] = b.slot(2, false);
    int bar = i.mode2 ? 2 : 3;
    i.s[2] = shared_slot(bar);
    if (b.has("multicast::cluster")) i.s[3] = b.slot(bar + 1, false);
    i.run = load_bulk;
    return true;
}

} // namespace

void finish_copies(Warp &w, uint32_t mask, int but_last)
{
    size_t kept = 0;
    for (Copy &c : w.copies)
        if ((mask >> c.lane & 1) && c.group < w.copy_group[c.lane] - but_last)
            copy_now(w, c);
        else
            w.copies[kept++] = c;
    w.copies.resize(kept);
}

/* but_last of -1: those of the group that is open too. */
void finish_stores(Warp &w, uint32_t mask, int but_last)
{
    std::vector<Store> kept;
    for (Store &s : w.stores)
        if ((mask >> s.lane & 1) && s.group < w.store_group[s.lane] - but_last)
            s.run();
        else
            kept.push_back(std::move(s));
    w.stores = std::move(kept);
}

bool build_async(Builder &b)
{
    Ins &i = b.ins;
    if (b.part[0] == "fence") {
        i.mode = b.has("proxy") && b.has("async");
        for (const string &p : b.part)
            if (p.find("async") == 0) i.mode = 1;
        i.run = fence;
        return true;
    }
    if (b.part[0] != "cp") return build_barrier(b);
    if (b.has("bulk")) return build_bulk(b);
    if (b.has("commit_group"))
        i.run = copy_commit;
    else if (b.has("wait_group") || b.has("wait_all")) {
        i.mode = b.has("wait_all");
        i.offset = b.args.empty() ? 0 : b.args[0].value;
        i.run = copy_wait;
    } else if (b.has("mbarrier")) {
        i.space = b.space();
        b.address(0);
        i.mode = b.has("noinc");
        i.run = copy_arrive;
    } else {
        b.address(0);
        Arg &source = b.args[1];
        if (source.slot < 0) fault("address not handled: %s", i.text.c_str());
        i.vec2 = {source.slot};
        i.mode = source.wide;
        i.mode2 = (int)source.value;
        i.bytes = (uint8_t)b.args[2].value;
        if (b.args.size() > 3 && b.has("ignore-src")) return false;
        if (b.args.size() > 3 && !(b.has("L2::cache_hint") && b.args.size() == 4))
            i.s[0] = b.slot(3, false);
        i.run = copy_async;
    }
    return true;
}

} // namespace emu
