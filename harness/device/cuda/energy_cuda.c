/*
 * energy_cuda.c - the energy of launches by the card's counter, with the caches as the case has
 * them. Cold launches have a flush in front, which takes energy too: flushes alone are measured
 * behind them and taken off (energy.h).
 */
#include <math.h>

#include "base/clock.h"
#include "device/cuda/device_cuda.h"
#include "device/cuda/energy.h"
#include "device/nvml.h"

enum { GROUP_LAUNCHES = 1000 };
static const double GROUP_NS = 5e6;  /* between reads of the counter */
static const double CHANGE_NS = 1e9; /* longer than this it does not stay the same under load */

struct repeated {
    const struct block *block; /* NULL: nothing is launched */
    bool flush;
};

/* `count` times; the counter is read while the device is busy with them. */
static int run_group(struct device *device, const struct repeated *repeated, int count,
                     double *energy_mj)
{
    for (int i = 0; i < count; i++) {
        if (repeated->flush && cuda_flush(device) < 0) return -1;
        const struct block *block = repeated->block;
        if (block && block->variant->launch(block->call) < 0) return -1;
    }
    *energy_mj = nvml_energy_mj();
    return cuda_synchronize(device);
}

/* One at first, which also loads what is not loaded; then so many as take GROUP_NS. */
static int size_group(struct device *device, const struct repeated *repeated, int *count)
{
    double energy_mj, least_ns = INFINITY;
    for (int i = 0; i < 2; i++) {
        double start = clock_ns();
        if (run_group(device, repeated, 1, &energy_mj) < 0) return -1;
        least_ns = fmin(least_ns, clock_ns() - start);
    }
    *count = (int)fmax(1, fmin(GROUP_LAUNCHES, GROUP_NS / least_ns));
    return 0;
}

/* From a change of the counter to the first that comes `ns` later. */
static int measure(struct device *device, const struct repeated *repeated, double ns,
                   struct energy_stretch *stretch)
{
    int group, launches = 0;
    double first_mj = NAN, last_mj = NAN, start = NAN;
    *stretch = (struct energy_stretch){.energy_mj = NAN};
    if (size_group(device, repeated, &group) < 0) return -1;
    double changed = clock_ns();
    while (clock_ns() - changed < fmax(CHANGE_NS, 4 * stretch->group_ns)) {
        double begun = clock_ns(), energy_mj;
        if (run_group(device, repeated, group, &energy_mj) < 0) return -1;
        double now = clock_ns();
        if (isnan(energy_mj)) return 0;
        stretch->group_ns = fmax(stretch->group_ns, now - begun);
        launches += group;
        bool is_change = !isnan(last_mj) && energy_mj != last_mj;
        last_mj = energy_mj;
        if (!is_change) continue;
        changed = now;
        if (isnan(start)) {
            start = now, first_mj = energy_mj, launches = 0;
        } else if (now - start >= ns) {
            stretch->ns = now - start;
            stretch->launches = launches;
            stretch->energy_mj = energy_mj - first_mj;
            return 0;
        }
    }
    return 0;
}

int cuda_energy(struct device *device, const struct block *block, double ns, int *launches,
                double *energy_mj)
{
    bool is_cold = block->temperature == ASSAY_COLD;
    const struct repeated both = {block, is_cold}, flush = {NULL, true};
    struct energy_stretch with, without;
    double error;
    *launches = 0;
    *energy_mj = NAN;
    if (isnan(nvml_energy_mj())) return 0;
    if (measure(device, &both, ns, &with) < 0) return -1;
    if (is_cold && measure(device, &flush, ns, &without) < 0) return -1;
    *launches = with.launches;
    *energy_mj = with.launches * (is_cold ? energy_behind_flush(&with, &without)
                                          : energy_per_launch(&with, &error));
    return 0;
}
