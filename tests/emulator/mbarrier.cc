/*
 * mbarrier.cc - barriers in shared memory that count arrivals and bytes (PTX ISA, "mbarrier").
 * Their 64 bits are laid out as suits the emulator: a kernel may look into them only by these
 * instructions.
 */
#include "emulator.h"

namespace emu
{

namespace
{

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

} // namespace

void complete_bytes(uint8_t *at, int64_t bytes)
{
    State s = read_state(at);
    s.bytes -= bytes;
    write_state(at, s);
}

namespace
{

enum { INIT, ARRIVE, ARRIVE_EXPECT };

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
        State s = read_state(at);
        if (i.s[0] >= 0) memcpy(&w.u64(i.s[0])[l], &s, 8);
        if (i.mode == ARRIVE_EXPECT) s.bytes += count;
        uint32_t arrivals = i.mode == ARRIVE ? count : 1;
        if (s.pending < arrivals)
            fault("%u arrivals at an mbarrier that waits for %u more", arrivals,
                  (unsigned)s.pending);
        s.pending -= arrivals;
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

} // namespace

bool build_mbarrier(Builder &b)
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
    if (what != "init" && what != "arrive") return false;
    i.mode = what == "init" ? INIT : b.has("expect_tx") ? ARRIVE_EXPECT : ARRIVE;
    bool result = i.mode != INIT && b.args[0].kind != Arg::MEM;
    if (result && b.args[0].name != "_") i.s[0] = b.slot(0, true);
    b.address(result);
    if ((int)b.args.size() > 1 + result) i.s[1] = b.slot(1 + result, false);
    return true;
}

} // namespace emu
