#include "gpt.h"

const char *const gpt_types[] = {"fp32", "tf32", "bf16", "fp16", NULL};

double gpt_gelu(double x)
{
    const double scale = 0.79788456080286535588; /* sqrt(2 / pi) */
    return 0.5 * x * (1.0 + tanh(scale * (x + 0.044715 * x * x * x)));
}

int gpt_check_ids(const int32_t *ids, int64_t count, int64_t vocabulary)
{
    for (int64_t i = 0; i < count; i++)
        if (ids[i] < 0 || ids[i] >= vocabulary)
            return assay_error("token %lld has id %d, outside the vocabulary of %lld", (long long)i,
                               (int)ids[i], (long long)vocabulary);
    return 0;
}

int gpt_check_host_ids(struct assay_call *call)
{
    const int64_t *value = call->shape->value;
    return gpt_check_ids(call->buffer[EMBEDDING_IDS],
                         value[EMBEDDING_BATCH] * value[EMBEDDING_TOKENS],
                         value[EMBEDDING_VOCABULARY]);
}
