/*
 * attention_configs.cuh - the kernels for one precision as a table: one row per head size and
 * configuration of a block. The attention variants take the row that attention_division chooses;
 * the models' `best` measures all that fit.
 */
#pragma once

#include "attention.cuh"
#include "attention_configs.h"

typedef void attention_kernel(const struct attention args, float scale);

/* Which heads a row's kernel takes: those that fill its size, those that do not, or both. */
enum attention_heads { ATTENTION_HEADS_ALL, ATTENTION_HEADS_WHOLE, ATTENTION_HEADS_NARROWER };

struct attention_config {
    const char *name; /* queries of a block x keys of a tile */
    enum attention_heads heads;
    int size; /* of a head, or the most */
    attention_kernel *kernel;
    int threads, queries, bytes; /* bytes of shared memory */
};

/* The row of KERNEL, whose layout is LAYOUT. */
template <class LAYOUT>
static constexpr struct attention_config attention_config_of(
    const char *name, attention_kernel *kernel, enum attention_heads heads = ATTENTION_HEADS_ALL)
{
    return {name, heads, LAYOUT::size, kernel, LAYOUT::threads, LAYOUT::queries, LAYOUT::bytes};
}

/* Head sizes ascend, and within one those with fewest queries come first. */
struct attention_configs {
    const struct attention_config *list;
    int count;
    int step; /* of the sizes of heads: they are multiples of it */
};

struct attention_configs attention_configs_of(int64_t precision);

/* One of attention_configs_of's each. */
struct attention_configs attention_configs_fp32(void);
struct attention_configs attention_configs_tf32(void);
struct attention_configs attention_configs_bf16(void);
struct attention_configs attention_configs_fp16(void);

/* Whether a row is one of those to choose from: of the rows that take such heads, those of the
 * least size. */
bool attention_config_takes(struct attention_configs configs, const struct attention_config *config,
                            int64_t size);

/* The row to take unmeasured, or NULL: no kernel for this head size that this card has the shared
 * memory for. */
const struct attention_config *attention_config_default(struct attention_configs configs,
                                                        const struct attention *args);

/* Once before the first launch: the kernel may take its shared memory. */
int attention_config_allow(const struct attention_config *config);

/* `early`: blocks may be placed while the kernel before still runs (dependent_launch.cuh). */
int attention_config_launch(const struct attention_config *config, const struct attention *args,
                            bool early, void *stream);

/* Facts, setup and launch of an attention variant that uses the default configuration of its
 * precision; the note names it. */
int64_t attention_configs_shared_bytes(const struct assay_shape *shape);
int attention_configs_setup(struct assay_call *call);
int attention_configs_launch(struct assay_call *call);
