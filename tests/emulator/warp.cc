/*
 * warp.cc - control flow, and what the lanes of a warp do together: shfl, vote, match, redux, elect
 * (PTX ISA, "Control Flow Instructions" and "Parallel Synchronization and Communication
 * Instructions").
 */
#include <ctime>

#include "emulator.h"

namespace emu
{

bool whole(Warp &w, uint32_t mask, uint32_t members)
{
    return (mask & members & w.live) == (members & w.live);
}

Run nothing(Warp &, const Ins &, uint32_t)
{
    return NEXT;
}

namespace
{

/* ------------------------------------------------------------- control flow -- */

Run branch(Warp &w, const Ins &i, uint32_t m)
{
    Group &g = w.group();
    uint32_t stay = g.mask & ~m;
    if (!stay) {
        g.pc = i.target;
        return JUMP;
    }
    g.mask = stay;
    g.pc++;
    w.groups.push_back({i.target, m, false});
    return JUMP;
}

Run leave(Warp &w, const Ins &, uint32_t m)
{
    Group &g = w.group();
    w.live &= ~m;
    g.mask &= ~m;
    g.pc++;
    if (!g.mask) {
        w.groups.erase(w.groups.begin() + (long)w.current);
        w.current = 0;
    }
    return JUMP;
}

Run trap(Warp &, const Ins &, uint32_t)
{
    fault("trap");
}

/* setmaxnreg: more are taken when the block has them, of what its warps had at the launch, which for
 * a kernel that says so is all that a multiprocessor has for its threads, in eights. */
Run set_registers(Warp &w, const Ins &i, uint32_t m)
{
    if (!whole(w, m, ~0u)) return BLOCKED;
    const int each = 65536 / w.block->grid->kernel->max_threads / 8 * 8;
    int64_t left = each;
    for (const Warp &other : w.block->warps)
        if (&other != &w) left += each - (other.registers ? other.registers : each);
    if (i.offset > left) return BLOCKED;
    w.registers = (int)i.offset;
    return NEXT;
}

Run clock_now(Warp &w, const Ins &i, uint32_t m)
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    each(m, [&](int l) {
        if (i.mode)
            w.u64(i.s[0])[l] = now;
        else
            w.u32(i.s[0])[l] = (uint32_t)now;
    });
    return NEXT;
}

/* -------------------------------------------------------- lanes among them -- */

/* s: to, from, which, clamp, members; mode: how; target: slot of the predicate. */
Run shuffle(Warp &w, const Ins &i, uint32_t m)
{
    uint32_t members = w.u32(i.s[4])[__builtin_ctz(m)];
    if (!whole(w, m, members)) return BLOCKED;
    uint32_t out[LANES], ok[LANES];
    each(m, [&](int l) {
        if (!(members >> l & 1)) fault("lane %d is not a member of its own shuffle", l);
        int b = (int)w.u32(i.s[2])[l] & 31, c = (int)w.u32(i.s[3])[l];
        int clamp = c & 31, segment = c >> 8 & 31;
        int high = (l & segment) | (clamp & ~segment), low = l & segment, from;
        bool in;
        switch (i.mode) {
        case 0:
            from = l - b, in = from >= high;
            break; /* up */
        case 1:
            from = l + b, in = from <= high;
            break; /* down */
        case 2:
            from = l ^ b, in = from <= high;
            break; /* bfly */
        default:
            from = low | (b & ~segment), in = from <= high;
        }
        if (!in) from = l;
        if (!(m >> from & 1))
            finding(w, i, say("lane %d takes the value of lane %d, which is not there", l, from));
        out[l] = w.u32(i.s[1])[from];
        ok[l] = in;
    });
    each(m, [&](int l) {
        w.u32(i.s[0])[l] = out[l];
        if (i.target >= 0) w.u32(i.target)[l] = ok[l];
    });
    return NEXT;
}

/* s: to, value, members; mode: any, all, uni, ballot; kind: the source is negated. */
Run vote(Warp &w, const Ins &i, uint32_t m)
{
    uint32_t members = w.u32(i.s[2])[__builtin_ctz(m)], yes = 0;
    if (!whole(w, m, members)) return BLOCKED;
    each(m, [&](int l) { yes |= (uint32_t)((w.u32(i.s[1])[l] != 0) != (bool)i.kind) << l; });
    uint32_t all = m & members;
    uint32_t out = i.mode == 0   ? yes != 0
                   : i.mode == 1 ? yes == all
                   : i.mode == 2 ? yes == 0 || yes == all
                                 : yes;
    each(m, [&](int l) { w.u32(i.s[0])[l] = out; });
    return NEXT;
}

/* s: to, value, members */
Run reduce(Warp &w, const Ins &i, uint32_t m)
{
    uint32_t members = w.u32(i.s[2])[__builtin_ctz(m)];
    if (!whole(w, m, members)) return BLOCKED;
    uint32_t out = w.u32(i.s[1])[__builtin_ctz(m)];
    bool first = true;
    each(m, [&](int l) {
        uint32_t v = w.u32(i.s[1])[l];
        if (first) {
            first = false;
            return;
        }
        switch (i.mode) {
        case 0:
            out += v;
            break;
        case 1:
            out = i.kind == 's' ? (uint32_t)std::min((int32_t)out, (int32_t)v) : std::min(out, v);
            break;
        case 2:
            out = i.kind == 's' ? (uint32_t)std::max((int32_t)out, (int32_t)v) : std::max(out, v);
            break;
        case 3:
            out &= v;
            break;
        case 4:
            out |= v;
            break;
        default:
            out ^= v;
        }
    });
    each(m, [&](int l) { w.u32(i.s[0])[l] = out; });
    return NEXT;
}

/* The lowest member; s: lane (or -1), predicate, members. */
Run elect(Warp &w, const Ins &i, uint32_t m)
{
    uint32_t members = w.u32(i.s[2])[__builtin_ctz(m)];
    if (!whole(w, m, members)) return BLOCKED;
    int leader = __builtin_ctz(m & members);
    each(m, [&](int l) {
        w.u32(i.s[0])[l] = (uint32_t)leader;
        if (i.target >= 0) w.u32(i.target)[l] = l == leader;
    });
    return NEXT;
}

} // namespace

bool build_warp(Builder &b)
{
    Ins &i = b.ins;
    const string &name = b.part[0];
    auto pick = [&](std::initializer_list<const char *> names) {
        int k = 0;
        for (const char *n : names) {
            if (b.has(n)) return k;
            k++;
        }
        return -1;
    };
    i.target = -1;
    if (name == "bra") {
        i.run = branch;
    } else if (name == "ret" || name == "exit") {
        i.run = leave;
    } else if (name == "trap") {
        i.run = trap;
    } else if (name == "nanosleep" || name == "griddepcontrol") {
        i.run = nothing;
    } else if (name == "setmaxnreg") {
        i.offset = b.args[0].value;
        i.run = set_registers;
    } else if (name == "mov" && (b.args[1].name == "clock" || b.args[1].name == "clock64" ||
                                 b.args[1].name == "globaltimer")) {
        i.mode = type_bytes(b.part.back()) == 8;
        i.s[0] = b.slot(0, i.mode);
        i.run = clock_now;
    } else if (name == "shfl") {
        i.mode = pick({"up", "down", "bfly", "idx"});
        for (int k = 0; k < 5; k++)
            i.s[k] = b.slot(k, false);
        i.target = b.args[0].second;
        i.run = shuffle;
    } else if (name == "vote") {
        i.mode = pick({"any", "all", "uni", "ballot"});
        for (int k = 0; k < 3; k++)
            i.s[k] = b.slot(k, false);
        i.kind = b.args[1].negated;
        i.run = vote;
    } else if (name == "redux") {
        i.mode = pick({"add", "min", "max", "and", "or", "xor"});
        i.kind = b.part.back()[0];
        for (int k = 0; k < 3; k++)
            i.s[k] = b.slot(k, false);
        i.run = reduce;
    } else if (name == "elect") {
        i.s[0] = b.slot(0, false), i.s[2] = b.slot(1, false);
        i.target = b.args[0].second;
        i.run = elect;
    } else
        return build_barrier(b);
    return true;
}

} // namespace emu
