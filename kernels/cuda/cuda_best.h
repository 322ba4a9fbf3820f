/*
 * cuda_best.h - `best` of an operation whose kernels are variants by themselves: the fastest of
 * those for a shape, measured in setup as the case will be timed (cuda_trial.h). The note says
 * which it was, its own note, and of how many.
 *
 * A kernel that is not linked, or that takes not this shape or not this card, is passed over.
 * Operations and bytes: those of the kernel that is chosen.
 */
#pragma once

#include "assay.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CUDA_BEST_MOST = 16 };

struct cuda_choice {
    const char *operation;
    const char *kernels[CUDA_BEST_MOST]; /* names of variants; first the one that wins most often,
                                          * since slower ones are cut short by it */
    const char *fallback;                /* for what none of them takes; NULL: none */
};

/* Why no kernel takes the shape, as the last of them says; NULL if one does. */
const char *cuda_best_refuses(const struct cuda_choice *choice, const struct assay_shape *shape);

/* Sets up all kernels that take the shape, and keeps the fastest: 0, -1 or ASSAY_SKIP. */
int cuda_best_setup(const struct cuda_choice *choice, struct assay_call *call);
int cuda_best_launch(struct assay_call *call);
void cuda_best_teardown(struct assay_call *call);

#ifdef __cplusplus
}
#endif
