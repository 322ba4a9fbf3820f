/*
 * bulk.cc - cp.async.bulk of runs of bytes and of boxes of tensors (PTX ISA, "cp.async.bulk",
 * "cp.async.bulk.tensor", "Swizzling modes"). Loads land when run.cc draws them, in any order;
 * stores happen at once or when they are waited for, as is drawn.
 */
#include "emulator.h"
#include "tensor_map.h"

namespace emu
{

namespace
{

enum { FROM_GLOBAL, TO_GLOBAL, TO_CLUSTER };

struct Part {        /* of a tensor's box: a run of bytes */
    uint8_t *memory; /* NULL: outside */
    int64_t shared;
    int64_t bytes;
};

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
        auto run = [=] {
            for (const Part &p : parts)
                if (p.memory) memmove(p.memory, shared + p.shared, (size_t)p.bytes);
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

} // namespace

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

bool build_bulk(Builder &b)
{
    Ins &i = b.ins;
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
    if (b.has("im2col") || b.has("reduce")) return false;
    i.mode2 = b.has("tensor");
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

} // namespace emu
