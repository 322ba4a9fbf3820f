/*
 * product.cc - ldmatrix and the tensor cores. Products of bf16, fp16, tf32 and FP8 are exact, their
 * sums are taken in double and rounded once to the accumulator's type: the hardware is less exact,
 * by its own way.
 */
#include <cmath>

#include "emulator.h"

namespace emu
{

namespace
{

enum Number { N_F16, N_BF16, N_TF32, N_E4M3, N_E5M2, N_S8, N_U8, N_S4, N_U4 };
const char *const NUMBER[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4"};
const int BITS[] = {16, 16, 32, 8, 8, 8, 8, 4, 4};

int number_of(const string &type)
{
    for (int n = 0; n < 9; n++)
        if (type == NUMBER[n]) return n;
    return -1;
}

double slow_value(int n, uint32_t bits)
{
    switch (n) {
    case N_F16:
        return decode(F16, bits);
    case N_BF16:
        return decode(BF16, bits);
    case N_E4M3:
        return decode(E4M3, bits);
    case N_E5M2:
        return decode(E5M2, bits);
    case N_S8:
        return (int8_t)bits;
    case N_U8:
        return bits;
    case N_S4:
        return (int)(bits ^ 8) - 8;
    default:
        return bits;
    }
}

float value(int n, uint32_t bits)
{
    static std::vector<float> known[9];
    if (n == N_TF32 || n == N_BF16) { /* the lowest 13 bits of tf32 are not looked at */
        bits = n == N_TF32 ? bits & ~0x1fffu : bits << 16;
        float f;
        memcpy(&f, &bits, 4);
        return f;
    }
    if (known[n].empty())
        for (uint32_t b = 0; b < 1u << BITS[n]; b++)
            known[n].push_back((float)slow_value(n, b));
    return known[n][bits];
}

/* Element e of a row of 32-bit words, `word` of which holds it. */
float element(int n, uint32_t word, int e)
{
    int per = 32 / BITS[n];
    return value(n, BITS[n] == 32 ? word : word >> (e % per * BITS[n]) & ((1u << BITS[n]) - 1));
}

/* -------------------------------------------------------------------- mma.sync -- */

/*
 * m16n8kK (PTX ISA, "Matrix fragments for mma.m16n8k..."): of a, register r of a lane holds word
 * lane % 4 + 4 (r / 2) of k of row lane / 4 + 8 (r % 2); of b, register r holds word lane % 4 + 4 r
 * of column lane / 4; of c and d, two columns 2 (lane % 4) of row lane / 4 and two of the row 8
 * below. mode, mode2: numbers of a and b; vec: d; vec2: a, b, c; kind: type of c; count: words of
 * k.
 */
Run mma(Warp &w, const Ins &i, uint32_t m)
{
    if (!whole(w, m, ~0u)) return BLOCKED;
    if (m != ~0u) fault("mma.sync without all lanes");
    const int words = i.count, a_regs = words / 2, b_regs = words / 4, per = 32 / BITS[i.mode],
              depth = words * per;
    static float a[16][64], b[8][64];
    for (int l = 0; l < LANES; l++) {
        for (int r = 0; r < a_regs; r++)
            for (int e = 0; e < per; e++)
                a[l / 4 + 8 * (r % 2)][(l % 4 + 4 * (r / 2)) * per + e] =
                    element(i.mode, w.u32(i.vec2[(size_t)r])[l], e);
        for (int r = 0; r < b_regs; r++)
            for (int e = 0; e < per; e++)
                b[l / 4][(l % 4 + 4 * r) * per + e] =
                    element(i.mode2, w.u32(i.vec2[(size_t)(a_regs + r)])[l], e);
    }
    const int *c = i.vec2.data() + a_regs + b_regs;
    double sums[16][8];
    for (int row = 0; row < 16; row++)
        for (int n = 0; n < 8; n++) {
            double sum = 0;
            for (int k = 0; k < depth; k++)
                sum += (double)a[row][k] * (double)b[n][k];
            sums[row][n] = sum;
        }
    for (int l = 0; l < LANES; l++)
        for (int e = 0; e < 4; e++) {
            double sum = sums[l / 4 + 8 * (e / 2)][2 * (l % 4) + e % 2];
            if (i.kind == 'f')
                w.f32(i.vec[(size_t)e])[l] = (float)(sum + (double)w.f32(c[e])[l]);
            else if (i.kind == 's')
                w.u32(i.vec[(size_t)e])[l] = w.u32(c[e])[l] + (uint32_t)(int64_t)sum;
            else { /* f16: two in a register */
                uint32_t old = w.u32(c[e / 2])[l] >> (e % 2 * 16) & 0xffff,
                         now = encode(F16, sum + decode(F16, old));
                uint32_t &to = w.u32(i.vec[(size_t)e / 2])[l];
                to = e % 2 ? (to & 0xffff) | now << 16 : (to & 0xffff0000) | now;
            }
        }
    return NEXT;
}

bool build_mma(Builder &b)
{
    Ins &i = b.ins;
    if (b.part[0] != "mma") return false;
    /* mma.sync.aligned.SHAPE.row.col[.satfinite].D.A.B.C */
    size_t n = b.part.size();
    const string &shape = b.part[3];
    int m, columns, k;
    if (sscanf(shape.c_str(), "m%dn%dk%d", &m, &columns, &k) != 3 || m != 16 || columns != 8 ||
        b.has("sp"))
        return false;
    i.mode = number_of(b.part[n - 3]);
    i.mode2 = number_of(b.part[n - 2]);
    if (i.mode < 0 || i.mode2 < 0) return false;
    i.kind = b.part[n - 4] == "f32"   ? 'f'
             : b.part[n - 4] == "s32" ? 's'
             : b.part[n - 4] == "f16" ? 'h'
                                      : '?';
    if (i.kind == '?' || b.part[n - 4] != b.part[n - 1]) return false;
    i.count = (uint8_t)(k * BITS[i.mode] / 32);
    if (i.count != 4 && i.count != 8) return false;
    i.vec = b.slots(0, false);
    for (int arg = 1; arg < 4; arg++)
        for (int s : b.slots(arg, false))
            i.vec2.push_back(s);
    size_t c = i.kind == 'h' ? 2 : 4;
    if (i.vec2.size() != (size_t)i.count / 2 + (size_t)i.count / 4 + c)
        fault("registers of %s", i.text.c_str());
    i.run = mma;
    return true;
}

/* -------------------------------------------------------------------- ldmatrix -- */

/* Matrix j: eight rows of 16 bytes at the addresses of lanes 8 j ...; mode: transposed; mode2:
 * store. */
Run matrices(Warp &w, const Ins &i, uint32_t m)
{
    if (!whole(w, m, ~0u)) return BLOCKED;
    if (m != ~0u) fault("ldmatrix without all lanes");
    for (size_t j = 0; j < i.vec.size(); j++) {
        uint8_t *row[8];
        for (int r = 0; r < 8; r++) {
            int l = (int)j * 8 + r;
            row[r] = resolve(w, l, i.space, address_of(w, i, l), 16, 16, i.mode2);
        }
        for (int l = 0; l < LANES; l++) {
            uint16_t half[2];
            for (int h = 0; h < 2; h++) {
                int r = i.mode ? 2 * (l % 4) + h : l / 4, c = i.mode ? l / 4 : 2 * (l % 4) + h;
                if (i.mode2) {
                    half[h] = (uint16_t)(w.u32(i.vec[j])[l] >> (16 * h));
                    memcpy(row[r] + 2 * c, &half[h], 2);
                } else
                    memcpy(&half[h], row[r] + 2 * c, 2);
            }
            if (!i.mode2) w.u32(i.vec[j])[l] = (uint32_t)half[1] << 16 | half[0];
        }
    }
    return NEXT;
}

Run movmatrix(Warp &w, const Ins &i, uint32_t m)
{
    if (m != ~0u) fault("movmatrix without all lanes");
    uint32_t out[LANES];
    for (int l = 0; l < LANES; l++) {
        uint32_t half[2];
        for (int h = 0; h < 2; h++) {
            int r = 2 * (l % 4) + h, c = l / 4;
            half[h] = w.u32(i.s[1])[r * 4 + c / 2] >> (c % 2 * 16) & 0xffff;
        }
        out[l] = half[1] << 16 | half[0];
    }
    memcpy(w.u32(i.s[0]), out, sizeof out);
    return NEXT;
}

/* ----------------------------------------------------------------------- wgmma -- */

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

int64_t swizzled(const Tile &t, int64_t at)
{
    if (!t.swizzle) return at;
    return at ^ (((at >> 7) & (t.swizzle / 16 - 1)) << 4);
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
        int64_t at = swizzled(t, is_across ? across(t, r, k) : along(t, r, k * bits / 8));
        if (at < RESERVED || at + bits / 8 > (int64_t)block.shared.size())
            fault("wgmma reads shared memory at %lld of %lld", (long long)at - RESERVED,
                  (long long)block.shared.size() - RESERVED);
        async_reads(w, i, &block, block.shared.data() + at, bits / 8);
        uint32_t v = 0;
        memcpy(&v, block.shared.data() + at, (size_t)bits / 8);
        return value(number, v);
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
                        element(i.mode, w.u32(i.vec2[(size_t)r])[l], e);
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
            } else if (i.kind == 's') {
                uint32_t &d = w.u32(i.vec[(size_t)e])[l];
                d = (p.adds ? d : 0) + (uint32_t)(int64_t)sums[n];
            } else {
                uint32_t &d = w.u32(i.vec[(size_t)e / 2])[l];
                uint32_t old = d >> (e % 2 * 16) & 0xffff,
                         now = encode(F16, sums[n] + (p.adds ? decode(F16, old) : 0));
                d = e % 2 ? (d & 0xffff) | now << 16 : (d & 0xffff0000) | now;
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

Run nothing(Warp &, const Ins &, uint32_t)
{
    return NEXT;
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
        const string &d = b.part[n - 3];
        i.kind = d == "f32" ? 'f' : d == "s32" ? 's' : 'h';
        i.vec = b.slots(0, false);
        if ((int)i.vec.size() != i.target / (i.kind == 'h' ? 4 : 2))
            fault("registers of %s", i.text.c_str());
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

} // namespace

void finish_products(Warp &w, size_t but_last)
{
    while (w.products.size() - 1 > but_last) {
        for (const Wgmma &p : w.products.front())
            multiply(w, p);
        w.products.erase(w.products.begin());
    }
}

bool build_product(Builder &b)
{
    Ins &i = b.ins;
    if (b.part[0] == "ldmatrix" || b.part[0] == "stmatrix") {
        if (b.part.back() != "b16") return false;
        i.mode2 = b.part[0] == "stmatrix";
        i.mode = b.has("trans");
        i.space = b.space();
        i.vec = b.slots(i.mode2, false);
        b.address(!i.mode2);
        i.run = matrices;
        return true;
    }
    if (b.part[0] == "movmatrix") {
        i.s[0] = b.slot(0, false), i.s[1] = b.slot(1, false);
        i.run = movmatrix;
        return true;
    }
    return build_mma(b) || build_wgmma(b);
}

} // namespace emu
