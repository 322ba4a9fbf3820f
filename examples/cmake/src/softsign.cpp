#include "softsign.hpp"

#include <cmath>

void softsign(const float *x, float *y, std::size_t n)
{
    for (std::size_t i = 0; i < n; i++)
        y[i] = x[i] / (1 + std::fabs(x[i]));
}
