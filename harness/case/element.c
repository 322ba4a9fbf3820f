/* element.c - elements of buffers (assay.h). */
#include "case/element.h"

static const size_t type_bytes[ASSAY_TYPES] = {
    [ASSAY_F32] = 4, [ASSAY_F64] = 8, [ASSAY_F16] = 2,  [ASSAY_BF16] = 2,
    [ASSAY_I8] = 1,  [ASSAY_U8] = 1,  [ASSAY_I16] = 2,  [ASSAY_I32] = 4,
    [ASSAY_U32] = 4, [ASSAY_I64] = 8, [ASSAY_E4M3] = 1, [ASSAY_E5M2] = 1,
};

size_t assay_type_bytes(enum assay_type type)
{
    return type_bytes[type];
}

double assay_load(enum assay_type type, const void *base, int64_t index)
{
    return element_load(type, base, index);
}

void assay_store(enum assay_type type, void *base, int64_t index, double value)
{
    element_store(type, base, index, value);
}
