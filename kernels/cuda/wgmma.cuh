/*
 * wgmma.cuh - Hopper's tensor cores: d += a b^T by a warpgroup, 64 rows of a, 64 to 256
 * rows of b, both in shared memory along k; and d += a b, 16 bits, b's rows along n, a in
 * registers or along k. PTX ISA 8.0, wgmma.mma_async; sm_90a alone.
 *
 * A tile is rows of 128 bytes of k, 1024-byte aligned, its 16-byte chunks swizzled by
 * the row's lowest three bits as TMA writes them (CU_TENSOR_MAP_SWIZZLE_128B,
 * mma_swizzle of mma_layout.h). Eight such rows are the 1024 bytes from one core-matrix row
 * to the next. One step of k is 32 bytes: 32 e4m3, 16 bf16 or fp16, or 8 tf32.
 *
 * A warp holds rows 16 w to 16 w + 15 of d; of each 8 columns, d[4 j .. 4 j + 3] lie as
 * those of mma.sync (mma_row, mma_column).
 */
#pragma once

#include "kernels/cuda/half.cuh"
#include "kernels/cuda/hopper.cuh"

static constexpr int WGMMA_ROWS = 64;       /* of a, per product */
static constexpr int WGMMA_THREADS = 128;   /* a warpgroup */
static constexpr int WGMMA_ROW_BYTES = 128; /* of k, per row of a tile */
static constexpr int WGMMA_STEP_BYTES = 32; /* of k, per product */

/* The descriptor of a tile (PTX ISA, "Matrix descriptor"): address and stride in units of
 * 16 bytes, swizzle mode 1 at bit 62. The leading stride has no meaning in this mode. The address
 * is the same in all lanes, and the shuffle says so to the compiler, which otherwise moves four
 * registers to uniform ones before each product: that takes longer than a product of 64 columns. */
static __device__ __forceinline__ uint64_t wgmma_tile(uint32_t address)
{
    const uint64_t eight_rows = 8 * WGMMA_ROW_BYTES / 16;
    address = __shfl_sync(0xffffffffu, address, 0);
    return (uint64_t)1 << 62 | eight_rows << 32 | (uint64_t)1 << 16 | (address & 0x3ffff) >> 4;
}

/* The same tile, so many steps further along k. */
static __device__ __forceinline__ uint64_t wgmma_ahead(uint64_t tile, int steps)
{
    return tile + steps * (WGMMA_STEP_BYTES / 16);
}

/* The tile so many 16 bytes behind, less than a block's shared memory. */
static __device__ __forceinline__ uint64_t wgmma_further(uint64_t tile, uint32_t units)
{
    return tile >> 32 << 32 | ((uint32_t)tile + units);
}

/* Of 16-bit numbers whose rows are k and have 128 bytes of n: eight rows from one core matrix to
 * the next, and the next 64 numbers of n in the panel so many bytes behind. */
static __device__ __forceinline__ uint64_t wgmma_tile_across(uint32_t address, uint32_t panel)
{
    const uint64_t eight_rows = 8 * WGMMA_ROW_BYTES / 16;
    return (uint64_t)1 << 62 | eight_rows << 32 | (uint64_t)(panel >> 4) << 16 |
           (address & 0x3ffff) >> 4;
}

/* The same tile, so many steps of 16 rows further down k. */
static __device__ __forceinline__ uint64_t wgmma_down(uint64_t tile, int steps)
{
    return tile + steps * (16 * WGMMA_ROW_BYTES / 16);
}

/* The compiler must not move accesses to these registers across this point, nor assume what they
 * hold. Used where products that are still running read or write them. */
template <int COUNT> static __device__ __forceinline__ void wgmma_pin(float (&r)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        asm volatile("" : "+f"(r[i])::"memory");
}

template <int COUNT> static __device__ __forceinline__ void wgmma_pin(uint32_t (&r)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        asm volatile("" : "+r"(r[i])::"memory");
}

/* Needed before the first product of a batch: orders earlier accesses to its registers. */
static __device__ __forceinline__ void wgmma_begin(void)
{
#ifdef HOPPER_CODE
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

static __device__ __forceinline__ void wgmma_commit(void)
{
#ifdef HOPPER_CODE
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

/* Wait until at most PENDING batches are unfinished. */
template <int PENDING> static __device__ __forceinline__ void wgmma_wait(void)
{
#ifdef HOPPER_CODE
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
#endif
}

/* ------------------------------------------------------------ one step of k -- */

/* clang-format off */
#define WGMMA_REGISTERS_0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_REGISTERS_32 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_REGISTERS_64 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_REGISTERS_96 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define WGMMA_UP_TO_4   "%0, %1, %2, %3"
#define WGMMA_UP_TO_8   WGMMA_UP_TO_4 ", %4, %5, %6, %7"
#define WGMMA_UP_TO_12  WGMMA_UP_TO_8 ", %8, %9, %10, %11"
#define WGMMA_UP_TO_16  WGMMA_UP_TO_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_UP_TO_20  WGMMA_UP_TO_16 ", %16, %17, %18, %19"
#define WGMMA_UP_TO_24  WGMMA_UP_TO_16 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define WGMMA_UP_TO_32  WGMMA_REGISTERS_0
#define WGMMA_UP_TO_40  WGMMA_UP_TO_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define WGMMA_UP_TO_48  WGMMA_UP_TO_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_UP_TO_56  WGMMA_UP_TO_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define WGMMA_UP_TO_60  WGMMA_UP_TO_56 ", %56, %57, %58, %59"
#define WGMMA_UP_TO_64  WGMMA_UP_TO_32 ", " WGMMA_REGISTERS_32
#define WGMMA_UP_TO_68  WGMMA_UP_TO_64 ", %64, %65, %66, %67"
#define WGMMA_UP_TO_72  WGMMA_UP_TO_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define WGMMA_UP_TO_76  WGMMA_UP_TO_72 ", %72, %73, %74, %75"
#define WGMMA_UP_TO_80  WGMMA_UP_TO_72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define WGMMA_UP_TO_88  WGMMA_UP_TO_80 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define WGMMA_UP_TO_96  WGMMA_UP_TO_64 ", " WGMMA_REGISTERS_64
#define WGMMA_UP_TO_104 WGMMA_UP_TO_96 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define WGMMA_UP_TO_112 WGMMA_UP_TO_104 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define WGMMA_UP_TO_128 WGMMA_UP_TO_96 ", " WGMMA_REGISTERS_96

#define WGMMA_SUM_4(i)   "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define WGMMA_SUM_8(i)   WGMMA_SUM_4(i), WGMMA_SUM_4(i + 4)
#define WGMMA_SUM_12(i)  WGMMA_SUM_8(i), WGMMA_SUM_4(i + 8)
#define WGMMA_SUM_16(i)  WGMMA_SUM_4(i), WGMMA_SUM_4(i + 4), WGMMA_SUM_4(i + 8), WGMMA_SUM_4(i + 12)
#define WGMMA_SUM_20(i)  WGMMA_SUM_16(i), WGMMA_SUM_4(i + 16)
#define WGMMA_SUM_24(i)  WGMMA_SUM_16(i), WGMMA_SUM_8(i + 16)
#define WGMMA_SUM_32(i)  WGMMA_SUM_16(i), WGMMA_SUM_16(i + 16)
#define WGMMA_SUM_40(i)  WGMMA_SUM_32(i), WGMMA_SUM_4(i + 32), WGMMA_SUM_4(i + 36)
#define WGMMA_SUM_48(i)  WGMMA_SUM_32(i), WGMMA_SUM_16(i + 32)
#define WGMMA_SUM_56(i)  WGMMA_SUM_48(i), WGMMA_SUM_4(i + 48), WGMMA_SUM_4(i + 52)
#define WGMMA_SUM_60(i)  WGMMA_SUM_56(i), WGMMA_SUM_4(i + 56)
#define WGMMA_SUM_64(i)  WGMMA_SUM_32(i), WGMMA_SUM_32(i + 32)
#define WGMMA_SUM_68(i)  WGMMA_SUM_64(i), WGMMA_SUM_4(i + 64)
#define WGMMA_SUM_72(i)  WGMMA_SUM_64(i), WGMMA_SUM_8(i + 64)
#define WGMMA_SUM_76(i)  WGMMA_SUM_72(i), WGMMA_SUM_4(i + 72)
#define WGMMA_SUM_80(i)  WGMMA_SUM_64(i), WGMMA_SUM_16(i + 64)
#define WGMMA_SUM_88(i)  WGMMA_SUM_64(i), WGMMA_SUM_24(i + 64)
#define WGMMA_SUM_96(i)  WGMMA_SUM_64(i), WGMMA_SUM_32(i + 64)
#define WGMMA_SUM_112(i) WGMMA_SUM_96(i), WGMMA_SUM_16(i + 96)
#define WGMMA_SUM_128(i) WGMMA_SUM_64(i), WGMMA_SUM_64(i + 64)
/* clang-format on */

/* d = a b^T, or d += a b^T where `adds`. The tag says what the operands are, the length of d
 * how many rows b has. The operands behind the COUNT sums are numbered A, B and ADDS. */
#ifdef HOPPER_CODE
#define WGMMA_STEP(TAG, COUNT, SHAPE, MODES, A, B, ADDS)                                           \
    static __device__ __forceinline__ void wgmma_step(TAG, float(&d)[COUNT], uint64_t a,           \
                                                      uint64_t b, int adds)                        \
    {                                                                                              \
        asm volatile("{\n"                                                                         \
                     " .reg .pred p;\n"                                                            \
                     " setp.ne.b32 p, " ADDS ", 0;\n"                                              \
                     " wgmma.mma_async.sync.aligned." SHAPE " {" WGMMA_UP_TO_##COUNT               \
                     "}, " A ", " B ", p, " MODES ";\n"                                            \
                     "}"                                                                           \
                     : WGMMA_SUM_##COUNT(0)                                                        \
                     : "l"(a), "l"(b), "r"(adds));                                                 \
    }
#else
#define WGMMA_STEP(TAG, COUNT, SHAPE, MODES, A, B, ADDS)                                           \
    static __device__ __forceinline__ void wgmma_step(TAG, float(&)[COUNT], uint64_t, uint64_t,    \
                                                      int)                                         \
    {                                                                                              \
    }
#endif

/* Neither operand negated, both along k. */
#define WGMMA_BF16(COUNT, N, A, B, ADDS)                                                           \
    WGMMA_STEP(uint16_t, COUNT, "m64n" N "k16.f32.bf16.bf16", "1, 1, 0, 0", A, B, ADDS)
#define WGMMA_FP16(COUNT, N, A, B, ADDS)                                                           \
    WGMMA_STEP(fp16_t, COUNT, "m64n" N "k16.f32.f16.f16", "1, 1, 0, 0", A, B, ADDS)
#define WGMMA_TF32(COUNT, N, A, B, ADDS)                                                           \
    WGMMA_STEP(float, COUNT, "m64n" N "k8.f32.tf32.tf32", "1, 1", A, B, ADDS)

WGMMA_BF16(4, "8", "%4", "%5", "%6")
WGMMA_BF16(8, "16", "%8", "%9", "%10")
WGMMA_BF16(12, "24", "%12", "%13", "%14")
WGMMA_BF16(16, "32", "%16", "%17", "%18")
WGMMA_BF16(20, "40", "%20", "%21", "%22")
WGMMA_BF16(24, "48", "%24", "%25", "%26")
WGMMA_BF16(32, "64", "%32", "%33", "%34")
WGMMA_BF16(40, "80", "%40", "%41", "%42")
WGMMA_BF16(48, "96", "%48", "%49", "%50")
WGMMA_BF16(56, "112", "%56", "%57", "%58")
WGMMA_BF16(60, "120", "%60", "%61", "%62")
WGMMA_BF16(64, "128", "%64", "%65", "%66")
WGMMA_BF16(68, "136", "%68", "%69", "%70")
WGMMA_BF16(72, "144", "%72", "%73", "%74")
WGMMA_BF16(76, "152", "%76", "%77", "%78")
WGMMA_BF16(80, "160", "%80", "%81", "%82")
WGMMA_BF16(88, "176", "%88", "%89", "%90")
WGMMA_BF16(96, "192", "%96", "%97", "%98")
WGMMA_BF16(112, "224", "%112", "%113", "%114")
WGMMA_BF16(128, "256", "%128", "%129", "%130")
WGMMA_FP16(4, "8", "%4", "%5", "%6")
WGMMA_FP16(8, "16", "%8", "%9", "%10")
WGMMA_FP16(12, "24", "%12", "%13", "%14")
WGMMA_FP16(16, "32", "%16", "%17", "%18")
WGMMA_FP16(20, "40", "%20", "%21", "%22")
WGMMA_FP16(24, "48", "%24", "%25", "%26")
WGMMA_FP16(32, "64", "%32", "%33", "%34")
WGMMA_FP16(40, "80", "%40", "%41", "%42")
WGMMA_FP16(48, "96", "%48", "%49", "%50")
WGMMA_FP16(56, "112", "%56", "%57", "%58")
WGMMA_FP16(60, "120", "%60", "%61", "%62")
WGMMA_FP16(64, "128", "%64", "%65", "%66")
WGMMA_FP16(68, "136", "%68", "%69", "%70")
WGMMA_FP16(72, "144", "%72", "%73", "%74")
WGMMA_FP16(76, "152", "%76", "%77", "%78")
WGMMA_FP16(80, "160", "%80", "%81", "%82")
WGMMA_FP16(88, "176", "%88", "%89", "%90")
WGMMA_FP16(96, "192", "%96", "%97", "%98")
WGMMA_FP16(112, "224", "%112", "%113", "%114")
WGMMA_FP16(128, "256", "%128", "%129", "%130")
WGMMA_TF32(4, "8", "%4", "%5", "%6")
WGMMA_TF32(8, "16", "%8", "%9", "%10")
WGMMA_TF32(16, "32", "%16", "%17", "%18")
WGMMA_TF32(24, "48", "%24", "%25", "%26")
WGMMA_TF32(32, "64", "%32", "%33", "%34")
WGMMA_TF32(48, "96", "%48", "%49", "%50")
WGMMA_TF32(56, "112", "%56", "%57", "%58")
WGMMA_TF32(60, "120", "%60", "%61", "%62")
WGMMA_TF32(64, "128", "%64", "%65", "%66")
WGMMA_TF32(68, "136", "%68", "%69", "%70")
WGMMA_TF32(72, "144", "%72", "%73", "%74")
WGMMA_TF32(76, "152", "%76", "%77", "%78")
WGMMA_TF32(80, "160", "%80", "%81", "%82")
WGMMA_TF32(88, "176", "%88", "%89", "%90")
WGMMA_TF32(96, "192", "%96", "%97", "%98")
WGMMA_TF32(112, "224", "%112", "%113", "%114")
WGMMA_TF32(128, "256", "%128", "%129", "%130")

/* b of more rows than a product takes: two products, each of half of them. */
template <typename T, int COUNT>
static __device__ __forceinline__ void wgmma_step(T tag, float (&d)[COUNT], uint64_t a, uint64_t b,
                                                  int adds)
{
    static_assert(COUNT > 128 && COUNT % 8 == 0, "there is no such product");
    constexpr int half = COUNT / 2, rows = 2 * half;
    wgmma_step(tag, *(float(*)[half])d, a, b, adds);
    wgmma_step(tag, *(float(*)[half])(d + half), a, b + rows * (WGMMA_ROW_BYTES / 16), adds);
}

/* The same for e4m3. Its sums have 14 bits: after 128 terms they should be added elsewhere. */
struct wgmma_e4m3 {
};
#define WGMMA_E4M3(COUNT, N, A, B, ADDS)                                                           \
    WGMMA_STEP(struct wgmma_e4m3, COUNT, "m64n" N "k32.f32.e4m3.e4m3", "1, 1", A, B, ADDS)
WGMMA_E4M3(4, "8", "%4", "%5", "%6")
WGMMA_E4M3(8, "16", "%8", "%9", "%10")
WGMMA_E4M3(12, "24", "%12", "%13", "%14")
WGMMA_E4M3(16, "32", "%16", "%17", "%18")
WGMMA_E4M3(24, "48", "%24", "%25", "%26")
WGMMA_E4M3(32, "64", "%32", "%33", "%34")
WGMMA_E4M3(40, "80", "%40", "%41", "%42")
WGMMA_E4M3(48, "96", "%48", "%49", "%50")
WGMMA_E4M3(56, "112", "%56", "%57", "%58")
WGMMA_E4M3(64, "128", "%64", "%65", "%66")
WGMMA_E4M3(72, "144", "%72", "%73", "%74")
WGMMA_E4M3(76, "152", "%76", "%77", "%78")
WGMMA_E4M3(80, "160", "%80", "%81", "%82")
WGMMA_E4M3(88, "176", "%88", "%89", "%90")
WGMMA_E4M3(96, "192", "%96", "%97", "%98")

/* The same with a in four registers, as mma_load leaves 16 rows and 32 bytes of k. */
#ifdef HOPPER_CODE
#define WGMMA_LOADED(TAG, COUNT, SHAPE, A, B, ADDS)                                                \
    static __device__ __forceinline__ void wgmma_loaded(TAG, float(&d)[COUNT], const uint32_t *a,  \
                                                        uint64_t b, int adds)                      \
    {                                                                                              \
        asm volatile("{\n"                                                                         \
                     " .reg .pred p;\n"                                                            \
                     " setp.ne.b32 p, " ADDS ", 0;\n"                                              \
                     " wgmma.mma_async.sync.aligned." SHAPE " {" WGMMA_UP_TO_##COUNT               \
                     "}, {" A "}, " B ", p, 1, 1;\n"                                               \
                     "}"                                                                           \
                     : WGMMA_SUM_##COUNT(0)                                                        \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds)               \
                     : "memory");                                                                  \
    }
#else
#define WGMMA_LOADED(TAG, COUNT, SHAPE, A, B, ADDS)                                                \
    static __device__ __forceinline__ void wgmma_loaded(TAG, float(&)[COUNT], const uint32_t *,    \
                                                        uint64_t, int)                             \
    {                                                                                              \
    }
#endif

#define WGMMA_LOADED_WIDTHS(TAG, SHAPE)                                                            \
    WGMMA_LOADED(TAG, 32, "m64n64" SHAPE, "%32, %33, %34, %35", "%36", "%37")                      \
    WGMMA_LOADED(TAG, 64, "m64n128" SHAPE, "%64, %65, %66, %67", "%68", "%69")

WGMMA_LOADED_WIDTHS(float, "k8.f32.tf32.tf32")
WGMMA_LOADED_WIDTHS(struct wgmma_e4m3, "k32.f32.e4m3.e4m3")

/* The same of bf16 with b across (wgmma_tile_across). */
struct wgmma_bf16_across {
};
WGMMA_STEP(struct wgmma_bf16_across, 48, "m64n96k16.f32.bf16.bf16", "1, 1, 0, 1", "%48", "%49",
           "%50")
WGMMA_STEP(struct wgmma_bf16_across, 64, "m64n128k16.f32.bf16.bf16", "1, 1, 0, 1", "%64", "%65",
           "%66")

/* The same with a across as well: its rows are k too. */
struct wgmma_bf16_both_across {
};
WGMMA_STEP(struct wgmma_bf16_both_across, 16, "m64n32k16.f32.bf16.bf16", "1, 1, 1, 1", "%16", "%17",
           "%18")
WGMMA_STEP(struct wgmma_bf16_both_across, 32, "m64n64k16.f32.bf16.bf16", "1, 1, 1, 1", "%32", "%33",
           "%34")
WGMMA_STEP(struct wgmma_bf16_both_across, 48, "m64n96k16.f32.bf16.bf16", "1, 1, 1, 1", "%48", "%49",
           "%50")
WGMMA_STEP(struct wgmma_bf16_both_across, 64, "m64n128k16.f32.bf16.bf16", "1, 1, 1, 1", "%64",
           "%65", "%66")

/* d += a b: a, 16 of k, in four registers as the sums of d lie, packed in pairs; b across. */
#ifdef HOPPER_CODE
#define WGMMA_ACROSS(TAG, COUNT, SHAPE, A, B)                                                      \
    static __device__ __forceinline__ void wgmma_across(TAG, float(&d)[COUNT], const uint32_t *a,  \
                                                        uint64_t b)                                \
    {                                                                                              \
        asm volatile("{\n"                                                                         \
                     " .reg .pred p;\n"                                                            \
                     " setp.eq.b32 p, 0, 0;\n"                                                     \
                     " wgmma.mma_async.sync.aligned." SHAPE " {" WGMMA_UP_TO_##COUNT               \
                     "}, {" A "}, " B ", p, 1, 1, 1;\n"                                            \
                     "}"                                                                           \
                     : WGMMA_SUM_##COUNT(0)                                                        \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                          \
                     : "memory");                                                                  \
    }
#else
#define WGMMA_ACROSS(TAG, COUNT, SHAPE, A, B)                                                      \
    static __device__ __forceinline__ void wgmma_across(TAG, float(&)[COUNT], const uint32_t *,    \
                                                        uint64_t)                                  \
    {                                                                                              \
    }
#endif

#define WGMMA_ACROSS_16(COUNT, N, A, B)                                                            \
    WGMMA_ACROSS(uint16_t, COUNT, "m64n" N "k16.f32.bf16.bf16", A, B)                              \
    WGMMA_ACROSS(fp16_t, COUNT, "m64n" N "k16.f32.f16.f16", A, B)

WGMMA_ACROSS_16(16, "32", "%16, %17, %18, %19", "%20")
WGMMA_ACROSS_16(24, "48", "%24, %25, %26, %27", "%28")
WGMMA_ACROSS_16(32, "64", "%32, %33, %34, %35", "%36")
WGMMA_ACROSS_16(40, "80", "%40, %41, %42, %43", "%44")
WGMMA_ACROSS_16(48, "96", "%48, %49, %50, %51", "%52")
WGMMA_ACROSS_16(64, "128", "%64, %65, %66, %67", "%68")
WGMMA_ACROSS_16(128, "256", "%128, %129, %130, %131", "%132")
