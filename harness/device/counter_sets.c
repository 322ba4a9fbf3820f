#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "device/counter_sets.h"

/* The sets that a counter belongs to, apart from `all`. */
enum { DEFAULT = 1, MEMORY = 2, COMPUTE = 4, STALLS = 8, WORK = 16 };

/* The metrics are defined in the documentation of Nsight Compute ("Metrics Reference").
 * `default` includes only those stalls that decide between the rules. */
static const struct {
    struct counter_label label;
    int sets;
} table[] = {
    {{COUNTER_TIME, "time", COUNTER_NS}, DEFAULT | MEMORY | COMPUTE | STALLS},
    {{COUNTER_DRAM_READ, "DRAM read", COUNTER_BYTES}, DEFAULT | MEMORY},
    {{COUNTER_DRAM_WRITE, "DRAM write", COUNTER_BYTES}, DEFAULT | MEMORY},
    {{COUNTER_DRAM, "DRAM", COUNTER_PCT}, DEFAULT | MEMORY},
    {{COUNTER_L2, "L2", COUNTER_PCT}, DEFAULT | MEMORY},
    {{COUNTER_L2_HIT, "L2 hits", COUNTER_PCT}, DEFAULT | MEMORY},
    {{COUNTER_SM, "SM", COUNTER_PCT}, DEFAULT | COMPUTE},
    {{COUNTER_AT_WORK, "SMs at work", COUNTER_PCT}, DEFAULT | COMPUTE},
    /* Covers mma (HMMA, IMMA) and wgmma (GMMA), which use the same pipe. Metrics that
     * count HMMA instructions or operations do not include wgmma. */
    {{COUNTER_TENSOR, "tensor pipe", COUNTER_PCT}, DEFAULT | COMPUTE},
    {{COUNTER_FMA, "FMA pipe", COUNTER_PCT}, DEFAULT | COMPUTE},
    {{COUNTER_ISSUE, "issue slots", COUNTER_PCT}, DEFAULT | COMPUTE | STALLS},
    {{COUNTER_OCCUPANCY, "occupancy", COUNTER_PCT}, DEFAULT | COMPUTE | STALLS},
    {{COUNTER_CLOCK, "clock", COUNTER_HZ}, DEFAULT | COMPUTE},
    {{"l1tex__throughput.avg.pct_of_peak_sustained_active", "L1", COUNTER_PCT}, MEMORY},
    {{"l1tex__t_sector_hit_rate.pct", "L1 hits", COUNTER_PCT}, MEMORY},
    {{COUNTER_INSTRUCTIONS, "warp instructions", COUNTER_PLAIN}, WORK},
    {{COUNTER_LOCAL_LOADS, "local loads", COUNTER_PLAIN}, WORK},
    {{COUNTER_LOCAL_STORES, "local stores", COUNTER_PLAIN}, WORK},
    {{COUNTER_STALL("long_scoreboard"), "memory", COUNTER_CYCLES}, DEFAULT | STALLS},
    {{COUNTER_STALL("short_scoreboard"), "shared memory", COUNTER_CYCLES}, DEFAULT | STALLS},
    {{COUNTER_STALL("barrier"), "barrier", COUNTER_CYCLES}, DEFAULT | STALLS},
    {{COUNTER_STALL("gmma"), "wgmma", COUNTER_CYCLES}, DEFAULT | STALLS},
    {{COUNTER_STALL("lg_throttle"), "memory queue", COUNTER_CYCLES}, DEFAULT | STALLS},
    {{COUNTER_STALL("mio_throttle"), "shared-memory queue", COUNTER_CYCLES}, DEFAULT | STALLS},
    {{COUNTER_STALL("math_pipe_throttle"), "busy pipe", COUNTER_CYCLES}, DEFAULT | STALLS},
    {{COUNTER_STALL("wait"), "fixed latency", COUNTER_CYCLES}, DEFAULT | STALLS},
    {{COUNTER_STALL("not_selected"), "not selected", COUNTER_CYCLES}, DEFAULT | STALLS},
    {{COUNTER_STALL("no_instruction"), "no instruction", COUNTER_CYCLES}, STALLS},
    {{COUNTER_STALL("branch_resolving"), "branch", COUNTER_CYCLES}, STALLS},
    {{COUNTER_STALL("dispatch_stall"), "dispatch", COUNTER_CYCLES}, STALLS},
    {{COUNTER_STALL("drain"), "drain", COUNTER_CYCLES}, STALLS},
    {{COUNTER_STALL("imc_miss"), "constant cache", COUNTER_CYCLES}, STALLS},
    {{COUNTER_STALL("membar"), "memory fence", COUNTER_CYCLES}, STALLS},
    {{COUNTER_STALL("misc"), "other", COUNTER_CYCLES}, STALLS},
    {{COUNTER_STALL("sleeping"), "sleep", COUNTER_CYCLES}, STALLS},
    {{COUNTER_STALL("tex_throttle"), "texture queue", COUNTER_CYCLES}, STALLS},
};
enum { KNOWN = sizeof table / sizeof *table };

static const struct {
    const char *name;
    int sets;
} sets[] = {{"default", DEFAULT}, {"memory", MEMORY}, {"compute", COMPUTE}, {"stalls", STALLS},
            {"work", WORK},       {"all", ~0},        {"none", 0}};
const char counter_set_names[] = "default, memory, compute, stalls, work, all, none";

struct counter_label counter_label(const char *metric)
{
    int known = rows_find(ROWS(table), metric);
    return known < 0 ? (struct counter_label){metric, metric, COUNTER_PLAIN} : table[known].label;
}

const char *counter_unit_name(enum counter_unit unit)
{
    static const char *const names[] = {
        [COUNTER_NS] = "ns", [COUNTER_BYTES] = "bytes",   [COUNTER_PCT] = "pct",
        [COUNTER_HZ] = "hz", [COUNTER_CYCLES] = "cycles", [COUNTER_PLAIN] = "plain",
    };
    return names[unit];
}

/* Traffic in powers of 1000, as rates are. */
static void bytes_text(char *out, size_t size, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (unit < 4 && bytes >= 999.5) {
        bytes /= 1000;
        unit++;
    }
    snprintf(out, size, "%.3g %s", bytes, units[unit]);
}

void counter_text(char *out, size_t size, enum counter_unit unit, double value)
{
    char text[UNITS_MAX];
    if (isnan(value)) {
        snprintf(out, size, "-");
        return;
    }
    switch (unit) {
    case COUNTER_NS:
        units_time(text, value);
        snprintf(out, size, "%s", text);
        break;
    case COUNTER_BYTES:
        bytes_text(out, size, value);
        break;
    case COUNTER_PCT:
        snprintf(out, size, value < 9.95 ? "%.1f %%" : "%.0f %%", value);
        break;
    case COUNTER_HZ:
        snprintf(out, size, "%.0f MHz", value / 1e6);
        break;
    case COUNTER_CYCLES:
        snprintf(out, size, value < 9.95 ? "%.1f" : "%.0f", value);
        break;
    default:
        snprintf(out, size, "%.4g", value);
    }
}

/* ------------------------------------------------------------------ lists -- */

struct chosen {
    char (*names)[PROFILE_MAX_METRIC];
    int count;
};

static int choose(struct chosen *chosen, const char *metric)
{
    for (int i = 0; i < chosen->count; i++)
        if (strcmp(chosen->names[i], metric) == 0) return 0;
    if (chosen->count == PROFILE_MAX_COUNTERS)
        return assay_error("at most %d counters at a time", PROFILE_MAX_COUNTERS);
    return text_copy(chosen->names[chosen->count++], PROFILE_MAX_METRIC, metric);
}

static int choose_set(struct chosen *chosen, int members)
{
    for (int i = 0; i < KNOWN; i++)
        if ((table[i].sets & members) && choose(chosen, table[i].label.metric)) return -1;
    return 0;
}

/* A metric consists of a unit, two underscores, a name and a rollup: "dram__bytes_read.sum". */
static int choose_word(struct chosen *chosen, const char *word)
{
    int set = rows_find(ROWS(sets), word);
    if (set >= 0) return choose_set(chosen, sets[set].sets);
    const char *mark = strstr(word, "__");
    if (mark && strchr(mark, '.')) return choose(chosen, word);
    if (mark)
        return assay_error("the counter '%s' lacks its rollup, as in %s.sum or %s.avg", word, word,
                           word);
    char hint[TEXT_HINT];
    return assay_error("'%s' is no set of counters (%s) and no metric's name%s", word,
                       counter_set_names, rows_hint(hint, word, ROWS(sets), NULL));
}

int counter_list(const char *list, char out[PROFILE_MAX_COUNTERS][PROFILE_MAX_METRIC])
{
    struct chosen chosen = {.names = out};
    const char *at = list ? list : "default";
    while (*at) {
        char word[PROFILE_MAX_METRIC];
        size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof word)
            return assay_error("counters want names with commas between, not '%s'", list);
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (choose_word(&chosen, word)) return -1;
        at += length;
        if (*at == ',' && *++at == '\0')
            return assay_error("counters want names with commas between, not '%s'", list);
    }
    if (list && !*list) return assay_error("which counters? (%s)", counter_set_names);
    return chosen.count;
}
