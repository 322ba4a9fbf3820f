/* product.h - the numbers that mma.sync and wgmma multiply (number.cc). */
#pragma once

#include <cstdint>
#include <string>

namespace emu
{

enum Number { N_F16, N_BF16, N_TF32, N_E4M3, N_E5M2, N_S8, N_U8, N_B1 };
extern const int BITS[8];

int number_of(const std::string &type);            /* "bf16" -> N_BF16; -1: none */
float number_value(int n, uint32_t bits);          /* exact: each has at most 11 bits */
float number_element(int n, uint32_t word, int e); /* element e of a row, in the word that has it */

} // namespace emu
