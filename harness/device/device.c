/* device.c - opens a device by its spec. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "device/device.h"

/* NULL in a program that is linked without CUDA. */
extern const struct device_ops device_cuda __attribute__((weak));

/* `auto` takes the first that opens. */
static const struct device_ops *const devices[] = {&device_cuda, &device_host, &device_sim};
enum { DEVICES = sizeof devices / sizeof *devices };

static bool spec_names(const char *spec, const char *name)
{
    const char *behind = text_begins(spec, name);
    return behind && (*behind == '\0' || *behind == ':');
}

double device_wall_s(struct device *device)
{
    (void)device;
    return clock_s();
}

void code_seen_clear(struct code_seen *code)
{
    *code =
        (struct code_seen){.kernels = -1, .registers = -1, .shared_bytes = -1, .local_bytes = -1};
}

int device_pick(const struct device_options *options, int count, int *index)
{
    *index = options->pick > 0 && count > 1 ? options->pick - 1 : 0;
    if (*index < count) return 0;
    assay_error(
        "device '%s': process %d of the job on this machine has no GPU of its own: there are "
        "%d (start no more, or name one: --device cuda:0 shares it)",
        options->spec, options->pick, count);
    return DEVICE_DENIED;
}

enum device_choice device_choice(const char *spec)
{
    bool is_sim = spec_names(spec, "sim");
    const char *colon = strchr(spec, ':');
    if (!is_sim && !spec_names(spec, "cuda")) return DEVICE_ANY;
    for (const char *at = colon; at; at = strchr(at + 1, ',')) {
        const char *gpu = is_sim ? text_begins(at + 1, "gpu=") : at + 1;
        if (!gpu) continue;
        const char *behind = text_begins(gpu, "all");
        return behind && (*behind == ',' || *behind == '\0') ? DEVICE_ALL : DEVICE_ONE;
    }
    return DEVICE_ANY;
}

static int unknown_device(const char *spec)
{
    static const char *const names[] = {"auto", "cuda", "host", "sim"};
    char name[ASSAY_MAX_NAME], hint[TEXT_HINT];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    rows_hint(hint, name, ROWS(names), NULL);
    return assay_error("there is no device '%s'%s", spec,
                       hint[0] ? hint : " (auto, cuda:N, cuda:all, host, sim:KEY=VALUE,...)");
}

/* Open the first device that can be opened; if none can, the error is that of the last. */
static int open_first(const struct device_options *options, const struct device_ops **ops,
                      struct device **device)
{
    for (int i = 0; i < DEVICES; i++) {
        if (!devices[i] || devices[i]->by_name_only) continue;
        struct device_options each = *options;
        each.spec = devices[i]->name;
        int got = devices[i]->open(&each, device);
        if (got == DEVICE_DENIED) return -1;
        if (got < 0) continue;
        *ops = devices[i];
        return 0;
    }
    return -1;
}

int device_open(const struct device_options *options, const struct device_ops **ops,
                struct device **device)
{
    *ops = NULL;
    *device = NULL;
    if (strcmp(options->spec, "auto") == 0) return open_first(options, ops, device);
    for (int i = 0; i < DEVICES; i++) {
        if (!devices[i] || !spec_names(options->spec, devices[i]->name)) continue;
        if (devices[i]->open(options, device) < 0) return -1;
        *ops = devices[i];
        return 0;
    }
    if (spec_names(options->spec, "cuda"))
        return assay_error("device '%s': this program was built without CUDA (no nvcc was found)",
                           options->spec);
    return unknown_device(options->spec);
}
