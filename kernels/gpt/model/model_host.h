/*
 * model_host.h - a model on the host, over a product that the caller brings.
 */
#pragma once

#include "model.h"

/* y [rows, n] = x [rows, k] w^T + b in fp32; b may be NULL. */
typedef void model_host_product(const float *x, const float *w, const float *b, float *y,
                                int64_t rows, int64_t n, int64_t k);

/* In setup: convert weights and vectors to fp32, and allocate the values between the layers. */
int model_host_setup(struct assay_call *call);

/* All layers by `product`; `parallel`: the rest on every core too. */
int model_host_run(struct assay_call *call, model_host_product *product, bool parallel);

void model_host_teardown(struct assay_call *call);
