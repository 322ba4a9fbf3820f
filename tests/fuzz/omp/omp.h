/* omp.h - in the place of OpenMP's, where the harness is built without it for fuzzing. */
#pragma once

static inline int omp_get_max_threads(void)
{
    return 1;
}

static inline void omp_set_num_threads(int threads)
{
}
