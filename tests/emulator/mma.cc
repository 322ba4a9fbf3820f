/*
 * mma.cc - mma.sync and ldmatrix (PTX ISA, "Warp Level Matrix Instructions"). Products of small
 * numbers are exact; their sums are taken in double and rounded once to the type of the
 * accumulator, where the hardware is less exact in its own way.
 */
#include "emulator.h"
#include "product.h"

namespace emu
{

namespace
{

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
    static float a[16][256], b[8][256];
    for (int l = 0; l < LANES; l++) {
        for (int r = 0; r < a_regs; r++)
            for (int e = 0; e < per; e++)
                a[l / 4 + 8 * (r % 2)][(l % 4 + 4 * (r / 2)) * per + e] =
                    number_element(i.mode, w.u32(i.vec2[(size_t)r])[l], e);
        for (int r = 0; r < b_regs; r++)
            for (int e = 0; e < per; e++)
                b[l / 4][(l % 4 + 4 * r) * per + e] =
                    number_element(i.mode2, w.u32(i.vec2[(size_t)(a_regs + r)])[l], e);
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
            else
                w.u32(i.vec[(size_t)e])[l] = w.u32(c[e])[l] + (uint32_t)(int64_t)sum;
        }
    return NEXT;
}

bool build_mma(Builder &b)
{
    Ins &i = b.ins;
    if (b.part[0] != "mma") return false;
    /* mma.sync.aligned.SHAPE.row.col[.satfinite].D.A.B.C, of bits with .and.popc behind it, a
     * product and a sum of numbers 0 and 1 */
    size_t n = b.part.size();
    const bool bits = b.part[n - 1] == "popc";
    if (bits && b.part[n - 2] != "and") return false;
    if (bits) n -= 2;
    const string &shape = b.part[3];
    int m, columns, k;
    if (sscanf(shape.c_str(), "m%dn%dk%d", &m, &columns, &k) != 3 || m != 16 || columns != 8 ||
        b.has("sp"))
        return false;
    i.mode = number_of(b.part[n - 3]);
    i.mode2 = number_of(b.part[n - 2]);
    if (i.mode < 0 || i.mode2 < 0 || bits != (i.mode == N_B1)) return false;
    i.kind = b.part[n - 4] == "f32" ? 'f' : 's';
    if ((i.kind == 's' && b.part[n - 4] != "s32") || b.part[n - 4] != b.part[n - 1]) return false;
    i.count = (uint8_t)(k * BITS[i.mode] / 32);
    if (i.count != 4 && i.count != 8) return false;
    i.vec = b.slots(0, false);
    for (int arg = 1; arg < 4; arg++)
        for (int s : b.slots(arg, false))
            i.vec2.push_back(s);
    if (i.vec2.size() != (size_t)i.count / 2 + (size_t)i.count / 4 + 4)
        fault("registers of %s", i.text.c_str());
    i.run = mma;
    return true;
}

/* -------------------------------------------------------------------- ldmatrix -- */

/* Matrix j: eight rows of 16 bytes at the addresses of lanes 8 j ...; mode: transposed. */
Run matrices(Warp &w, const Ins &i, uint32_t m)
{
    if (!whole(w, m, ~0u)) return BLOCKED;
    if (m != ~0u) fault("ldmatrix without all lanes");
    for (size_t j = 0; j < i.vec.size(); j++) {
        uint8_t *row[8];
        for (int r = 0; r < 8; r++) {
            int l = (int)j * 8 + r;
            row[r] = resolve(w, l, i.space, address_of(w, i, l), 16, 16, false);
        }
        for (int l = 0; l < LANES; l++) {
            uint16_t half[2];
            for (int h = 0; h < 2; h++) {
                int r = i.mode ? 2 * (l % 4) + h : l / 4, c = i.mode ? l / 4 : 2 * (l % 4) + h;
                memcpy(&half[h], row[r] + 2 * c, 2);
            }
            w.u32(i.vec[j])[l] = (uint32_t)half[1] << 16 | half[0];
        }
    }
    return NEXT;
}

/* The other way, from registers to the addresses of lanes 8 j .... */
Run put_matrices(Warp &w, const Ins &i, uint32_t m)
{
    if (!whole(w, m, ~0u)) return BLOCKED;
    if (m != ~0u) fault("stmatrix without all lanes");
    for (size_t j = 0; j < i.vec.size(); j++)
        for (int r = 0; r < 8; r++) {
            int l = (int)j * 8 + r;
            uint8_t *row = resolve(w, l, i.space, address_of(w, i, l), 16, 16, true);
            for (int c = 0; c < 8; c++) {
                int from = i.mode ? 4 * c + r / 2 : 4 * r + c / 2, half = (i.mode ? r : c) % 2;
                uint16_t pair = (uint16_t)(w.u32(i.vec[j])[from] >> 16 * half);
                memcpy(row + 2 * c, &pair, 2);
            }
        }
    return NEXT;
}

} // namespace

bool build_product(Builder &b)
{
    Ins &i = b.ins;
    if (b.part[0] == "stmatrix") {
        if (b.part.back() != "b16") return false;
        i.mode = b.has("trans");
        i.space = b.space();
        b.address(0);
        i.vec = b.slots(1, false);
        i.run = put_matrices;
        return true;
    }
    if (b.part[0] == "ldmatrix") {
        if (b.part.back() != "b16") return false;
        i.mode = b.has("trans");
        i.space = b.space();
        i.vec = b.slots(0, false);
        b.address(1);
        i.run = matrices;
        return true;
    }
    return build_mma(b) || build_wgmma(b);
}

} // namespace emu
