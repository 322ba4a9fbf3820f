/*
 * move.cc - moves between registers, parts of registers and kinds of address: mov of vectors, cvta,
 * mapa (PTX ISA, "Data Movement and Conversion Instructions").
 */
#include "emulator.h"

namespace emu
{

namespace
{

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

} // namespace

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

} // namespace emu
