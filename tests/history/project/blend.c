#include "stages.h"

void blend(float *restrict y, const float *restrict x, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = 0.5f * y[i] + 0.5f * x[i];
}
