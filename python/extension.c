/*
 * extension.c - the program as a module of Python, assay._assay, with one function:
 *
 *   program(itself, described, host, arguments) -> exit code
 *
 *   itself     list of str: the command that starts this again (assay_program.h)
 *   described  None, or (operations, variants): plain tuples, see the read_ functions
 *   host       None, or in a worker the object whose methods are called back
 *              (python/assay/_host.py)
 *   arguments  list of str, the program's argv
 *
 * Shapes, buffers and work of an operation are tables, so that planning runs no Python. What a
 * variant or a reference raises becomes assay_error. Called once in a process: what it reads here
 * lives as long.
 */
#define Py_LIMITED_API 0x030A0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "cmd/assay_program.h"

/* Not in the limited interface before 3.11. */
#ifndef PyBUF_READ
#define PyBUF_READ  0x100
#define PyBUF_WRITE 0x200
#endif

/* One of the sizes for which an operation was described. */
struct instance {
    int64_t value[ASSAY_MAX_DIMS];
    int buffers;
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    struct assay_tolerance tolerance[ASSAY_MAX_BUFFERS];
    struct assay_work work;
};

struct definition {
    struct assay_operation operation;
    struct instance *instance;
    int instances;
};

static struct {
    PyObject *host;
    struct definition *definition;
    int definitions;
} module;

/* ------------------------------------------------------------- to Python -- */

/* assay_error with what Python raised; -1, or ASSAY_SKIP if it was assay.Skip. */
static int raised(void)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (error && trace) PyException_SetTraceback(error, trace);
    PyObject *words = error ? PyObject_CallMethod(module.host, "describe", "O", error) : NULL;
    const char *text = words ? PyUnicode_AsUTF8AndSize(words, NULL) : NULL;
    assay_error("%s", text ? text : "an exception that cannot be described");
    PyObject *skip = PyObject_GetAttrString(module.host, "skip");
    int status = skip && error && PyObject_IsInstance(error, skip) == 1 ? ASSAY_SKIP : -1;
    PyErr_Clear();
    Py_XDECREF(skip);
    Py_XDECREF(words);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return status;
}

/* The sizes of a shape, {name: count or choice}. */
static PyObject *sizes_of(const struct assay_shape *shape)
{
    PyObject *sizes = PyDict_New();
    for (int i = 0; sizes && i < ASSAY_MAX_DIMS && shape->operation->dims[i].name; i++) {
        const struct assay_dim *dim = &shape->operation->dims[i];
        PyObject *value = dim->choices ? PyUnicode_FromString(dim->choices[shape->value[i]])
                                       : PyLong_FromLongLong(shape->value[i]);
        if (!value || PyDict_SetItemString(sizes, dim->name, value) < 0) Py_CLEAR(sizes);
        Py_XDECREF(value);
    }
    return sizes;
}

static const char *const role_names[] = {
    [ASSAY_IN] = "in", [ASSAY_OUT] = "out", [ASSAY_SCRATCH] = "scratch", NULL};
static const char *const type_names[] = {[ASSAY_F32] = "f32",
                                         [ASSAY_F64] = "f64",
                                         [ASSAY_F16] = "f16",
                                         [ASSAY_BF16] = "bf16",
                                         [ASSAY_I8] = "i8",
                                         [ASSAY_U8] = "u8",
                                         [ASSAY_I16] = "i16",
                                         [ASSAY_I32] = "i32",
                                         [ASSAY_U32] = "u32",
                                         [ASSAY_I64] = "i64",
                                         NULL};
_Static_assert(sizeof type_names / sizeof *type_names == ASSAY_TYPES + 1, "one name for each type");

static PyObject *memory_of(const struct assay_buffer *buffer, const void *memory, bool is_host,
                           int flags)
{
    if (!is_host) return PyLong_FromVoidPtr((void *)memory);
    Py_ssize_t bytes = (Py_ssize_t)((size_t)buffer->count * assay_type_bytes(buffer->type));
    return PyMemoryView_FromMemory((char *)memory, bytes, flags);
}

/* ((name, role, type, count, memory), ...) of a call. */
static PyObject *buffers_of(const struct assay_call *call, bool is_host)
{
    struct assay_buffer buffer[ASSAY_MAX_BUFFERS];
    memset(buffer, 0, sizeof buffer);
    int count = call->shape->operation->buffers(call->shape, buffer);
    PyObject *all = PyTuple_New(count);
    for (int i = 0; all && i < count; i++) {
        PyObject *one = Py_BuildValue("(sssLN)", buffer[i].name, role_names[buffer[i].role],
                                      type_names[buffer[i].type], (long long)buffer[i].count,
                                      memory_of(&buffer[i], call->buffer[i], is_host, PyBUF_WRITE));
        if (!one || PyTuple_SetItem(all, i, one) < 0) Py_CLEAR(all);
    }
    return all;
}

/* -------------------------------------------------------------- variants -- */

/* What a set-up variant launches. */
struct ready {
    PyObject *function, *arguments;
    PyObject *outputs; /* what it may return */
};

static int set_up(struct assay_call *call)
{
    bool is_host = call->variant->place == ASSAY_HOST;
    const char *note;
    struct ready *ready = calloc(1, sizeof *ready);
    if (!ready) return assay_error("out of host memory for a call");
    call->state = ready;
    PyObject *sizes = sizes_of(call->shape), *buffers = buffers_of(call, is_host);
    PyObject *made = sizes && buffers
                         ? PyObject_CallMethod(module.host, "setup", "sOsOK", call->variant->name,
                                               sizes, is_host ? "host" : "cuda", buffers,
                                               (unsigned long long)(uintptr_t)call->stream)
                         : NULL;
    int status = made && PyArg_ParseTuple(made, "OOOs", &ready->function, &ready->arguments,
                                          &ready->outputs, &note)
                     ? 0
                     : raised();
    if (status == 0) {
        snprintf(call->note, sizeof call->note, "%s", note);
        Py_INCREF(ready->function);
        Py_INCREF(ready->arguments);
        Py_INCREF(ready->outputs);
    } else {
        *ready = (struct ready){NULL, NULL, NULL};
    }
    Py_XDECREF(sizes);
    Py_XDECREF(buffers);
    Py_XDECREF(made);
    return status;
}

static int setup(struct assay_call *call)
{
    PyGILState_STATE held = PyGILState_Ensure();
    int status = set_up(call);
    PyGILState_Release(held);
    return status;
}

/* A result is nothing, an output, or all of them: anything else is not where it is looked for. */
static int check_result(const struct ready *ready, PyObject *result)
{
    if (result == Py_None) return 0;
    Py_ssize_t outputs = PyTuple_Size(ready->outputs);
    bool is_tuple = PyTuple_Check(result) && PyTuple_Size(result) == outputs;
    bool is_each = is_tuple;
    for (Py_ssize_t i = 0; i < outputs; i++) {
        PyObject *output = PyTuple_GetItem(ready->outputs, i);
        if (result == output) return 0;
        is_each = is_each && PyTuple_GetItem(result, i) == output;
    }
    if (is_each) return 0;
    PyObject *type = PyObject_GetAttrString((PyObject *)Py_TYPE(result), "__name__");
    const char *name = type ? PyUnicode_AsUTF8AndSize(type, NULL) : NULL;
    assay_error("it returned a new %s: it writes its outputs in place, and returns nothing",
                name ? name : "object");
    Py_XDECREF(type);
    PyErr_Clear();
    return -1;
}

static int launch(struct assay_call *call)
{
    const struct ready *ready = call->state;
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *result = PyObject_Call(ready->function, ready->arguments, NULL);
    int status = 0;
    if (!result) {
        raised();
        status = -1;
    } else if (result != Py_None) {
        status = check_result(ready, result);
    }
    Py_XDECREF(result);
    PyGILState_Release(held);
    return status;
}

static void teardown(struct assay_call *call)
{
    struct ready *ready = call->state;
    if (!ready) return;
    PyGILState_STATE held = PyGILState_Ensure();
    Py_XDECREF(ready->function);
    Py_XDECREF(ready->arguments);
    Py_XDECREF(ready->outputs);
    PyGILState_Release(held);
    free(ready);
    call->state = NULL;
}

/* ------------------------------------------------------------ operations -- */

static const struct instance *find(const struct assay_shape *shape)
{
    for (int d = 0; d < module.definitions; d++) {
        const struct definition *definition = &module.definition[d];
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
    return find(shape) ? NULL : "these sizes are not among those of the operation";
}

static int write_buffers(const struct assay_shape *shape,
                         struct assay_buffer out[ASSAY_MAX_BUFFERS])
{
    const struct instance *instance = find(shape);
    if (!instance) return 0;
    memcpy(out, instance->buffer, (size_t)instance->buffers * sizeof *out);
    return instance->buffers;
}

static struct assay_work work(const struct assay_shape *shape)
{
    const struct instance *instance = find(shape);
    return instance ? instance->work : (struct assay_work){0};
}

/* A reference computes all of an output at once: no range is smaller than the largest. */
static int64_t whole(const struct assay_shape *shape)
{
    const struct instance *instance = find(shape);
    int64_t most = 1;
    for (int b = 0; instance && b < instance->buffers; b++)
        if (instance->buffer[b].role == ASSAY_OUT && instance->buffer[b].count > most)
            most = instance->buffer[b].count;
    return most;
}

/* ((name, type, memory), ...) of the inputs. */
static PyObject *inputs_of(const struct instance *instance, const void *const in[])
{
    PyObject *inputs = PyList_New(0);
    for (int b = 0; inputs && b < instance->buffers; b++) {
        const struct assay_buffer *buffer = &instance->buffer[b];
        if (buffer->role != ASSAY_IN) continue;
        PyObject *one = Py_BuildValue("(ssN)", buffer->name, type_names[buffer->type],
                                      memory_of(buffer, in[b], true, PyBUF_READ));
        if (!one || PyList_Append(inputs, one) < 0) Py_CLEAR(inputs);
        Py_XDECREF(one);
    }
    return inputs;
}

static int call_reference(const struct assay_shape *shape, const struct instance *instance,
                          const void *const in[], int buffer, double *expected)
{
    int output = 0;
    for (int b = 0; b < buffer; b++)
        output += instance->buffer[b].role == ASSAY_OUT;
    Py_ssize_t bytes = (Py_ssize_t)((size_t)instance->buffer[buffer].count * sizeof *expected);
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *sizes = sizes_of(shape), *inputs = inputs_of(instance, in), *done = NULL;
    if (sizes && inputs)
        done = PyObject_CallMethod(module.host, "reference", "OOiN", sizes, inputs, output,
                                   PyMemoryView_FromMemory((char *)expected, bytes, PyBUF_WRITE));
    if (!done) raised();
    int status = done ? 0 : -1;
    Py_XDECREF(done);
    Py_XDECREF(sizes);
    Py_XDECREF(inputs);
    PyGILState_Release(held);
    return status;
}

static int reference(const struct assay_shape *shape, const void *const in[], int buffer,
                     int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct instance *instance = find(shape);
    int64_t count = instance->buffer[buffer].count;
    /* `whole` says so; a part is asked for where one output is larger than another. */
    bool is_part = end - begin < count;
    double *all = is_part ? malloc((size_t)count * sizeof *all) : expected;
    if (!all) return assay_error("out of host memory for a reference");
    int status = call_reference(shape, instance, in, buffer, all);
    if (is_part && status == 0) memcpy(expected, all + begin, (size_t)(end - begin) * sizeof *all);
    if (is_part) free(all);
    const struct assay_tolerance *tolerance = &instance->tolerance[buffer];
    for (int64_t i = 0; status == 0 && i < end - begin; i++) {
        double value = expected[i] < 0 ? -expected[i] : expected[i];
        bound[i] = tolerance->abs + tolerance->rel * value;
    }
    return status;
}

static int fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *host)
{
    const struct assay_buffer *spec = &find(shape)->buffer[buffer];
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *sizes = sizes_of(shape);
    PyObject *done = sizes ? PyObject_CallMethod(module.host, "fill", "OssKN", sizes, spec->name,
                                                 type_names[spec->type], (unsigned long long)seed,
                                                 memory_of(spec, host, true, PyBUF_WRITE))
                           : NULL;
    if (!done) raised();
    int status = done ? 0 : -1;
    Py_XDECREF(done);
    Py_XDECREF(sizes);
    PyGILState_Release(held);
    return status;
}

/* -------------------------------------------------------- what is described -- */

static int index_of(const char *name, const char *const *names, int *index)
{
    for (*index = 0; names[*index]; ++*index)
        if (strcmp(names[*index], name) == 0) return 0;
    PyErr_Format(PyExc_ValueError, "unknown word '%s'", name);
    return -1;
}

/* (name, role, type, count, fill, a, b, constant, absolute, relative) */
static int read_buffer(PyObject *from, struct assay_buffer *buffer,
                       struct assay_tolerance *tolerance)
{
    static const char *const fills[] = {[ASSAY_FILL_UNIFORM] = "uniform",
                                        [ASSAY_FILL_NORMAL] = "normal",
                                        [ASSAY_FILL_INTEGER] = "integer",
                                        [ASSAY_FILL_CUSTOM] = "custom",
                                        NULL};
    const char *role, *type, *kind;
    int role_index, type_index, kind_index, constant;
    long long count;
    if (!PyArg_ParseTuple(from, "sssLsddpdd", &buffer->name, &role, &type, &count, &kind,
                          &buffer->fill.a, &buffer->fill.b, &constant, &tolerance->abs,
                          &tolerance->rel) ||
        index_of(role, role_names, &role_index) < 0 ||
        index_of(type, type_names, &type_index) < 0 || index_of(kind, fills, &kind_index) < 0)
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
    return PyArg_ParseTuple(figures, "dddddddd", &instance->work.read_bytes,
                            &instance->work.write_bytes, &ops[ASSAY_FP32], &ops[ASSAY_TF32],
                            &ops[ASSAY_BF16_OPS], &ops[ASSAY_FP16_OPS], &ops[ASSAY_INT8_OPS],
                            &ops[ASSAY_FP64])
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
    operation->fill = fill;
    operation->work = work;
    operation->reference = reference;
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
    variant->setup = setup;
    variant->launch = launch;
    variant->teardown = teardown;
    return 0;
}

/* NULL with an exception. */
static const struct assay_object *read_object(PyObject *described)
{
    PyObject *operations, *variants;
    if (!PyArg_ParseTuple(described, "O!O!", &PyTuple_Type, &operations, &PyTuple_Type, &variants))
        return NULL;
    static struct assay_object object;
    int count = (int)PyTuple_Size(operations), variant_count = (int)PyTuple_Size(variants);
    module.definition = calloc((size_t)count + 1, sizeof *module.definition);
    struct assay_variant *variant = calloc((size_t)variant_count + 1, sizeof *variant);
    const struct assay_operation **operation_list =
        calloc((size_t)count + 1, sizeof *operation_list);
    const struct assay_variant **variant_list =
        calloc((size_t)variant_count + 1, sizeof *variant_list);
    if (!module.definition || !variant || !operation_list || !variant_list) {
        PyErr_NoMemory();
        return NULL;
    }
    module.definitions = count;
    for (int i = 0; i < count; i++) {
        operation_list[i] = &module.definition[i].operation;
        if (read_operation(PyTuple_GetItem(operations, i), &module.definition[i]) < 0) return NULL;
    }
    for (int i = 0; i < variant_count; i++) {
        variant_list[i] = &variant[i];
        if (read_variant(PyTuple_GetItem(variants, i), &variant[i]) < 0) return NULL;
    }
    object = (struct assay_object){.abi_major = ASSAY_ABI_MAJOR,
                                   .abi_minor = ASSAY_ABI_MINOR,
                                   .object_bytes = sizeof object,
                                   .operation_bytes = sizeof(struct assay_operation),
                                   .variant_bytes = sizeof(struct assay_variant),
                                   .library_bytes = sizeof(struct assay_library),
                                   .fixed_bytes = ASSAY_FIXED_BYTES,
                                   .operations = operation_list,
                                   .operation_count = count,
                                   .variants = variant_list,
                                   .variant_count = variant_count};
    return &object;
}

/* ---------------------------------------------------------------- module -- */

/* The words of a list, ended by NULL; NULL with an exception. */
static char **words_of(PyObject *list, int *count)
{
    *count = (int)PyList_Size(list);
    char **words = *count < 0 ? NULL : calloc((size_t)*count + 1, sizeof *words);
    for (int i = 0; words && i < *count; i++) {
        const char *word = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        words[i] = word ? strdup(word) : NULL;
        if (!words[i]) return NULL;
    }
    return words;
}

static PyObject *run_program(PyObject *self, PyObject *arguments)
{
    PyObject *itself_list, *described, *host, *argument_list;
    const struct assay_object *object = NULL;
    int itself_count, argc;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!OOO!", &PyList_Type, &itself_list, &described, &host,
                          &PyList_Type, &argument_list))
        return NULL;
    Py_INCREF(described);
    Py_INCREF(host);
    module.host = host;
    if (described != Py_None && !(object = read_object(described))) return NULL;
    char **itself = words_of(itself_list, &itself_count);
    char **argv = words_of(argument_list, &argc);
    if (!itself || !argv) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    int code;
    Py_BEGIN_ALLOW_THREADS code =
        assay_program((const char *const *)itself, &object, object ? 1 : 0, argc, argv);
    Py_END_ALLOW_THREADS return PyLong_FromLong(code);
}

PyMODINIT_FUNC PyInit__assay(void)
{
    static PyMethodDef methods[] = {{"program", run_program, METH_VARARGS, NULL}, {0}};
    static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_assay", .m_size = -1,
                                            .m_methods = methods};
    return PyModule_Create(&definition);
}
