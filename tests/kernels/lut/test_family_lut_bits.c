/*
 * test_family_lut_bits.c - products with codewords as bits (kernels/lut/bits.h), followed on the
 * host: what the bits of a number and its entry stand for, planes, and where lanes find both.
 */
#include "tests/kernels/bench.h"
#include "kernels/lut/bits.h"

static uint16_t number[BIT_CODES], entry[BIT_CODES], next[512];

static const struct codebook *codebook(void)
{
    const struct codebook *codebook = codebook_get(CODEBOOK_E8, 4);
    assert_non_null(codebook);
    assert_int_equal(bit_numbers(codebook->left, number, entry, next), 0);
    return codebook;
}

/* Entries of both halves of a word of numbers. */
static uint32_t entries_of(uint32_t numbers)
{
    return entry[numbers & 0xffff] | (uint32_t)entry[numbers >> 16] << 16;
}

/* Common bits of planes and bits, each plane with its weight, the uppermost negative. */
static int64_t add_planes(const uint32_t *planes, int count, uint32_t bits)
{
    int64_t sum = 0;
    for (int plane = 0; plane < count; plane++) {
        int64_t weight = (int64_t)1 << plane;
        sum += (plane == count - 1 ? -weight : weight) * __builtin_popcount(planes[plane] & bits);
    }
    return sum;
}

TEST(every_codeword_comes_back_from_its_bits)
{
    enum { PLANES = 24 };
    const int8_t *points = codebook()->left;
    static bool seen[BIT_CODES];
    memset(seen, 0, sizeof seen);
    for (int index = 0; index < BIT_CODES; index++) {
        int32_t x[8], sum = 0;
        int64_t expected = 0;
        uint32_t turned[8], planes[PLANES];
        for (int i = 0; i < 8; i++) {
            x[i] = (int32_t)(lut_mix(3, (uint64_t)(8 * index + i)) % (2 << 20)) - (1 << 20) + 1;
            sum += x[i];
            expected += (int64_t)x[i] * (points[8 * index + i] + 6);
        }
        bit_turn(x, turned);
        for (int plane = 0; plane < PLANES; plane++)
            planes[plane] = bit_plane(turned, sum, plane);
        assert_false(seen[number[index]]);
        seen[number[index]] = true;
        uint32_t entries = entries_of(number[index]);
        uint32_t bits = number[index] ^ (entries & BIT_FIRST & 0xffff);
        assert_int_equal(add_planes(planes, PLANES, (bits & 0xffff) | entries << 16), expected);
    }
}

TEST(a_class_of_too_many_codewords_is_an_error)
{
    static int8_t zeros[8 * BIT_CODES];
    assert_int_equal(bit_numbers(zeros, number, entry, next), -1);
}

/* Words of B, and planes of a row of A, as a kernel has them. */
struct operands {
    struct lut_geometry geometry;
    int64_t chunks;
    int planes;
    uint32_t *words;
    uint32_t (*row)[2]; /* numbers', entries' */
    int64_t sum;        /* of the row's entries */
};

static void pack_words(struct operands *operands, const struct lut_codes *b)
{
    const struct lut_geometry *geometry = &operands->geometry;
    int64_t tiles = (geometry->columns + BIT_TILE - 1) / BIT_TILE;
    int64_t words = tiles * operands->chunks * BIT_TILE_WORDS;
    operands->words = calloc((size_t)words, sizeof *operands->words);
    for (int64_t at = 0; at < words; at++) {
        struct bit_place place = bit_place(at, operands->chunks, geometry->levels);
        for (int half = 0; half < 2; half++) {
            int64_t block = place.block + half, index = 0;
            if (block < geometry->blocks && place.column < geometry->columns)
                index = lut_read(b, place.column, block * geometry->levels + place.level);
            operands->words[at] |= (uint32_t)number[index] << 16 * half;
        }
    }
}

static void write_planes(struct operands *operands, const struct codebook *codebook,
                         const struct lut_codes *a, int64_t row)
{
    const struct lut_geometry *geometry = &operands->geometry;
    int64_t bytes = operands->planes / 8 * bit_planes_bytes(operands->chunks, geometry->levels);
    operands->row = calloc(1, (size_t)bytes);
    for (int pair = 0; pair < operands->chunks * BIT_CHUNK / geometry->levels; pair++)
        for (int half = 0; half < 2; half++) {
            int32_t x[8] = {0}, sum = 0;
            uint32_t turned[8];
            int64_t block = 2 * pair + half;
            if (block < geometry->blocks)
                lut_decode_block(codebook, geometry, a, false, row, block, x);
            for (int i = 0; i < 8; i++)
                sum += x[i];
            operands->sum += sum;
            bit_turn(x, turned);
            for (int plane = 0; plane < operands->planes; plane++) {
                uint32_t bits = bit_plane(turned, sum, plane);
                uint32_t *at =
                    operands->row[bit_plane_at(pair, plane, operands->planes, geometry->levels)];
                assert_int_equal((at[0] | at[1]) >> 16 * half & 0xffff, 0); /* not yet written */
                at[0] |= (bits & 0xffff) << 16 * half;
                at[1] |= bits >> 16 << 16 * half;
            }
        }
}

/* What the lanes of a column's row add up. */
static int64_t lanes_sum(const struct operands *operands, int64_t column)
{
    const int levels = operands->geometry.levels, pairs = BIT_LANE_WORDS / levels;
    int64_t sum = 0;
    for (int64_t chunk = 0; chunk < operands->chunks; chunk++)
        for (int t = 0; t < 4; t++)
            for (int w = 0; w < BIT_LANE_WORDS; w++) {
                int64_t tile = column / BIT_TILE, below = column % BIT_TILE / 8;
                int64_t lane = column % 8 * 4 + t, place = chunk * pairs + w / levels;
                uint32_t numbers =
                    operands->words[((tile * operands->chunks + chunk) * 2 + below) * 128 +
                                    lane * 4 + w];
                uint32_t entries = entries_of(numbers), planes[2][32];
                for (int plane = 0; plane < operands->planes; plane++) {
                    int64_t at = (place * (operands->planes / 8) + plane / 8) * 32 +
                                 bit_slot(plane % 8 * 4 + t, (int)place);
                    planes[0][plane] = operands->row[at][0];
                    planes[1][plane] = operands->row[at][1];
                }
                int64_t products =
                    add_planes(planes[0], operands->planes, numbers ^ (entries & BIT_FIRST)) +
                    add_planes(planes[1], operands->planes, entries);
                sum += products * ((int64_t)1 << 2 * (w % levels));
            }
    return sum - 6 * (levels == 1 ? 1 : 5) * operands->sum;
}

TEST(lanes_add_up_to_the_exact_sum)
{
    const struct codebook *e8 = codebook();
    for (int code = 4; code < 6; code++) /* q4m1, q4m2 */
        for (int64_t k = 8; k <= 1200; k += 298) {
            struct bench bench;
            bench_init(&bench, SHAPE("lut_matmul", 2, k, 19, CODEBOOK_E8, code, LUT_PACKED, 0));
            struct operands operands = {.geometry = lut_geometry(&bench.shape)};
            const struct lut_geometry *geometry = &operands.geometry;
            const void *a = bench.buffers.data[LUT_A], *b = bench.buffers.data[LUT_B];
            struct lut_codes rows = lut_codes(geometry, a, geometry->rows);
            struct lut_codes columns = lut_codes(geometry, b, geometry->columns);
            operands.chunks = bit_chunks(geometry);
            operands.planes = 8 * geometry->levels;
            pack_words(&operands, &columns);
            write_planes(&operands, e8, &rows, 1);
            for (int64_t column = 0; column < geometry->columns; column++)
                assert_int_equal(lanes_sum(&operands, column) >> 2,
                                 lut_exact(e8, geometry, a, b, 1, column));
            free(operands.row);
            free(operands.words);
            bench_release(&bench);
        }
}

int main(void)
{
    return test_main(NULL, NULL);
}
