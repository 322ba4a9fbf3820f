/* vq_distance.c - exact distances, and which codewords are near ties; see vq_search.h. */
#include "vq_search.h"

void search_distances(const float *z, const float *codebook, double distance[CODEWORDS])
{
    enum { LANES = 8 }; /* independent partial sums, for vector units */
    for (int k = 0; k < CODEWORDS; k++) {
        const float *codeword = codebook + k * CODEWORD_LENGTH;
        double sum[LANES] = {0};
        for (int i = 0; i < CODEWORD_LENGTH; i += LANES)
            for (int lane = 0; lane < LANES; lane++) {
                double difference = (double)z[i + lane] - (double)codeword[i + lane];
                sum[lane] += difference * difference;
            }
        distance[k] =
            ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    }
}

/* The nearest codeword with a distance below `limit` that is not `taken`; -1: there is none. */
static int nearest(const double distance[CODEWORDS], double limit, const bool taken[CODEWORDS])
{
    int best = -1;
    for (int k = 0; k < CODEWORDS; k++)
        if (!taken[k] && distance[k] < limit && (best < 0 || distance[k] < distance[best]))
            best = k;
    return best;
}

double search_expect(const double distance[CODEWORDS], double relative)
{
    bool taken[CODEWORDS] = {false};
    int best = 0; /* also where every distance is NaN */
    for (int k = 1; k < CODEWORDS; k++)
        if (distance[k] < distance[best]) best = k;
    taken[best] = true;
    double expected = best, digit = 1;
    for (int rival = 0; rival < SEARCH_RIVALS; rival++) {
        int next = nearest(distance, distance[best] * (1 + relative), taken);
        if (next < 0) break;
        taken[next] = true;
        digit /= CODEWORDS;
        expected += (next ^ best) * digit;
    }
    return expected;
}

enum assay_match search_match(double expected, double got)
{
    int best = (int)expected;
    double rest = expected - best;
    if (got == best) return ASSAY_EXACT;
    while (rest > 0) {
        rest *= CODEWORDS;
        if (got == ((int)rest ^ best)) return ASSAY_NEAR;
        rest -= (int)rest;
    }
    return ASSAY_WRONG;
}
