/* described.c - see module.h. */
#include "python/module.h"

#include <stdlib.h>
#include <string.h>

#include "case/registry.h"
#include "case/result.h"

struct definition {
    struct assay_operation operation;
    struct instance *instance;
    int instances;
};

static struct {
    struct definition *definition;
    int count;
} known;

/* ---------------------------------------------------------------- tables -- */

const struct instance *described_find(const struct assay_shape *shape)
{
    for (int d = 0; d < known.count; d++) {
        const struct definition *definition = &known.definition[d];
        if (strcmp(definition->operation.name, shape->operation->name) != 0) continue;
        int dims = 0;
        while (dims < ASSAY_MAX_DIMS && definition->operation.dims[dims].name)
            dims++;
        for (int i = 0; i < definition->instances; i++)
            if (memcmp(definition->instance[i].value, shape->value,
                       (size_t)dims * sizeof *shape->value) == 0)
                return &definition->instance[i];
    }
    return NULL;
}

static const char *supports(const struct assay_shape *shape)
{
    return described_find(shape) ? NULL : "these sizes are not among those of the operation";
}

static int write_buffers(const struct assay_shape *shape,
                         struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const struct instance *instance = described_find(shape);
    if (!instance) return 0;
    memcpy(out, instance->buffer, (size_t)instance->buffers * sizeof *out);
    return instance->buffers;
}

static struct assay_work work(const struct assay_shape *shape)
{
    const struct instance *instance = described_find(shape);
    return instance ? instance->work : (struct assay_work){0};
}

static double fp8_ops(const struct assay_shape *shape)
{
    const struct instance *instance = described_find(shape);
    return instance ? instance->fp8_ops : 0;
}

/* A reference computes all of an output at once: no range is smaller than the largest. */
static int64_t whole(const struct assay_shape *shape)
{
    const struct instance *instance = described_find(shape);
    int64_t most = 1;
    for (int b = 0; instance && b < instance->buffers; b++)
        if (instance->buffer[b].role == ASSAY_OUT && instance->buffer[b].count > most)
            most = instance->buffer[b].count;
    return most;
}

/* --------------------------------------------------------------- reading -- */

WORDS(fill, [ASSAY_FILL_UNIFORM] = "uniform", [ASSAY_FILL_NORMAL] = "normal",
      [ASSAY_FILL_INTEGER] = "integer", [ASSAY_FILL_CUSTOM] = "custom");

static int index_of(const char *word, const struct words *words, int *index)
{
    *index = words_find(words, word);
    if (*index >= 0) return 0;
    PyErr_Format(PyExc_ValueError, "unknown %s '%s'", words->what, word);
    return -1;
}

/* (name, role, type, count, fill, a, b, constant, absolute, relative) */
static int read_buffer(PyObject *from, struct assay_buffer *buffer,
                       struct assay_tolerance *tolerance)
{
    const char *role, *type, *kind;
    int role_index, type_index, kind_index, constant;
    long long count;
    if (!PyArg_ParseTuple(from, "sssLsddpdd", &buffer->name, &role, &type, &count, &kind,
                          &buffer->fill.a, &buffer->fill.b, &constant, &tolerance->abs,
                          &tolerance->rel) ||
        index_of(role, &role_words, &role_index) < 0 ||
        index_of(type, &type_words, &type_index) < 0 ||
        index_of(kind, &fill_words, &kind_index) < 0)
        return -1;
    buffer->role = (enum assay_role)role_index;
    buffer->type = (enum assay_type)type_index;
    buffer->fill.kind = (enum assay_fill_kind)kind_index;
    buffer->count = count;
    buffer->constant = constant;
    return 0;
}

/* (values, buffers, (bytes read, written, operations...)) */
static int read_instance(PyObject *from, struct instance *instance)
{
    PyObject *values, *buffers, *figures;
    if (!PyArg_ParseTuple(from, "O!O!O!", &PyTuple_Type, &values, &PyTuple_Type, &buffers,
                          &PyTuple_Type, &figures))
        return -1;
    instance->buffers = (int)PyTuple_Size(buffers);
    if (PyTuple_Size(values) > ASSAY_MAX_DIMS || instance->buffers > ASSAY_MAX_BUFFERS) {
        PyErr_Format(PyExc_ValueError, "an operation has at most %d sizes and %d tensors",
                     ASSAY_MAX_DIMS, ASSAY_MAX_BUFFERS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(values); i++)
        instance->value[i] = PyLong_AsLongLong(PyTuple_GetItem(values, i));
    for (int b = 0; b < instance->buffers; b++)
        if (read_buffer(PyTuple_GetItem(buffers, b), &instance->buffer[b],
                        &instance->tolerance[b]) < 0)
            return -1;
    double *ops = instance->work.ops;
    return PyArg_ParseTuple(figures, "ddddddddd", &instance->work.read_bytes,
                            &instance->work.write_bytes, &ops[ASSAY_FP32], &ops[ASSAY_TF32],
                            &ops[ASSAY_BF16_OPS], &ops[ASSAY_FP16_OPS], &ops[ASSAY_INT8_OPS],
                            &ops[ASSAY_FP64], &instance->fp8_ops)
               ? 0
               : -1;
}

/* (name, summary, choices or None, default) */
static int read_dim(PyObject *from, struct assay_dim *dim)
{
    PyObject *choices;
    long long fallback;
    if (!PyArg_ParseTuple(from, "ssOL", &dim->name, &dim->summary, &choices, &fallback)) return -1;
    dim->fallback = fallback;
    if (choices == Py_None) return 0;
    Py_ssize_t count = PyTuple_Size(choices);
    const char **list = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *list);
    for (Py_ssize_t i = 0; list && i < count; i++)
        list[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(choices, i), NULL);
    dim->choices = list;
    return list && !PyErr_Occurred() ? 0 : -1;
}

/* (name, summary, dims, instances) */
static int read_operation(PyObject *from, struct definition *definition)
{
    struct assay_operation *operation = &definition->operation;
    PyObject *dims, *instances;
    if (!PyArg_ParseTuple(from, "ssO!O!", &operation->name, &operation->summary, &PyTuple_Type,
                          &dims, &PyTuple_Type, &instances))
        return -1;
    definition->instances = (int)PyTuple_Size(instances);
    definition->instance = calloc((size_t)definition->instances + 1, sizeof *definition->instance);
    if (!definition->instance || PyTuple_Size(dims) > ASSAY_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "an operation has at most %d sizes", ASSAY_MAX_DIMS);
        return -1;
    }
    for (int i = 0; i < definition->instances; i++)
        if (read_instance(PyTuple_GetItem(instances, i), &definition->instance[i]) < 0) return -1;
    for (Py_ssize_t i = 0; i < PyTuple_Size(dims); i++)
        if (read_dim(PyTuple_GetItem(dims, i), &operation->dims[i]) < 0) return -1;
    operation->supports = supports;
    operation->buffers = write_buffers;
    operation->fill = callback_fill;
    operation->work = work;
    operation->fp8_ops = fp8_ops;
    operation->reference = callback_reference;
    operation->reference_run = whole;
    return 0;
}

/* (operation, name, summary, is the baseline, is by the host's clock, is for a GPU) */
static int read_variant(PyObject *from, struct assay_variant *variant)
{
    int baseline, wall, cuda;
    if (!PyArg_ParseTuple(from, "sssppp", &variant->operation, &variant->name, &variant->summary,
                          &baseline, &wall, &cuda))
        return -1;
    variant->kind = baseline ? ASSAY_BASELINE : ASSAY_KERNEL;
    variant->clock = wall ? ASSAY_CLOCK_WALL : ASSAY_CLOCK_DEVICE;
    variant->place = cuda ? ASSAY_CUDA : ASSAY_HOST;
    variant->setup = callback_setup;
    variant->launch = callback_launch;
    variant->teardown = callback_teardown;
    return 0;
}

static int load_nothing(void)
{
    return 0;
}

static const struct assay_library on_host = {ASSAY_HOST, load_nothing, callback_versions};
static const struct assay_library on_cuda = {ASSAY_CUDA, load_nothing, callback_versions};
static const struct assay_library *const libraries[] = {&on_host, &on_cuda};

const struct assay_object *described_read(PyObject *described)
{
    PyObject *operations, *variants;
    if (!PyArg_ParseTuple(described, "O!O!", &PyTuple_Type, &operations, &PyTuple_Type, &variants))
        return NULL;
    static struct assay_object object;
    int count = (int)PyTuple_Size(operations), variant_count = (int)PyTuple_Size(variants);
    known.definition = calloc((size_t)count + 1, sizeof *known.definition);
    struct assay_variant *variant = calloc((size_t)variant_count + 1, sizeof *variant);
    const struct assay_operation **operation_list =
        calloc((size_t)count + 1, sizeof *operation_list);
    const struct assay_variant **variant_list =
        calloc((size_t)variant_count + 1, sizeof *variant_list);
    if (!known.definition || !variant || !operation_list || !variant_list) {
        PyErr_NoMemory();
        return NULL;
    }
    known.count = count;
    for (int i = 0; i < count; i++) {
        operation_list[i] = &known.definition[i].operation;
        if (read_operation(PyTuple_GetItem(operations, i), &known.definition[i]) < 0) return NULL;
    }
    for (int i = 0; i < variant_count; i++) {
        variant_list[i] = &variant[i];
        if (read_variant(PyTuple_GetItem(variants, i), &variant[i]) < 0) return NULL;
    }
    object = registry_object(operation_list, count, variant_list, variant_count);
    object.libraries = libraries;
    object.library_count = 2;
    return &object;
}
