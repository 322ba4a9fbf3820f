#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mute.h"
#include "base/text.h"
#include "case/registry.h"
#include "case/result.h"
#include "case/shape.h"

static const int64_t SIZE_MAX_DEFAULT = (int64_t)1 << 40;

int shape_dims(const struct assay_operation *operation)
{
    int count = 0;
    while (count < ASSAY_MAX_DIMS && operation->dims[count].name)
        count++;
    return count;
}

int shape_dim(const struct assay_operation *operation, const char *name)
{
    for (int i = 0; i < shape_dims(operation); i++)
        if (!strcmp(operation->dims[i].name, name)) return i;
    return -1;
}

static int choice_count(const struct assay_dim *dim)
{
    int count = 0;
    while (dim->choices[count])
        count++;
    return count;
}

void shape_range(const struct assay_dim *dim, int64_t *min, int64_t *max)
{
    if (dim->choices) {
        *min = 0;
        *max = choice_count(dim) - 1;
        return;
    }
    bool is_given = dim->min || dim->max;
    *min = is_given ? dim->min : 1;
    *max = is_given ? dim->max : SIZE_MAX_DEFAULT;
}

int shape_choice(const struct assay_dim *dim, const char *choice)
{
    for (int i = 0; dim->choices[i]; i++)
        if (!strcmp(dim->choices[i], choice)) return i;
    return -1;
}

struct assay_shape shape_default(const struct assay_operation *operation)
{
    struct assay_shape shape = {.operation = operation};
    for (int i = 0; i < shape_dims(operation); i++)
        shape.value[i] = operation->dims[i].fallback;
    return shape;
}

bool shape_equal(const struct assay_shape *a, const struct assay_shape *b)
{
    return a->operation == b->operation && !memcmp(a->value, b->value, sizeof a->value);
}

void shape_text(const struct assay_shape *shape, char *out, size_t size)
{
    size_t used = 0;
    if (size) out[0] = '\0';
    for (int i = 0; i < shape_dims(shape->operation); i++) {
        const struct assay_dim *dim = &shape->operation->dims[i];
        const char *gap = i ? " " : "";
        int length = dim->choices ? snprintf(out + used, size - used, "%s%s=%s", gap, dim->name,
                                             dim->choices[shape->value[i]])
                                  : snprintf(out + used, size - used, "%s%s=%" PRId64, gap,
                                             dim->name, shape->value[i]);
        if (length < 0 || (size_t)length >= size - used) {
            if (size) out[used] = '\0'; /* never part of a dim */
            return;
        }
        used += (size_t)length;
    }
}

void case_id_of(struct case_id *id, const struct assay_variant *variant,
                const struct assay_shape *shape, enum assay_temperature temperature)
{
    *id = (struct case_id){.kind = (int32_t)variant->kind,
                           .place = (int32_t)variant->place,
                           .temperature = (int32_t)temperature};
    text_copy(id->operation, sizeof id->operation, variant->operation);
    text_copy(id->variant, sizeof id->variant, variant->name);
    shape_text(shape, id->shape, sizeof id->shape);
}

static int parse_value(const struct assay_dim *dim, const char *text, int64_t *value)
{
    if (dim->choices) {
        *value = shape_choice(dim, text);
        if (*value < 0) return assay_error("%s=%s is not one of its choices", dim->name, text);
        return 0;
    }
    int64_t min, max;
    shape_range(dim, &min, &max);
    if (!text_parse_count(text, value)) return assay_error("%s=%s is no number", dim->name, text);
    if (*value < min || *value > max)
        return assay_error("%s=%s is not within %" PRId64 " to %" PRId64, dim->name, text, min,
                           max);
    return 0;
}

int shape_parse(const struct assay_operation *operation, const char *text,
                struct assay_shape *shape)
{
    char words[RESULT_MAX_SHAPE];
    bool named[ASSAY_MAX_DIMS] = {false};
    if (text_copy(words, sizeof words, text)) return assay_error("the shape is too long");
    *shape = shape_default(operation);
    char *rest = words;
    for (char *word; (word = strsep(&rest, " "));) {
        if (!*word) continue;
        char *value = strchr(word, '=');
        if (!value) return assay_error("'%s' is not dim=value", word);
        *value++ = '\0';
        int dim = shape_dim(operation, word);
        if (dim < 0) return assay_error("%s has no dim '%s'", operation->name, word);
        if (named[dim]) return assay_error("%s is there twice", word);
        named[dim] = true;
        if (parse_value(&operation->dims[dim], value, &shape->value[dim])) return -1;
    }
    return 0;
}

/* What an object prints was heard when the plan was rehearsed; it would stand among results. */
struct case_work shape_work(const struct assay_shape *shape)
{
    struct mute mute;
    if (registry_has_more()) mute_begin(&mute);
    struct case_work work = case_work_of(shape);
    if (registry_has_more()) mute_end(&mute);
    return work;
}

const char *shape_ceiling(const struct assay_shape *shape, enum assay_temperature temperature)
{
    struct mute mute;
    if (!shape->operation->ceiling) return NULL;
    if (registry_has_more()) mute_begin(&mute);
    const char *name = shape->operation->ceiling(shape, temperature);
    if (registry_has_more()) mute_end(&mute);
    return name;
}

double shape_bytes(const struct assay_shape *shape)
{
    struct case_work work = shape_work(shape);
    return work.read_bytes + work.write_bytes;
}

double shape_buffer_bytes(const struct assay_shape *shape)
{
    struct assay_buffer buffers[ASSAY_MAX_BUFFERS];
    int count = shape->operation->buffers(shape, buffers);
    if (count < 0 || count > ASSAY_MAX_BUFFERS) return NAN;
    double bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += (double)buffers[i].count * (double)assay_type_bytes(buffers[i].type);
    return bytes;
}

static void shape_value(struct json *json, const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && !*end)
        json_int(json, value);
    else
        json_string(json, text);
}

void json_shape(struct json *json, const char *text)
{
    char copy[RESULT_MAX_SHAPE], *rest = copy, *pair;
    snprintf(copy, sizeof copy, "%s", text);
    json_begin_object(json);
    while ((pair = strsep(&rest, " "))) {
        char *value = strchr(pair, '=');
        if (!value) continue;
        *value++ = '\0';
        json_key(json, pair);
        shape_value(json, value);
    }
    json_end(json);
}
