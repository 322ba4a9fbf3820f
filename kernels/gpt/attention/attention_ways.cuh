/*
 * attention_ways.cuh - the kernels for one precision as a table: a row a head size and division
 * of a block. The attention variants take the row that attention_division names; the models'
 * `best` measures all that fit.
 */
#ifndef ATTENTION_WAYS_CUH
#define ATTENTION_WAYS_CUH

#include "attention.cuh"
#include "attention_ways.h"

typedef void attention_kernel(const struct attention args, float scale);

struct attention_way {
    const char *name; /* queries of a block x keys of a tile */
    int size;         /* of a head */
    attention_kernel *kernel;
    int threads, queries, bytes; /* bytes of shared memory */
};

/* Of one head size those with fewest queries come first. */
struct attention_ways {
    const struct attention_way *list;
    int count;
};

struct attention_ways attention_ways_fp32(void);
struct attention_ways attention_ways_tf32(void);
struct attention_ways attention_ways_bf16(void);

/* The row to take unmeasured, or NULL: no kernel for this head size. */
const struct attention_way *attention_way_default(struct attention_ways ways,
                                                  const struct attention *args);

/* Once before the first launch: the kernel may take its shared memory. */
int attention_way_allow(const struct attention_way *way);

/* `early`: blocks may be placed while the kernel before still runs (model_launch.cuh). */
int attention_way_launch(const struct attention_way *way, const struct attention *args, bool early,
                         void *stream);

/* setup and launch of an attention variant that takes the default division, which its
 * note names. */
int attention_ways_setup(struct attention_ways ways, struct assay_call *call);
int attention_ways_launch(struct attention_ways ways, struct assay_call *call);

#endif
