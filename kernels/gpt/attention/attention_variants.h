/*
 * attention_variants.h - the variants that `best` chooses among, each defined where it is
 * registered.
 */
#pragma once

#include "assay.h"

#ifdef __cplusplus
extern "C" {
#endif

const struct assay_variant *attention_online_fp32(void);
const struct assay_variant *attention_online_tf32(void);
const struct assay_variant *attention_online_tf32_wgmma(void);
const struct assay_variant *attention_online_bf16(void);
const struct assay_variant *attention_online_fp16(void);
const struct assay_variant *attention_online_wgmma(void);
const struct assay_variant *attention_naive3(void);

#ifdef __cplusplus
}
#endif
