/*
 * wgmma.cc - products of warpgroups (PTX ISA, "Asynchronous Warpgroup Level Matrix
 * Multiply-Accumulate Instructions"). They are made at once or when they are waited for, as is
 * drawn: a kernel may depend on neither. Sums as in mma.cc.
 */
#include "emulator.h"
#include "product.h"

namespace emu
{

namespace
{

/* A descriptor of a tile in shared memory (PTX ISA, "Matrix descriptor"). */
struct Tile {
    uint32_t start;
    int64_t leading, stride;
    int swizzle; /* bytes of a row of the swizzle: 0, 128, 64, 32 */
};

Tile tile_of(uint64_t d)
{
    static const int widths[] = {0, 128, 64, 32};
    if (d >> 49 & 7) fault("a descriptor with a base offset");
    return {(uint32_t)(d & 0x3fff) << 4, (int64_t)(d >> 16 & 0x3fff) << 4,
            (int64_t)(d >> 32 & 0x3fff) << 4, widths[d >> 62]};
}

/* Offset of byte `k` of row `r`, along k. Rows come in eights, a stride apart. */
int64_t along(const Tile &t, int r, int k)
{
    if (!t.swizzle) return t.start + r / 8 * t.stride + k / 16 * t.leading + r % 8 * 16 + k % 16;
    return t.start + r / 8 * t.stride + r % 8 * t.swizzle + k;
}

/* The same of 16-bit elements whose rows are k: element `r` of row k. */
int64_t across(const Tile &t, int r, int k)
{
    if (!t.swizzle) return t.start + r / 8 * t.stride + k / 8 * t.leading + k % 8 * 16 + r % 8 * 2;
    int row = t.swizzle / 2;
    return t.start + r / row * t.leading + k / 8 * t.stride + k % 8 * t.swizzle + r % row * 2;
}

/* mode, mode2: numbers of a and b; target: columns; count: elements of k; vec: d; vec2: registers
 * of a; s: descriptors of a (or -1) and b, predicate; kind: type of d; bytes: 1 a negated, 2 b
 * negated, 4 a across, 8 b across. */
void multiply(Warp &w, const Wgmma &p)
{
    const Ins &i = *p.ins;
    Block &block = *w.block;
    const int depth = i.count, columns = i.target, bits = BITS[i.mode];
    static float a[16][64], b[64][256];
    auto fetch = [&](const Tile &t, bool is_across, int number, int r, int k) {
        int64_t at = swizzled(t.swizzle, is_across ? across(t, r, k) : along(t, r, k * bits / 8));
        if (at < RESERVED || at + bits / 8 > (int64_t)block.shared.size())
            fault("wgmma reads shared memory at %lld of %lld", (long long)at - RESERVED,
                  (long long)block.shared.size() - RESERVED);
        async_reads(w, i, &block, block.shared.data() + at, bits / 8);
        uint32_t v = 0;
        memcpy(&v, block.shared.data() + at, (size_t)bits / 8);
        return number_value(number, v);
    };
    const int warp_row = w.index % 4 * 16, per = 32 / bits;
    if (i.s[0] >= 0) {
        Tile t = tile_of(p.a);
        for (int r = 0; r < 16; r++)
            for (int k = 0; k < depth; k++)
                a[r][k] = fetch(t, i.bytes & 4, i.mode, warp_row + r, k);
    } else
        for (int l = 0; l < LANES; l++)
            for (int r = 0; r < 4; r++)
                for (int e = 0; e < per; e++)
                    a[l / 4 + 8 * (r % 2)][(l % 4 + 4 * (r / 2)) * per + e] =
                        number_element(i.mode, w.u32(i.vec2[(size_t)r])[l], e);
    Tile t = tile_of(p.b);
    for (int n = 0; n < columns; n++)
        for (int k = 0; k < depth; k++)
            b[k][n] = fetch(t, i.bytes & 8, i.mode2, n, k);
    const double sign = ((i.bytes & 1) != 0) != ((i.bytes & 2) != 0) ? -1 : 1;
    double sums[256];
    for (int r = 0; r < 16; r++) {
        std::fill_n(sums, columns, 0.0);
        for (int k = 0; k < depth; k++) {
            const double by = sign * (double)a[r][k];
            for (int n = 0; n < columns; n++)
                sums[n] += by * (double)b[k][n];
        }
        for (int n = 0; n < columns; n++) {
            const int l = r % 8 * 4 + n % 8 / 2, e = n / 8 * 4 + r / 8 * 2 + n % 2;
            if (i.kind == 'f') {
                float &d = w.f32(i.vec[(size_t)e])[l];
                d = (float)(p.adds ? sums[n] + (double)d : sums[n]);
            } else {
                uint32_t &d = w.u32(i.vec[(size_t)e])[l];
                d = (p.adds ? d : 0) + (uint32_t)(int64_t)sums[n];
            }
        }
    }
}

/* Done at once or when it is waited for, whichever the kernel must not depend on. */
Run wgmma(Warp &w, const Ins &i, uint32_t m)
{
    if (!whole(w, m, ~0u)) return BLOCKED;
    if (m != ~0u) fault("wgmma without all lanes");
    w.products.back().push_back({&i, i.s[0] < 0 ? 0 : w.u64(i.s[0])[0], w.u64(i.s[1])[0],
                                 i.s[2] < 0 || w.u32(i.s[2])[0] != 0});
    return NEXT;
}

Run wgmma_commit(Warp &w, const Ins &, uint32_t)
{
    w.products.emplace_back();
    if (w.block->grid->chance(2)) finish_products(w, 0);
    return NEXT;
}

Run wgmma_wait(Warp &w, const Ins &i, uint32_t)
{
    finish_products(w, (size_t)i.offset);
    return NEXT;
}

} // namespace

void finish_products(Warp &w, size_t but_last)
{
    while (w.products.size() - 1 > but_last) {
        for (const Wgmma &p : w.products.front())
            multiply(w, p);
        w.products.erase(w.products.begin());
    }
}

bool build_wgmma(Builder &b)
{
    Ins &i = b.ins;
    if (b.part[0] != "wgmma") return false;
    if (b.part[1] == "fence")
        i.run = nothing;
    else if (b.part[1] == "commit_group")
        i.run = wgmma_commit;
    else if (b.part[1] == "wait_group") {
        i.offset = b.args[0].value;
        i.run = wgmma_wait;
    } else {
        size_t n = b.part.size();
        int k;
        if (b.has("sp") || sscanf(b.part[4].c_str(), "m64n%dk%d", &i.target, &k) != 2) return false;
        /* .D.A.B, or .D.A.B.satfinite of integers */
        if (b.part[n - 1] == "satfinite") return false;
        i.count = (uint8_t)k;
        i.mode = number_of(b.part[n - 2]);
        i.mode2 = number_of(b.part[n - 1]);
        if (i.mode < 0 || i.mode2 < 0) return false; /* of bits, too: the last part is popc */
        const string &d = b.part[n - 3];
        if (d != "f32" && d != "s32") return false;
        i.kind = d[0];
        i.vec = b.slots(0, false);
        if ((int)i.vec.size() != i.target / 2) fault("registers of %s", i.text.c_str());
        if (b.args[1].kind == Arg::VEC)
            i.vec2 = b.slots(1, false);
        else
            i.s[0] = b.slot(1, true);
        i.s[1] = b.slot(2, true);
        if (b.args[3].kind == Arg::REG)
            i.s[2] = b.slot(3, false);
        else if (!b.args[3].value)
            fault("scale-d of 0: %s", i.text.c_str());
        std::vector<int64_t> rest;
        for (size_t a = 4; a < b.args.size(); a++)
            rest.push_back(b.args[a].value);
        i.bytes = 0;
        if (rest.size() > 0 && rest[0] < 0) i.bytes |= 1;
        if (rest.size() > 1 && rest[1] < 0) i.bytes |= 2;
        size_t next = 2;
        if (i.vec2.empty() && rest.size() > next && rest[next++]) i.bytes |= 4;
        if (rest.size() > next && rest[next]) i.bytes |= 8;
        i.run = wgmma;
    }
    return true;
}

} // namespace emu
