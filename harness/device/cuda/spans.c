#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fill.h"
#include "base/stats.h"
#include "device/cuda/device_kernels.h"
#include "device/cuda/spans.h"

enum {
    MAX_SAMPLES = 64,
    MAX_OWN = 4 * MAX_SAMPLES, /* marks and flushes of a block */
    RECORDING_NS = 1000,       /* more than recording adds to an activity, which is up to 500 */
};

static bool is_kernel(const struct cupti_record *record, const char *name)
{
    return record->kind == CUPTI_KERNEL && record->name && strcmp(record->name, name) == 0;
}

static bool is_mark(const struct cupti_record *record)
{
    return is_kernel(record, KERNEL_HOLD_NAME);
}

static bool is_flush(const struct cupti_record *record)
{
    return is_kernel(record, KERNEL_FLUSH_READ_NAME) || is_kernel(record, KERNEL_FLUSH_WRITE_NAME);
}

/* The activities between a mark and the next flush or mark. */
struct span {
    uint64_t first_ns, last_ns, busy_ns, longest_ns;
    int activities;
    bool incomplete;
};

static void span_add(struct span *span, const struct cupti_record *record)
{
    if (record->start_ns == 0 || record->end_ns < record->start_ns) span->incomplete = true;
    if (span->activities == 0 || record->start_ns < span->first_ns)
        span->first_ns = record->start_ns;
    if (record->end_ns > span->last_ns) span->last_ns = record->end_ns;
    span->busy_ns += record->end_ns - record->start_ns;
    span->activities++;
}

static struct block_sample span_sample(const struct span *span)
{
    struct block_sample sample = {NAN, NAN, NAN, MARK_INCOMPLETE};
    if (span->activities == 0 || span->incomplete) return sample;
    sample.mark = 0;
    sample.time_ns = (double)(span->last_ns - span->first_ns);
    sample.busy_ns = (double)span->busy_ns;
    return sample;
}

static void hash_add(char whole_text[RESULT_MAX_HASH], const char *part_text)
{
    unsigned long long part[2], whole[2] = {0, 0};
    if (sscanf(part_text, "%16llx%16llx", &part[0], &part[1]) != 2) return;
    sscanf(whole_text, "%16llx%16llx", &whole[0], &whole[1]);
    for (int i = 0; i < 2; i++)
        whole[i] = fill_hash(whole[i], part[i]);
    snprintf(whole_text, RESULT_MAX_HASH, "%016llx%016llx", whole[0], whole[1]);
}

static void see_code(const struct cupti_record *record, struct span *span, struct code_seen *code,
                     void (*hash)(const char *, char[RESULT_MAX_HASH]))
{
    if (span->activities == 1) code_seen_clear(code);
    code->kernels = span->activities;
    if (record->kind != CUPTI_KERNEL) return;
    char text[RESULT_MAX_HASH];
    hash(record->name, text);
    hash_add(code->hash, text);
    uint64_t length_ns = record->end_ns - record->start_ns;
    if (length_ns < span->longest_ns) return;
    span->longest_ns = length_ns;
    code->registers = record->registers;
    code->shared_bytes = record->shared_bytes;
    code->local_bytes = record->local_bytes;
}

/* Whether call `a` came after call `b`; the ids wrap around. */
static bool is_later(const struct cupti_record *a, const struct cupti_record *b)
{
    return (int32_t)(a->correlation - b->correlation) > 0;
}

/* The harness's own records, in order of start, which is that of their calls. */
struct own {
    int count, marks;
    int at[MAX_OWN];   /* index of the record */
    int mark[MAX_OWN]; /* number of the mark, -1 for a flush */
};

/* False if there are more than a block has. */
static bool find_own(const struct cupti_record *records, int count, struct own *own)
{
    own->count = own->marks = 0;
    for (int i = 0; i < count; i++) {
        if (!is_mark(&records[i]) && !is_flush(&records[i])) continue;
        if (own->count == MAX_OWN) return false;
        own->at[own->count] = i;
        own->mark[own->count++] = is_mark(&records[i]) ? own->marks++ : -1;
    }
    return true;
}

/* The sample that a record belongs to; -1: none. */
static int sample_of(const struct cupti_record *records, int at, const struct own *own)
{
    int sample = -1;
    for (int i = 0; i < own->count; i++) {
        const struct cupti_record *before = &records[own->at[i]];
        if (own->at[i] == at) return -1;
        bool known = records[at].correlation != 0;
        if (known ? is_later(&records[at], before) : own->at[i] < at) sample = own->mark[i];
    }
    return sample;
}

void spans_deal(const struct cupti_record *records, int count, int lost, struct block_sample *out,
                int samples, struct code_seen *code,
                void (*hash)(const char *, char[RESULT_MAX_HASH]))
{
    struct span spans[MAX_SAMPLES] = {0};
    struct own own;
    bool complete = find_own(records, count, &own) && lost == 0 && samples <= MAX_SAMPLES &&
                    own.marks >= samples;
    for (int i = 0; complete && i < count; i++) {
        int sample = sample_of(records, i, &own);
        if (sample < 0 || sample >= samples) continue;
        span_add(&spans[sample], &records[i]);
        if (sample == 0) see_code(&records[i], &spans[0], code, hash);
    }
    for (int i = 0; i < samples; i++)
        out[i] = complete ? span_sample(&spans[i])
                          : (struct block_sample){NAN, NAN, NAN, MARK_INCOMPLETE};
}

bool spans_stretched(const struct block_sample *samples, const double *event_ns, int count,
                     int activities, double event_overhead_ns)
{
    double span[MAX_SAMPLES], pair[MAX_SAMPLES];
    int n = 0;
    for (int i = 0; i < count && n < MAX_SAMPLES; i++) {
        if (samples[i].mark) continue;
        span[n] = samples[i].time_ns;
        pair[n++] = event_ns[i] - event_overhead_ns;
    }
    if (n == 0) return false;
    double pair_ns = stats_median(pair, n), span_ns = stats_median(span, n);
    return pair_ns < 0.99 * span_ns && span_ns - pair_ns <= RECORDING_NS * activities;
}
