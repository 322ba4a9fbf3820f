#include <string.h>

#include "codec_pack.h"

float pack_tf32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x1000u) & 0xffffe000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The index of the word of (input channel, result channel) of one tap. */
static size_t place_of(int channel, int result, int out)
{
    const int p = channel / 16, q = channel % 16 / 4, t = result / 8, g = result % 8;
    return ((size_t)(p * (out / 8) + t) * 32 + (size_t)(4 * g + q)) * 4 + (size_t)(channel % 4);
}

void pack_conv(const struct codec_conv *conv, float *packed)
{
    const int taps = conv->kernel * conv->kernel * conv->kernel;
    for (int tap = 0; tap < taps; tap++)
        for (int i = 0; i < conv->in; i++)
            for (int o = 0; o < conv->out; o++) {
                const size_t tap_words = (size_t)tap * (size_t)(conv->in * conv->out);
                packed[tap_words + place_of(i, o, conv->out)] =
                    pack_tf32(conv->weight[tap_words + (size_t)(i * conv->out + o)]);
            }
}

void pack_stem(const struct codec_conv *stem, float *packed)
{
    memset(packed, 0, sizeof *packed * (size_t)(PACK_STEM_TAPS * stem->out));
    for (int tap = 0; tap < 27; tap++)
        for (int o = 0; o < stem->out; o++)
            packed[place_of(tap, o, stem->out)] = pack_tf32(stem->weight[tap * stem->out + o]);
}

/* table[k][o] of one tap. */
static void widen_tap(const struct codec_weights *weights, int tap, float *table)
{
    const struct codec_conv *conv = &weights->widen;
    for (int k = 0; k < CODEWORDS; k++) {
        double sum[NET_WIDE] = {0};
        for (int i = 0; i < conv->in; i++) {
            const double number = (double)weights->codebook[k * CODEWORD_LENGTH + i];
            const float *weight =
                conv->weight + ((size_t)tap * (size_t)conv->in + (size_t)i) * (size_t)conv->out;
            for (int o = 0; o < NET_WIDE; o++)
                sum[o] += number * (double)weight[o];
        }
        for (int o = 0; o < NET_WIDE; o++)
            table[k * NET_WIDE + o] = (float)sum[o];
    }
}

void pack_widen(const struct codec_weights *weights, float *table)
{
#pragma omp parallel for schedule(static)
    for (int tap = 0; tap < 27; tap++)
        widen_tap(weights, tap, table + (size_t)tap * CODEWORDS * NET_WIDE);
}

static void mean_codeword(const float *codebook, double mean[CODEWORD_LENGTH])
{
    for (int i = 0; i < CODEWORD_LENGTH; i++) {
        mean[i] = 0;
        for (int k = 0; k < CODEWORDS; k++)
            mean[i] += (double)codebook[k * CODEWORD_LENGTH + i] / CODEWORDS;
    }
}

void pack_search(const struct codec_weights *weights, float *high, float *low,
                 float bias[CODEWORDS])
{
    const struct codec_conv *project = &weights->project;
    double mean[CODEWORD_LENGTH];
    mean_codeword(weights->codebook, mean);
    for (int k = 0; k < CODEWORDS; k++) {
        const float *codeword = weights->codebook + k * CODEWORD_LENGTH;
        double rest = 0;
        for (int i = 0; i < CODEWORD_LENGTH; i++) {
            const double centred = (double)codeword[i] - mean[i];
            /* |e|^2 / 2 without |m|^2 / 2, which is the same for all codewords. */
            rest += (double)project->bias[i] * centred -
                    0.5 * centred * ((double)codeword[i] + mean[i]);
        }
        bias[k] = (float)rest;
        for (int c = 0; c < NET_DOWN; c++) {
            double sum = 0;
            for (int i = 0; i < CODEWORD_LENGTH; i++)
                sum += (double)project->weight[c * CODEWORD_LENGTH + i] *
                       ((double)codeword[i] - mean[i]);
            const size_t place = place_of(c, k, CODEWORDS);
            high[place] = pack_tf32((float)sum);
            low[place] = pack_tf32((float)(sum - (double)high[place]));
        }
    }
}
