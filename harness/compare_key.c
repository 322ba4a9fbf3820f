/* compare_key.c - where the comparability of two launches differs, in words. */
#include <string.h>

#include "compare.h"
#include "device.h"

/* Adds "driver 580.1 and 590.2" to the sentence. */
static void differ(char *out, size_t size, const char *what, const char *a, const char *b)
{
    size_t used = strlen(out);
    if (strcmp(a, b) == 0 || used >= size) return;
    snprintf(out + used, size - used, "%s%s %s and %s", used ? ", " : "", what,
             a[0] ? a : "unknown", b[0] ? b : "unknown");
}

void comparability_difference(const struct launch_info *a, const struct launch_info *b, char *out,
                              size_t size)
{
    const struct device_info *x = &a->device, *y = &b->device;
    out[0] = '\0';
    differ(out, size, "device", x->simulated ? "simulated" : "real",
           y->simulated ? "simulated" : "real");
    differ(out, size, "device", x->name, y->name);
    if (strcmp(x->name, y->name) == 0) differ(out, size, "device uuid", x->uuid, y->uuid);
    differ(out, size, "driver", x->driver, y->driver);
    differ(out, size, "runtime", x->runtime, y->runtime);
    differ(out, size, "clock", clock_name((enum clock_source)x->clock),
           clock_name((enum clock_source)y->clock));
    differ(out, size, "flush", flush_name((enum cache_flush)x->flush),
           flush_name((enum cache_flush)y->flush));
}
