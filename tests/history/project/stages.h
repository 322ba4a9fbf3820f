/* stages.h - the four stages of the variant `stages`; n floats each, x and y apart. */
#pragma once

void smooth(float *restrict y, const float *restrict x,
            int n); /* mean of a value and its neighbours */
void scale(float *restrict y, const float *restrict x, int n); /* x 1.5 + 0.25 */
void clamp(float *restrict y, const float *restrict x, int n); /* to [-1, 1] */
void blend(float *restrict y, const float *restrict x, int n); /* y = 0.5 y + 0.5 x */
