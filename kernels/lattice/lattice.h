/*
 * lattice.h - what the lattice family shares: dims, buffers, and the host models.
 *
 *   lattice_encode     x to the digits of its nested lattice points, block by block
 *   lattice_decode     digits to points, times beta
 *   lattice_roundtrip  both, without storing the digits
 *
 * A row of `columns` entries is cut into blocks of d (Z2, A2: 2, D4: 4, E8: 8), the last one
 * filled up with zeros. With v = x / beta + dither (lattice_math.h): g = Q(v), digits b_0 =
 * G^-1 g mod q, and for each further level g = Q(g / q + dither), b_m = G^-1 g mod q. A block is
 * overloaded where Q of the last g / q is not 0.
 *
 * 1 / beta is an fp32 number r, so v = fma(x, r, dither) is defined to the bit. With `scaling` on,
 * r is the recommended ratio for sigma divided by the sigma of the data. With it off, r = 1 and
 * the data come scaled; the multiplication by 1 costs nothing in a fused multiply-add, so there is
 * no separate path.
 *
 * `overload` says what happens to an overloaded block:
 *
 *   off     its digits stay as they are
 *   block   beta is doubled for that block until it fits, T times; T is one byte per block
 *   tensor  the largest T of all blocks holds for all; T is one byte
 *
 * A block is lost if an entry is NaN or infinite, if sum v^2 >= 2^40, or if 10 doublings are not
 * enough. Its digits are 0 and, where each block has its own T, T is 255. A lost block decodes to
 * zeros.
 *
 * `type`: fp32, int32 and int8 hold one digit per element, at (block M + level) d + i. packed is
 * an integer of ceil(M d log2 q / 8) bytes per block, little endian, in which digit number
 * level d + i has weight q^number: two bits per digit for q = 4, one for q = 2, mixed radix for
 * q = 3 (the 16 digits of E8 take 3^16 < 2^32). Every digit is below 4, so each type holds every
 * code.
 */
#pragma once

#include "assay.h"
#include "lattice_math.h"

/* Dims of all three; then `type` and `data` of encode, `type` of decode, `data` of
 * roundtrip. */
enum {
    DIM_ROWS,
    DIM_COLUMNS,
    DIM_LATTICE,
    DIM_CODE,
    DIM_SCALING,
    DIM_OVERLOAD,
    DIM_TYPE,
    DIM_DATA,
    DIM_ROUNDTRIP_DATA = DIM_TYPE,
};

enum { SCALING_ON, SCALING_OFF };
enum { OVERLOAD_OFF, OVERLOAD_BLOCK, OVERLOAD_TENSOR };
enum { TYPE_PACKED, TYPE_INT8, TYPE_INT32, TYPE_FP32 };
enum { DATA_GAUSSIAN, DATA_UNIT_NORM, DATA_EXTREME };

/* Buffers of all three: decode reads T, encode writes it, roundtrip has none. */
enum { BUF_IN, BUF_OUT, BUF_T };

enum lattice_task { TASK_ENCODE, TASK_DECODE, TASK_ROUNDTRIP };

/* A shape, worked out. */
struct lattice_job {
    enum lattice_task task;
    int lattice, code, overload, type, data;
    int d, q, levels;
    int block_elements; /* of the codes: digits, or packed bytes */
    int64_t rows, columns, row_blocks, blocks;
    float r, half; /* 1 / beta, beta / 2 */
    double sigma;  /* of the data */
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct assay_operation lattice_encode; /* encode.c */

extern const char *const lattice_names[];
extern const char *const lattice_codes[];
extern const char *const lattice_scalings[];
extern const char *const lattice_overloads[];
extern const char *const lattice_types[];
extern const char *const lattice_datas[];

struct lattice_job lattice_job(const struct assay_shape *shape);

/* NULL, or why no variant has this shape. Signature of assay_operation.supports. */
const char *lattice_supports(const struct assay_shape *shape);

/* Work of a shape whose codes, T and entries are all touched once. */
struct assay_work lattice_work(const struct assay_shape *shape);

/* Second moment of the Voronoi cell per dimension. */
double lattice_moment(int lattice);

/* x as the operation has it, and the codes and T of a shape, as buffers. */
struct assay_buffer lattice_entries(const struct lattice_job *job, enum assay_role role);
struct assay_buffer lattice_code_buffer(const struct lattice_job *job, enum assay_role role);
struct assay_buffer lattice_t_buffer(const struct lattice_job *job, enum assay_role role);

/* Entries of block `block`, zeros behind the row's end; their number is returned, and
 * *offset is where they stand. */
int lattice_gather(const struct lattice_job *job, const float *x, int64_t block, float out[8],
                   int64_t *offset);

/* Digits of `block` from the buffer of codes, and one block's digits into `out`. */
uint64_t lattice_read_digits(const struct lattice_job *job, const void *codes, int64_t block);
void lattice_write_digits(const struct lattice_job *job, uint64_t digits, void *out, int64_t at);

/* Element `element` of the codes of a block. */
double lattice_code_element(const struct lattice_job *job, uint64_t digits, int element);

/* T of block `block` from its buffer (NULL: none, 0). */
int lattice_read_t(const struct lattice_job *job, const uint8_t *t, int64_t block);

/*
 * Blocks on the host, with the lattice and q made constants (models.c).
 */
uint64_t lattice_block_encode(const struct lattice_job *job, const float x[8], int *t);
uint64_t lattice_block_encode_at(const struct lattice_job *job, const float x[8], int t,
                                 bool *overload);
void lattice_block_decode(const struct lattice_job *job, uint64_t digits, int t, float y[8]);

/* The largest T of all blocks that are not lost. */
int lattice_tensor_t(const struct lattice_job *job, const float *x);

/* encode.c: what an encoder of this job writes, for assay_operation.reference, and how one element
 * of it is judged. */
int lattice_encode_reference(const struct lattice_job *job, const void *const in[], int buffer,
                             int64_t begin, int64_t end, double *expected);
enum assay_match lattice_encode_match(const struct assay_shape *shape, int buffer, double expected,
                                      double got);

/* Host models. Signature of assay_variant.model, and the same of a job. */
int lattice_model_encode_of(const struct lattice_job *job, const void *const in[], int buffer,
                            int64_t begin, int64_t end, void *out);
int lattice_model_encode(const struct assay_shape *shape, const void *const in[], int buffer,
                         int64_t begin, int64_t end, void *out);
int lattice_model_decode(const struct assay_shape *shape, const void *const in[], int buffer,
                         int64_t begin, int64_t end, void *out);
int lattice_model_roundtrip(const struct assay_shape *shape, const void *const in[], int buffer,
                            int64_t begin, int64_t end, void *out);

/*
 * The reference in double (reference.c): distances as sums of squares, all from
 * the fp32 number v on. *near: the squared distance of another point is within 1e-5.
 */
uint64_t lattice_exact_encode(const struct lattice_job *job, const float x[8], int *t, bool *near);
uint64_t lattice_exact_encode_at(const struct lattice_job *job, const float x[8], int t,
                                 bool *overload, bool *near);
void lattice_exact_decode(const struct lattice_job *job, uint64_t digits, int t, double y[8]);
void lattice_exact_closest(int lattice, const double v[8], int z[8]);

#ifdef __cplusplus
}
#endif
