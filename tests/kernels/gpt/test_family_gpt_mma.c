/*
 * test_family_gpt_mma.c - the fragment layouts of kernels/gpt/mma_layout.h, against
 * the tables of the PTX manual, by a warp that the host acts out: ldmatrix and mma.sync
 * lane by lane, on tiles laid out as the kernels lay them.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"
#include "kernels/gpt/gpt.h"
#include "kernels/gpt/mma_layout.h"

enum { LANES = 32 };

/* What each lane has in each register. */
typedef uint32_t registers[LANES][4];

/* ldmatrix.x4: address[l] is row l % 8 of matrix l / 8. */
static void load_matrices(registers out, const unsigned char *const address[LANES], bool trans)
{
    for (int lane = 0; lane < LANES; lane++)
        for (int matrix = 0; matrix < 4; matrix++) {
            uint16_t half[2];
            for (int i = 0; i < 2; i++) {
                int row = trans ? lane % 4 * 2 + i : lane / 4;
                int column = trans ? lane / 4 : lane % 4 * 2 + i;
                memcpy(&half[i], address[matrix * 8 + row] + 2 * column, 2);
            }
            out[lane][matrix] = half[0] | (uint32_t)half[1] << 16;
        }
}

static double bf16_of(uint32_t word, int i)
{
    return (double)gpt_widen((uint16_t)(word >> 16 * i));
}

static double f32_of(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

/* mma.m16n8k16, bf16: c[m][n] += a b by the manual's tables. */
static void multiply_bf16(double c[16][8], registers a, uint32_t (*b)[2])
{
    double am[16][16], bm[16][8];
    for (int lane = 0; lane < LANES; lane++) {
        int group = lane >> 2, thread = lane & 3;
        for (int i = 0; i < 8; i++) {
            int row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
            int column = thread * 2 + (i & 1) + (i >= 4 ? 8 : 0);
            am[row][column] = bf16_of(a[lane][i / 2], i & 1);
        }
        for (int i = 0; i < 4; i++)
            bm[thread * 2 + (i & 1) + (i >= 2 ? 8 : 0)][group] = bf16_of(b[lane][i / 2], i & 1);
    }
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 8; n++)
            for (int k = 0; k < 16; k++)
                c[m][n] += am[m][k] * bm[k][n];
}

/* mma.m16n8k8, tf32. */
static void multiply_tf32(double c[16][8], registers a, uint32_t (*b)[2])
{
    double am[16][8], bm[8][8];
    for (int lane = 0; lane < LANES; lane++) {
        int group = lane >> 2, thread = lane & 3;
        am[group][thread] = f32_of(a[lane][0]);
        am[group + 8][thread] = f32_of(a[lane][1]);
        am[group][thread + 4] = f32_of(a[lane][2]);
        am[group + 8][thread + 4] = f32_of(a[lane][3]);
        bm[thread][group] = f32_of(b[lane][0]);
        bm[thread + 4][group] = f32_of(b[lane][1]);
    }
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 8; n++)
            for (int k = 0; k < 8; k++)
                c[m][n] += am[m][k] * bm[k][n];
}

/* Small whole numbers that differ from place to place. */
static float number(int which, int row, int k)
{
    return (float)((row * 7 + k * 13 + which * 5) % 17 - 8);
}

enum { A, B };

/* A tile of `rows` rows of `chunks` chunks; element (row, k) is number(which, row, k),
 * or with the roles of row and k exchanged. */
static void lay_out(unsigned char *tile, int rows, int chunks, int bytes, int which, bool exchanged,
                    int (*swizzle)(int row, int chunk))
{
    int width = 16 / bytes;
    for (int row = 0; row < rows; row++)
        for (int at = 0; at < chunks * width; at++) {
            float value = exchanged ? number(which, at, row) : number(which, row, at);
            unsigned char *to = tile + (row * chunks + swizzle(row, at / width)) * 16;
            if (bytes == 2)
                ((uint16_t *)to)[at % width] = gpt_narrow(value);
            else
                ((float *)to)[at % width] = value;
        }
}

static int swizzle8(int row, int chunk)
{
    return mma_swizzle(row, chunk);
}

static int swizzle_words(int row, int chunk)
{
    return mma_swizzle_words(row, chunk);
}

static void addresses(const unsigned char *out[LANES], const unsigned char *tile, int chunks,
                      int row0, int chunk0, struct mma_place (*place)(int lane))
{
    for (int lane = 0; lane < LANES; lane++) {
        int row = row0 + place(lane).row, chunk = chunk0 + place(lane).chunk;
        out[lane] = tile + (row * chunks + mma_swizzle(row, chunk)) * 16;
    }
}

static struct mma_place place_a(int lane)
{
    return mma_place_a(lane);
}

static struct mma_place place_b(int lane)
{
    return mma_place_b(lane);
}

static struct mma_place place_b_trans(int lane)
{
    return mma_place_b_trans(lane);
}

/* The product of 16 x 16 outputs over four steps of k, as the kernels do it. */
enum b_kind { B_ROWS, B_COLUMNS };

static void check_product(int bytes, enum b_kind kind)
{
    static _Alignas(16) unsigned char a_tile[16 * 128], b_tile[64 * 512];
    int width = 16 / bytes, depth = 128 / bytes;
    int b_chunks = kind == B_ROWS ? 8 : 128 / width;
    int (*b_swizzle)(int, int) = kind == B_COLUMNS && bytes == 4 ? swizzle_words : swizzle8;
    lay_out(a_tile, 16, 8, bytes, A, false, swizzle8);
    lay_out(b_tile, kind == B_ROWS ? 16 : depth, b_chunks, bytes, B, kind == B_COLUMNS, b_swizzle);
    double c[2][16][8] = {{{0}}};
    for (int step = 0; step < 4; step++) {
        const unsigned char *at[LANES];
        registers a, b;
        addresses(at, a_tile, 8, 0, 2 * step, place_a);
        load_matrices(a, at, false);
        if (kind == B_ROWS) {
            addresses(at, b_tile, 8, 0, 2 * step, place_b);
            load_matrices(b, at, false);
        } else if (bytes == 2) {
            addresses(at, b_tile, b_chunks, 16 * step, 0, place_b_trans);
            load_matrices(b, at, true);
        } else {
            for (int lane = 0; lane < LANES; lane++)
                for (int i = 0; i < 4; i++) {
                    int row = 8 * step + lane % 4 + i % 2 * 4;
                    int column = i / 2 * 8 + lane / 4;
                    memcpy(&b[lane][i],
                           b_tile + row * 512 + mma_swizzle_words(row, column / 4) * 16 +
                               column % 4 * 4,
                           4);
                }
        }
        for (int half = 0; half < 2; half++) {
            uint32_t part[LANES][2];
            for (int lane = 0; lane < LANES; lane++)
                memcpy(part[lane], &b[lane][2 * half], sizeof part[lane]);
            if (bytes == 2)
                multiply_bf16(c[half], a, part);
            else
                multiply_tf32(c[half], a, part);
        }
    }
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 16; n++) {
            double expected = 0;
            for (int k = 0; k < depth; k++)
                expected += (double)number(A, m, k) * (double)number(B, n, k);
            assert_true(c[n / 8][m][n % 8] == expected);
        }
}

TEST(bf16_fragments_give_the_product_of_both_layouts)
{
    check_product(2, B_ROWS);
    check_product(2, B_COLUMNS);
}

TEST(tf32_fragments_give_the_product_of_both_layouts)
{
    check_product(4, B_ROWS);
    check_product(4, B_COLUMNS);
}

TEST(each_output_belongs_to_one_lane)
{
    int owners[16][8] = {{0}};
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++) {
            assert_int_equal(mma_row(lane, i), (lane >> 2) + (i >= 2 ? 8 : 0));
            assert_int_equal(mma_column(lane, i), (lane & 3) * 2 + (i & 1));
            owners[mma_row(lane, i)][mma_column(lane, i)]++;
        }
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 8; n++)
            assert_int_equal(owners[m][n], 1);
}

/* Two accumulator tiles side by side, packed pair by pair, are one A fragment of 16. */
TEST(accumulators_packed_in_pairs_are_the_next_products_left_operand)
{
    registers a;
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++) {
            /* Register i: rows by i % 2, tiles of 8 columns by i / 2. */
            int row = mma_row(lane, i % 2 * 2), column = i / 2 * 8 + mma_column(lane, 0);
            a[lane][i] = gpt_narrow(number(A, row, column)) |
                         (uint32_t)gpt_narrow(number(A, row, column + 1)) << 16;
        }
    /* Against the unit matrix. */
    for (int half = 0; half < 2; half++) {
        uint32_t b[LANES][2];
        double c[16][8] = {{0}};
        for (int lane = 0; lane < LANES; lane++)
            for (int r = 0; r < 2; r++) {
                int k = lane % 4 * 2 + 8 * r, n = lane / 4 + 8 * half;
                b[lane][r] = gpt_narrow(k == n ? 1 : 0) | (uint32_t)gpt_narrow(k + 1 == n ? 1 : 0)
                                                              << 16;
            }
        multiply_bf16(c, a, b);
        for (int m = 0; m < 16; m++)
            for (int n = 0; n < 8; n++)
                assert_true(c[m][n] == (double)number(A, m, n + 8 * half));
    }
}

/* Eight rows in one column of chunks: eight different groups of four banks. */
TEST(eight_rows_of_a_column_of_chunks_fall_into_different_banks)
{
    for (int chunks = 2; chunks <= 32; chunks *= 2)
        for (int row0 = 0; row0 < 32; row0 += 8)
            for (int chunk = 0; chunk < chunks; chunk++) {
                int seen = 0;
                for (int row = row0; row < row0 + 8; row++) {
                    int place = chunks < 8 ? mma_swizzle_narrow(row, chunk, chunks)
                                           : mma_swizzle(row, chunk);
                    assert_true(place >= 0 && place < chunks);
                    seen |= 1 << (row * chunks + place) % 8;
                }
                assert_int_equal(seen, 255);
            }
}

TEST(words_of_a_tf32_fragment_fall_into_different_banks)
{
    for (int row0 = 0; row0 < 32; row0 += 4)
        for (int column0 = 0; column0 < 128; column0 += 8) {
            uint32_t seen = 0;
            for (int lane = 0; lane < LANES; lane++) {
                int row = row0 + lane % 4, column = column0 + lane / 4;
                int word = row * 128 + mma_swizzle_words(row, column / 4) * 4 + column % 4;
                seen |= 1u << word % 32;
            }
            assert_true(seen == 0xffffffffu);
        }
}
