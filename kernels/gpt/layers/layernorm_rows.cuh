/*
 * layernorm_rows.cuh - a layernorm as the kernels of kernels/gpt/row see it.
 */
#pragma once

#include "kernels/gpt/row/row_launch.cuh"

/* Fill `out` for this call (layernorm_rows.cu). */
extern "C" void layernorm_rows_job(const struct assay_call *call, struct row_job *out);
