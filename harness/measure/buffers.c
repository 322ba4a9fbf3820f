#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "measure/buffers.h"

enum {
    GUARD_BYTE = 0xc3,
    ALIGNMENT = 256,
    FEW_ELEMENTS = 1 << 14,
    POISONED_PART = 8,          /* elements: a whole word of each type; see buffers_poison_part */
    POISON_STREAM = 0x706f6973, /* of the seed, plus the number of the buffer */
};

static size_t data_bytes(const struct assay_buffer *spec)
{
    return (size_t)spec->count * assay_type_bytes(spec->type);
}

/* The rear guard begins directly after the data, so that an overrun of one byte is seen;
 * the front guard keeps the data aligned. */
static size_t block_bytes(const struct assay_buffer *spec)
{
    size_t bytes = data_bytes(spec) + 2 * (size_t)GUARD_BYTES;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int fill_custom(struct buffers *buffers, int index)
{
    const struct assay_buffer *spec = &buffers->spec[index];
    const struct assay_operation *operation = buffers->shape->operation;
    if (operation->fill == NULL)
        return assay_error("%s: buffer '%s' wants a custom fill and there is none", operation->name,
                           spec->name);
    void *host = malloc(data_bytes(spec) + 1);
    if (host == NULL) return assay_error("out of host memory to fill '%s'", spec->name);
    uint64_t seed = spec->constant ? buffers->seed : buffers->input_seed;
    int status = operation->fill(buffers->shape, index, rng_mix(seed, (uint64_t)index), host);
    if (status == 0)
        status =
            buffers->ops->from_host(buffers->device, buffers->data[index], host, data_bytes(spec));
    free(host);
    return status;
}

/* Draw an eighth of the elements anew, somewhere within, so that a variant which knows its inputs
 * by a few elements does not notice. An input of few elements is drawn anew whole. A part gets no
 * hard values, which belong to the first elements. */
static int fill_part(struct buffers *buffers, int index)
{
    const struct assay_buffer *spec = &buffers->spec[index];
    struct element_range *part = &buffers->redrawn[index];
    struct assay_fill fill = spec->fill;
    uint64_t seed = rng_mix(buffers->input_seed, (uint64_t)index);
    *part = (struct element_range){0, spec->count};
    if (spec->count >= FEW_ELEMENTS) {
        part->count = spec->count / 8 / ALIGNMENT * ALIGNMENT;
        part->begin = spec->count / 16 + (int64_t)(seed % (uint64_t)(spec->count * 3 / 4));
        part->begin = part->begin / ALIGNMENT * ALIGNMENT;
        fill.hard_every = 0;
    }
    char *data = (char *)buffers->data[index] + (size_t)part->begin * assay_type_bytes(spec->type);
    return buffers->ops->fill(buffers->device, data, spec->type, part->count, &fill, seed);
}

static int fill_input(struct buffers *buffers, int index)
{
    const struct assay_buffer *spec = &buffers->spec[index];
    bool redrawn = !spec->constant && buffers->input_seed != buffers->seed;
    buffers->redrawn[index] = (struct element_range){0, redrawn ? spec->count : 0};
    if (spec->fill.kind == ASSAY_FILL_CUSTOM) return fill_custom(buffers, index);
    if (buffers->ops->fill(buffers->device, buffers->data[index], spec->type, spec->count,
                           &spec->fill, rng_mix(buffers->seed, (uint64_t)index)) < 0)
        return -1;
    return redrawn ? fill_part(buffers, index) : 0;
}

/* Of an input and its guards: one call instead of three, of microseconds each on a GPU. */
static int guarded_sum(const struct buffers *buffers, int index, uint64_t *sum)
{
    size_t bytes = data_bytes(&buffers->spec[index]) + 2 * (size_t)GUARD_BYTES;
    return buffers->ops->checksum(buffers->device, buffers->block[index], bytes, sum);
}

static int draw_input(struct buffers *buffers, int index)
{
    if (fill_input(buffers, index) < 0) return -1;
    return guarded_sum(buffers, index, &buffers->sum[index]);
}

static int set_guards(struct buffers *buffers, int index)
{
    const struct device_ops *ops = buffers->ops;
    char *end = (char *)buffers->data[index] + data_bytes(&buffers->spec[index]);
    if (ops->set(buffers->device, buffers->block[index], GUARD_BYTE, GUARD_BYTES) < 0) return -1;
    return ops->set(buffers->device, end, GUARD_BYTE, GUARD_BYTES);
}

static int allocate(struct buffers *buffers, int index)
{
    const struct assay_buffer *spec = &buffers->spec[index];
    void *block = buffers->ops->alloc(buffers->device, block_bytes(spec));
    if (block == NULL) return -1;
    buffers->block[index] = block;
    buffers->data[index] = (char *)block + GUARD_BYTES;
    return set_guards(buffers, index);
}

/* `from`: where inputs are copied from; NULL: they are drawn. */
static int init(struct buffers *buffers, const struct buffers *from)
{
    const struct assay_shape *shape = buffers->shape;
    if (shape->operation->buffers == NULL) return 0;
    buffers->count = shape->operation->buffers(shape, buffers->spec);
    for (int i = 0; i < buffers->count; i++) {
        if (allocate(buffers, i) < 0) return -1;
        if (buffers->spec[i].role != ASSAY_IN) continue;
        if (from == NULL && draw_input(buffers, i) < 0) return -1;
        if (from && buffers->ops->copy(buffers->device, buffers->data[i], from->data[i],
                                       data_bytes(&buffers->spec[i])) < 0)
            return -1;
        if (from) buffers->sum[i] = from->sum[i];
    }
    return buffers_poison(buffers);
}

int buffers_init(struct buffers *buffers, const struct device_ops *ops, struct device *device,
                 const struct assay_shape *shape, uint64_t seed)
{
    *buffers = (struct buffers){
        .ops = ops, .device = device, .shape = shape, .seed = seed, .input_seed = seed};
    return init(buffers, NULL);
}

int buffers_init_moved(struct buffers *buffers, const struct buffers *from)
{
    *buffers = (struct buffers){.ops = from->ops,
                                .device = from->device,
                                .shape = from->shape,
                                .seed = from->seed,
                                .input_seed = from->input_seed};
    return init(buffers, from);
}

int buffers_redraw(struct buffers *buffers, uint64_t input_seed)
{
    buffers->input_seed = input_seed;
    for (int i = 0; i < buffers->count; i++)
        if (buffers->spec[i].role == ASSAY_IN && !buffers->spec[i].constant &&
            draw_input(buffers, i) < 0)
            return -1;
    return 0;
}

int buffers_checksum(const struct buffers *buffers, uint64_t *sum)
{
    *sum = 0;
    for (int i = 0; i < buffers->count; i++) {
        uint64_t one;
        if (buffers->spec[i].role != ASSAY_OUT) continue;
        if (buffers->ops->checksum(buffers->device, buffers->data[i], data_bytes(&buffers->spec[i]),
                                   &one) < 0)
            return -1;
        *sum = rng_mix(*sum, one);
    }
    return 0;
}

int64_t buffers_bytes(const struct buffers *buffers)
{
    size_t bytes = 0;
    for (int i = 0; i < buffers->count; i++)
        bytes += block_bytes(&buffers->spec[i]);
    return (int64_t)bytes;
}

void buffers_release(struct buffers *buffers)
{
    for (int i = 0; i < buffers->count; i++)
        if (buffers->block[i]) buffers->ops->release(buffers->device, buffers->block[i]);
    buffers->count = 0;
}

uint64_t buffers_poison_seed(const struct buffers *buffers, int index)
{
    return rng_mix(rng_mix(buffers->seed, POISON_STREAM + (uint64_t)index), buffers->poisons);
}

static int poison(struct buffers *buffers, int index, struct element_range part)
{
    size_t element = assay_type_bytes(buffers->spec[index].type);
    char *data = (char *)buffers->data[index] + (size_t)part.begin * element;
    buffers->poisoned[index] = part;
    return buffers->ops->poison(buffers->device, data, (size_t)part.count * element,
                                buffers_poison_seed(buffers, index));
}

int buffers_poison(struct buffers *buffers)
{
    buffers->poisons++;
    for (int i = 0; i < buffers->count; i++) {
        struct element_range all = {0, buffers->spec[i].count};
        if (buffers->spec[i].role != ASSAY_IN && poison(buffers, i, all) < 0) return -1;
    }
    return 0;
}

int buffers_poison_part(struct buffers *buffers)
{
    buffers->poisons++;
    for (int i = 0; i < buffers->count; i++) {
        if (buffers->spec[i].role != ASSAY_OUT) continue;
        struct element_range part = {0, buffers->spec[i].count};
        if (part.count >= 4 * POISONED_PART) {
            uint64_t places = (uint64_t)part.count / POISONED_PART;
            uint64_t place = buffers_poison_seed(buffers, i) % places;
            part = (struct element_range){(int64_t)place * POISONED_PART, POISONED_PART};
        }
        if (poison(buffers, i, part) < 0) return -1;
    }
    return 0;
}

/* 1 intact, 0 changed, -1 could not be read. */
static int guard_intact(struct buffers *buffers, const void *guard)
{
    unsigned char copy[GUARD_BYTES];
    if (buffers->ops->to_host(buffers->device, copy, guard, sizeof copy) < 0) return -1;
    return copy[0] == GUARD_BYTE && memcmp(copy, copy + 1, sizeof copy - 1) == 0;
}

/* As guard_intact; a changed guard is restored. */
static int guards_intact(struct buffers *buffers, int index, char *reason, size_t size)
{
    const struct assay_buffer *spec = &buffers->spec[index];
    const char *const side[2] = {"before", "after"};
    const void *const guard[2] = {buffers->block[index],
                                  (char *)buffers->data[index] + data_bytes(spec)};
    for (int i = 0; i < 2; i++) {
        int intact = guard_intact(buffers, guard[i]);
        if (intact < 0) return -1;
        if (intact) continue;
        snprintf(reason, size, "wrote outside its buffers: %s '%s'", side[i], spec->name);
        return set_guards(buffers, index) < 0 ? -1 : 0;
    }
    return 1;
}

static int input_intact(struct buffers *buffers, int index, char *reason, size_t size)
{
    uint64_t sum;
    if (guarded_sum(buffers, index, &sum) < 0) return -1;
    if (sum == buffers->sum[index]) return 1;
    int intact = guards_intact(buffers, index, reason, size);
    if (intact < 0) return -1;
    if (intact) snprintf(reason, size, "changed its input '%s'", buffers->spec[index].name);
    return fill_input(buffers, index) < 0 ? -1 : 0;
}

int buffers_intact(struct buffers *buffers, char *reason, size_t size)
{
    int intact = 1;
    for (int i = 0; i < buffers->count; i++) {
        int one = buffers->spec[i].role == ASSAY_IN ? input_intact(buffers, i, reason, size)
                                                    : guards_intact(buffers, i, reason, size);
        if (one < 0) return -1;
        if (one == 0) intact = 0; /* go on: all must be restored */
    }
    return intact;
}

/* -------------------------------------------------------------- coverage -- */

/* The poison does not depend on what is written, so the number of elements that equal it by chance
 * has a binomial distribution, whatever the outputs. The limit is eight standard deviations above
 * the mean, plus four elements where the mean is far below one; chance passes it once in 10^9
 * outputs. */
bool coverage_is_short(const struct unwritten *left, int64_t count, size_t bytes)
{
    double mean = ldexp((double)count, -8 * (int)bytes);
    return left->words > 0 || (double)left->elements > mean + 8 * sqrt(mean) + 4;
}

int64_t coverage_missing(const struct buffers *buffers, char *reason, size_t size)
{
    for (int b = 0; b < buffers->count; b++) {
        const struct assay_buffer *spec = &buffers->spec[b];
        size_t bytes = assay_type_bytes(spec->type);
        struct element_range part = buffers->poisoned[b];
        const char *data = (const char *)buffers->data[b] + (size_t)part.begin * bytes;
        struct unwritten left;
        char where[64] = "";
        if (spec->role != ASSAY_OUT) continue;
        if (buffers->ops->unwritten(buffers->device, data, spec->type, part.count,
                                    buffers_poison_seed(buffers, b), &left) < 0)
            return -1;
        if (!coverage_is_short(&left, part.count, bytes)) continue;
        if (left.words > 0)
            snprintf(where, sizeof where, ", the first at %s[%lld]", spec->name,
                     (long long)(part.begin + left.first * (int64_t)(sizeof(uint64_t) / bytes)));
        snprintf(reason, size, "%lld of %lld elements of '%s' were not written%s",
                 (long long)left.elements, (long long)part.count, spec->name, where);
        return left.elements;
    }
    return 0;
}
