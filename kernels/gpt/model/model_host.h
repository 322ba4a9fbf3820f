/*
 * model_host.h - a model on the host, with a function for its products that the caller passes.
 */
#pragma once

#include "model.h"

/* y [rows, n] = x [rows, k] w^T + b in fp32; b may be NULL. */
typedef void model_host_product(const float *x, const float *w, const float *b, float *y,
                                int64_t rows, int64_t n, int64_t k);

/* In setup: convert weights and vectors to fp32, and allocate the values between the layers. */
int model_host_setup(struct assay_call *call);

/* Run all layers, with `product` for the products; `parallel`: everything else on all cores, too.
 */
int model_host_run(struct assay_call *call, model_host_product *product, bool parallel);

void model_host_teardown(struct assay_call *call);
