#include <stdio.h>
#include <string.h>

#include "case/comparability.h"
#include "judge/compare.h"

/* Append "driver 580.1 and 590.2". */
static void differ(char *out, size_t size, const char *what, const char *a, const char *b)
{
    size_t used = strlen(out);
    if (used >= size) return;
    snprintf(out + used, size - used, "%s%s %s and %s", used ? ", " : "", what,
             a[0] ? a : "unknown", b[0] ? b : "unknown");
}

void comparability_difference(const struct launch_info *a, const struct launch_info *b, char *out,
                              size_t size)
{
    struct comparability x, y;
    bool same_model = strcmp(a->device.name, b->device.name) == 0;
    comparability_of(&a->device, &x);
    comparability_of(&b->device, &y);
    out[0] = '\0';
    for (int i = 0; i < COMPARABILITY_PARTS; i++)
        if (strcmp(x.part[i], y.part[i]) != 0 && (same_model || !comparability_is_of_card(i)))
            differ(out, size, comparability_part_name(i), x.part[i], y.part[i]);
}
