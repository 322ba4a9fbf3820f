/*
 * barrier.cc - bar, barrier.cluster and bar.warp.sync (PTX ISA, "Parallel Synchronization and
 * Communication Instructions"). Those in shared memory are in mbarrier.cc.
 */
#include "emulator.h"

namespace emu
{

namespace
{

/* The one value that the lanes agree on. */
uint32_t uniform(Warp &w, const Ins &i, int slot, uint32_t mask)
{
    uint32_t v = w.u32(slot)[__builtin_ctz(mask)];
    each(mask, [&](int l) {
        if (w.u32(slot)[l] != v) fault("lanes do not agree on an operand: %s", i.text.c_str());
    });
    return v;
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
}

/* mode: 1 arrives and goes on. */
Run block_sync(Warp &w, const Ins &i, uint32_t m)
{
    if (!whole(w, m, w.live)) return BLOCKED;
    int number;
    Barrier &b = barrier(w, i, m, &number);
    if (w.barrier < 0) {
        w.barrier = number;
        w.barrier_phase = b.phase;
        b.all = i.s[1] < 0;
        arrive(b, expected(w, i, m));
    }
    if (i.mode == 1 || b.phase != w.barrier_phase) {
        w.barrier = -1;
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
    for (int l = 0; l < LANES; l++)
        if (m >> l & 1) w.cluster_phase[l] = c.phase; /* lanes may be a phase apart */
    c.arrived += __builtin_popcount(m);
    cluster_arrived(c);
    return NEXT;
}

/* Of lanes at the same place, some may be a phase ahead and stay. */
Run cluster_wait(Warp &w, const Ins &, uint32_t m)
{
    if ((w.arrived & m) != m) fault("barrier.cluster.wait without an arrive");
    uint32_t stay = 0;
    for (int l = 0; l < LANES; l++)
        stay |= (uint32_t)(w.cluster_phase[l] == w.block->cluster->phase) << l;
    stay &= m;
    if (stay == m) return BLOCKED;
    w.arrived &= ~(m & ~stay);
    if (stay) {
        w.group().mask &= ~stay;
        w.groups.push_back({w.group().pc, stay, true});
    }
    return NEXT;
}

} // namespace

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
    if (b.has("red")) return false;
    i.mode = b.has("arrive");
    i.s[0] = b.slot(0, false);
    if (b.args.size() > 1) i.s[1] = b.slot(1, false);
    i.run = block_sync;
    return true;
}

} // namespace emu
