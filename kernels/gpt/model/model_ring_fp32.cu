/*
 * model_ring_fp32.cu - the configurations of model_ring.cuh, largest first: rows x columns of a
 * tile, "/4" with four slices of k, "d" with deep stages of 128 of k, for long k.
 *
 * At 1024 rows each of them gives 128 blocks for some product of a layer, where a large card has
 * 132 multiprocessors: 3 c, c or 4 c columns with c of 64, 128, 192 or 256, and 3 c and c with
 * 768.
 */
#include "model_ring.cuh"

const struct ring rings[] = {
    ring_of<ring_config<128, 144, 4, 2, 1, 4>, false>("r128x144"),
    ring_of<ring_config<64, 128, 2, 2, 1, 4>, true>("r64x128/2"),
    ring_of<ring_config<64, 96, 2, 2, 1, 4>, true>("r64x96/2"),
    ring_of<ring_config<64, 96, 2, 1, 1, 4>, false>("r64x96/4"),
    ring_of<ring_config<64, 72, 2, 1, 1, 4>, true>("r64x72/4"),
    ring_of<ring_config<64, 64, 2, 1, 2, 3>, true>("r64x64/4"),
    ring_of<ring_config<64, 48, 2, 1, 2, 3>, true>("r64x48/4"),
    ring_of<ring_config<32, 64, 1, 1, 2, 4>, true>("r32x64/8"),
    ring_of<ring_config<32, 64, 1, 1, 4, 3>, false>("r32x64/8d"),
    ring_of<ring_config<32, 48, 1, 1, 2, 4>, true>("r32x48/8"),
    ring_of<ring_config<32, 32, 1, 1, 2, 4>, true>("r32x32/8"),
    ring_of<ring_config<32, 32, 1, 1, 4, 3>, false>("r32x32/8d"),
};
const int rings_count = sizeof rings / sizeof *rings;
