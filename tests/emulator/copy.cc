/*
 * copy.cc - cp.async, which lands at once or when it is waited for, as is drawn, and fences (PTX
 * ISA, "Asynchronous copy" and "membar / fence").
 */
#include "emulator.h"

namespace emu
{

namespace
{

void copy_now(const Copy &c)
{
    memcpy(c.to, c.from, (size_t)c.source_bytes);
    memset(c.to + c.source_bytes, 0, (size_t)(c.bytes - c.source_bytes));
}

/* bytes: 4, 8, 16; s[0]: bytes of the source, or -1; vec2[0]: slot of the source; mode: 8 bytes. */
Run copy_async(Warp &w, const Ins &i, uint32_t m)
{
    each(m, [&](int l) {
        uint8_t *to = resolve(w, l, SHARED, address_of(w, i, l), i.bytes, i.bytes, true);
        uint64_t address =
            (i.mode ? w.u64(i.vec2[0])[l] : w.u32(i.vec2[0])[l]) + (uint64_t)(int64_t)i.mode2;
        int64_t n = i.s[0] < 0 ? i.bytes : (int64_t)w.u32(i.s[0])[l];
        if (n > i.bytes) fault("cp.async of %lld bytes into %d", (long long)n, i.bytes);
        if (address % i.bytes)
            fault("lane %d: misaligned: cp.async from %#llx", l, (unsigned long long)address);
        const uint8_t *from = n ? device_memory(address, n, false) : to;
        Copy c = {to, from, i.bytes, (int)n, l, w.copy_group[l]};
        if (w.block->grid->chance(2))
            copy_now(c);
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

Run fence(Warp &w, const Ins &i, uint32_t)
{
    if (i.mode) fence_async(w);
    return NEXT;
}

} // namespace

void finish_copies(Warp &w, uint32_t mask, int but_last)
{
    size_t kept = 0;
    for (Copy &c : w.copies)
        if ((mask >> c.lane & 1) && c.group < w.copy_group[c.lane] - but_last)
            copy_now(c);
        else
            w.copies[kept++] = c;
    w.copies.resize(kept);
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
    if (b.part[0] != "cp") return build_mbarrier(b);
    if (b.has("bulk")) return build_bulk(b);
    if (b.has("commit_group"))
        i.run = copy_commit;
    else if (b.has("mbarrier"))
        return false;
    else if (b.has("wait_group") || b.has("wait_all")) {
        i.mode = b.has("wait_all");
        i.offset = b.args.empty() ? 0 : b.args[0].value;
        i.run = copy_wait;
    } else {
        b.address(0);
        Arg &source = b.args[1];
        if (source.slot < 0) fault("address not handled: %s", i.text.c_str());
        i.vec2 = {source.slot};
        i.mode = source.wide;
        i.mode2 = (int)source.value;
        i.bytes = (uint8_t)b.args[2].value;
        if (b.has("ignore-src")) return false;
        if (b.args.size() > 3 && !(b.has("L2::cache_hint") && b.args.size() == 4))
            i.s[0] = b.slot(3, false);
        i.run = copy_async;
    }
    return true;
}

} // namespace emu
