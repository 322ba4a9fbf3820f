#include "stages.h"

void clamp(float *restrict y, const float *restrict x, int n)
{
    for (int i = 0; i < n; i++) {
        float value = x[i] < 1 ? x[i] : 1;
        y[i] = value > -1 ? value : -1;
    }
}
