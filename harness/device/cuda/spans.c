#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fill.h"
#include "base/stats.h"
#include "device/cuda/device_kernels.h"
#include "device/cuda/spans.h"

enum { MAX_SAMPLES = 64 };

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

void spans_deal(const struct cupti_record *records, int count, int lost, struct block_sample *out,
                int samples, struct code_seen *code,
                void (*hash)(const char *, char[RESULT_MAX_HASH]))
{
    struct span span = {0};
    bool inside = false;
    int sample = -1;
    for (int i = 0; i <= count; i++) {
        bool end = i == count || is_mark(&records[i]) || is_flush(&records[i]);
        if (end && inside && sample < samples) out[sample] = span_sample(&span);
        if (end) inside = false;
        if (i == count) break;
        if (is_mark(&records[i])) {
            memset(&span, 0, sizeof span);
            inside = true;
            sample++;
        } else if (inside && sample < samples) {
            span_add(&span, &records[i]);
            if (sample == 0) see_code(&records[i], &span, code, hash);
        }
    }
    if (lost == 0 && sample + 1 >= samples) return;
    for (int i = 0; i < samples; i++)
        out[i] = (struct block_sample){NAN, NAN, NAN, MARK_INCOMPLETE};
}

bool spans_stretched(const struct block_sample *samples, const double *event_ns, int count,
                     double event_overhead_ns)
{
    double span[MAX_SAMPLES], pair[MAX_SAMPLES];
    int n = 0;
    for (int i = 0; i < count && n < MAX_SAMPLES; i++) {
        if (samples[i].mark) continue;
        span[n] = samples[i].time_ns;
        pair[n++] = event_ns[i] - event_overhead_ns;
    }
    return n > 0 && stats_median(pair, n) < 0.99 * stats_median(span, n);
}
