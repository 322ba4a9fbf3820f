/* tensor_map.h - what this emulator writes into the 128 bytes of a CUtensorMap. */
#pragma once

#include <cstdint>

namespace emu
{

struct TensorMap {
    uint64_t magic;
    uint64_t base;
    uint64_t size[5], stride[5]; /* in elements; in bytes, of the innermost the element's */
    uint16_t box[5];
    uint8_t rank, swizzle, nan_outside; /* swizzle: bytes of a row: 0, 32, 64, 128 */
    uint8_t floating;                   /* 0, or the bytes of a floating-point element */
};
static_assert(sizeof(TensorMap) <= 128);
static constexpr uint64_t TENSOR_MAP = 0x70616d726f736e74;

} // namespace emu
