/* warp.cc - control flow, and what the lanes of a warp and the warps of a block do together. */
#include <ctime>

#include "emulator.h"

namespace emu
{

bool whole(Warp &w, uint32_t mask, uint32_t members)
{
    return (mask & members & w.live) == (members & w.live);
}

namespace
{

template <class F> void each(uint32_t mask, F f)
{
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1) f(l);
}

/* The one value that the lanes agree on. */
uint32_t uniform(Warp &w, const Ins &i, int slot, uint32_t mask)
{
    uint32_t v = w.u32(slot)[__builtin_ctz(mask)];
    each(mask, [&](int l) {
        if (w.u32(slot)[l] != v) fault("lanes do not agree on an operand: %s", i.text.c_str());
    });
    return v;
}

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

Run nothing(Warp &, const Ins &, uint32_t)
{
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

/* setp with a second destination (s[1]) or combined with a predicate (s[4]) by mode: `inner` leaves
 * the comparison in s[0] of a copy. */
Run compare(Warp &w, const Ins &i, uint32_t m)
{
    Ins plain = i;
    plain.s[0] = i.mode2;
    plain.s[1] = i.s[2];
    plain.s[2] = i.s[3];
    i.inner(w, plain, m);
    each(m, [&](int l) {
        bool is = w.u32(i.mode2)[l],
             with = i.s[4] >= 0 ? w.u32(i.s[4])[l] != (uint32_t)i.kind : true;
        auto join = [&](bool v) {
            return i.mode == 0 ? v && with : i.mode == 1 ? v || with : v != with;
        };
        w.u32(i.s[0])[l] = join(is);
        if (i.s[1] >= 0) w.u32(i.s[1])[l] = join(!is);
    });
    return NEXT;
}

bool build_compare(Builder &b)
{
    Ins &i = b.ins;
    if (b.part[0] != "setp" || (b.args.size() == 3 && b.args[0].second < 0)) return false;
    string name = "setp";
    i.mode = b.has("or") ? 1 : b.has("xor") ? 2 : 0;
    for (size_t k = 1; k < b.part.size(); k++)
        if (b.part[k] != "and" && b.part[k] != "or" && b.part[k] != "xor" && b.part[k] != "ftz")
            name += "." + b.part[k];
    const Op *op = find_op(name);
    if (!op) return false;
    i.inner = op->run;
    i.s[0] = b.slot(0, false);
    i.s[1] = b.args[0].second;
    i.s[2] = b.slot(1, op->wide[1]);
    i.s[3] = b.slot(2, op->wide[2]);
    i.kind = 0;
    if (b.args.size() > 3) {
        i.s[4] = b.slot(3, false);
        i.kind = b.args[3].negated; /* true where the predicate differs from it */
    }
    i.mode2 = b.scratch(false);
    i.run = compare;
    return true;
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

/* s: to, value, members; mode: any or all; target: predicate of all. */
Run match(Warp &w, const Ins &i, uint32_t m)
{
    uint32_t members = w.u32(i.s[2])[__builtin_ctz(m)];
    if (!whole(w, m, members)) return BLOCKED;
    auto value = [&](int l) { return i.bytes == 8 ? w.u64(i.s[1])[l] : w.u32(i.s[1])[l]; };
    uint32_t same[LANES] = {};
    each(m,
         [&](int l) { each(m, [&](int o) { same[l] |= (uint32_t)(value(l) == value(o)) << o; }); });
    each(m, [&](int l) {
        bool all = same[l] == (m & members);
        w.u32(i.s[0])[l] = i.mode ? (all ? members : 0) : same[l];
        if (i.target >= 0) w.u32(i.target)[l] = all;
    });
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

Run active(Warp &w, const Ins &i, uint32_t m)
{
    each(m, [&](int l) { w.u32(i.s[0])[l] = m; });
    return NEXT;
}

/* __syncwarp: the lanes may wait at different places. */
Run warp_sync(Warp &w, const Ins &i, uint32_t m)
{
    uint32_t members = w.u32(i.s[0])[__builtin_ctz(m)];
    uint32_t here = 0;
    for (const Group &g : w.groups)
        if (w.block->grid->kernel->code[(size_t)g.pc].run == warp_sync) here |= g.mask;
    if (!whole(w, here, members)) return BLOCKED;
    for (Group &g : w.groups)
        if (&g != &w.group() && w.block->grid->kernel->code[(size_t)g.pc].run == warp_sync &&
            (g.mask & members))
            g.pc++;
    return NEXT;
}

/* ----------------------------------------------------------------- barriers -- */

/* The warps that a barrier waits for: s[1] says how many threads, or all of the block that live. */
int expected(Warp &w, const Ins &i, uint32_t m)
{
    if (i.s[1] < 0) return w.block->live_warps;
    uint32_t threads = uniform(w, i, i.s[1], m);
    if (threads == 0 || threads % LANES) fault("a barrier of %u threads", threads);
    if (threads > (uint32_t)(w.block->threads + LANES - 1) / LANES * LANES)
        fault("a barrier of %u threads in a block of %d", threads, w.block->threads);
    return (int)threads / LANES;
}

Barrier &barrier(Warp &w, const Ins &i, uint32_t m, int *number)
{
    uint32_t id = uniform(w, i, i.s[0], m);
    if (id >= 16) fault("barrier %u: there are 16", id);
    *number = (int)id;
    return w.block->barriers[id];
}

void arrive(Barrier &b, int warps)
{
    if (++b.arrived < warps) return;
    b.arrived = 0;
    b.phase++;
    b.result = b.value;
    b.value = 0;
}

/* mode: 0 sync, 1 arrive; 2 popc, 3 and, 4 or over predicates s[2] into s[3]. */
Run block_sync(Warp &w, const Ins &i, uint32_t m)
{
    if (!whole(w, m, w.live)) return BLOCKED;
    int number;
    Barrier &b = barrier(w, i, m, &number);
    if (w.barrier < 0) {
        w.barrier = number;
        w.barrier_phase = b.phase;
        if (i.mode >= 2) {
            int yes = 0, no = 0;
            each(m, [&](int l) { (w.u32(i.s[2])[l] != (uint32_t)i.kind ? yes : no)++; });
            b.value += i.mode == 3 ? no : yes;
        }
        b.all = i.s[1] < 0;
        arrive(b, expected(w, i, m));
    }
    if (i.mode == 1 || b.phase != w.barrier_phase) {
        w.barrier = -1;
        if (i.mode >= 2)
            each(m, [&](int l) {
                w.u32(i.s[3])[l] = i.mode == 2   ? (uint32_t)b.result
                                   : i.mode == 3 ? b.result == 0
                                                 : b.result != 0;
            });
        return NEXT;
    }
    return BLOCKED;
}

void cluster_arrived(Cluster &c)
{
    if (c.arrived < c.live) return;
    c.arrived = 0;
    c.phase++;
}

Run cluster_arrive(Warp &w, const Ins &, uint32_t m)
{
    Cluster &c = *w.block->cluster;
    if (w.arrived & m) fault("barrier.cluster.arrive twice without a wait");
    w.arrived |= m;
    w.cluster_phase = c.phase;
    c.arrived += __builtin_popcount(m);
    cluster_arrived(c);
    return NEXT;
}

Run cluster_wait(Warp &w, const Ins &, uint32_t m)
{
    if ((w.arrived & m) != m) fault("barrier.cluster.wait without an arrive");
    if (w.block->cluster->phase == w.cluster_phase) return BLOCKED;
    w.arrived &= ~m;
    return NEXT;
}

bool build_barrier(Builder &b)
{
    Ins &i = b.ins;
    if (b.part[0] != "bar" && b.part[0] != "barrier") return false;
    if (b.has("warp")) {
        i.s[0] = b.slot(0, false);
        i.run = warp_sync;
        return true;
    }
    if (b.has("cluster")) {
        i.run = b.has("arrive") ? cluster_arrive : cluster_wait;
        return true;
    }
    bool red = b.has("red");
    i.mode = b.has("arrive") ? 1 : b.has("popc") ? 2 : b.has("and") ? 3 : b.has("or") ? 4 : 0;
    size_t first = red;
    i.s[0] = b.slot((int)first, false);
    if (b.args.size() > first + 1 + red) i.s[1] = b.slot((int)first + 1, false);
    i.kind = 0;
    if (red) {
        i.s[3] = b.slot(0, false);
        i.s[2] = b.slot((int)b.args.size() - 1, false);
        i.kind = b.args.back().negated;
    }
    i.run = block_sync;
    return true;
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
    } else if (name == "nanosleep" || name == "setmaxnreg" || name == "griddepcontrol" ||
               name == "pmevent") {
        i.run = nothing;
    } else if (name == "activemask") {
        i.s[0] = b.slot(0, false);
        i.run = active;
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
    } else if (name == "match") {
        i.mode = pick({"any", "all"});
        i.bytes = (uint8_t)type_bytes(b.part.back());
        i.s[0] = b.slot(0, false), i.s[1] = b.slot(1, i.bytes == 8), i.s[2] = b.slot(2, false);
        i.target = b.args[0].second;
        i.run = match;
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
        return build_barrier(b) || build_compare(b);
    return true;
}

} // namespace emu
