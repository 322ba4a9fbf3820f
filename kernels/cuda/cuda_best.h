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

/* Registers `best` of an operation: its name without quotes, the fallback, then the kernels. */
#define CUDA_BEST(name_of_operation, name_of_fallback, ...)                                        \
    CUDA_BEST_MODELLED(name_of_operation, NULL, name_of_fallback, __VA_ARGS__)

/* The same where all kernels write the bits of one host model (assay_variant.model). */
#define CUDA_BEST_MODELLED(name_of_operation, host_model, name_of_fallback, ...)                   \
    static const struct cuda_choice choice_##name_of_operation = {                                 \
        .operation = #name_of_operation, .kernels = {__VA_ARGS__}, .fallback = name_of_fallback};  \
    static const char *supports_##name_of_operation(const struct assay_shape *shape)               \
    {                                                                                              \
        return cuda_best_refuses(&choice_##name_of_operation, shape);                              \
    }                                                                                              \
    static int setup_##name_of_operation(struct assay_call *call)                                  \
    {                                                                                              \
        return cuda_best_setup(&choice_##name_of_operation, call);                                 \
    }                                                                                              \
    static const struct assay_variant best_##name_of_operation = {                                 \
        .operation = #name_of_operation,                                                           \
        .name = "best",                                                                            \
        .summary = "the fastest of our kernels, measured in setup",                                \
        .kind = ASSAY_KERNEL,                                                                      \
        .place = ASSAY_CUDA,                                                                       \
        .supports = supports_##name_of_operation,                                                  \
        .setup = setup_##name_of_operation,                                                        \
        .launch = cuda_best_launch,                                                                \
        .teardown = cuda_best_teardown,                                                            \
        .model = host_model,                                                                       \
    };                                                                                             \
    ASSAY_REGISTER_VARIANT(best_##name_of_operation)

#ifdef __cplusplus
}
#endif
