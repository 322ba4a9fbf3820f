/* work.c - see work.h. */
#include "case/work.h"

#include <string.h>

struct case_work case_work_of(const struct assay_shape *shape)
{
    const struct assay_operation *operation = shape->operation;
    struct case_work work = {0};
    if (operation->work) {
        const struct assay_work told = operation->work(shape);
        work.read_bytes = told.read_bytes;
        work.write_bytes = told.write_bytes;
        memcpy(work.ops, told.ops, sizeof told.ops);
        work.over_link = told.over_link;
    }
    if (operation->fp8_ops) work.ops[ARITHMETIC_FP8] = operation->fp8_ops(shape);
    return work;
}
