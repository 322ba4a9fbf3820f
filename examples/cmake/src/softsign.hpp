// The library: y[i] = x[i] / (1 + |x[i]|).
#pragma once

#include <cstddef>

void softsign(const float *x, float *y, std::size_t n);
