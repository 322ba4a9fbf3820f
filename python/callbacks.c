/* callbacks.c - see module.h. What Python raises becomes assay_error. */
#include "python/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/result.h"

/* Not in the limited interface before 3.11. */
#ifndef PyBUF_READ
#define PyBUF_READ  0x100
#define PyBUF_WRITE 0x200
#endif

static PyObject *host;

void callbacks_use(PyObject *used)
{
    host = used;
}

/* ------------------------------------------------------------- to Python -- */

/* assay_error with what Python raised; -1, or ASSAY_SKIP if it was assay.Skip. */
static int raised(void)
{
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (error && trace) PyException_SetTraceback(error, trace);
    PyObject *words = error ? PyObject_CallMethod(host, "describe", "O", error) : NULL;
    const char *text = words ? PyUnicode_AsUTF8AndSize(words, NULL) : NULL;
    assay_error("%s", text ? text : "an exception that cannot be described");
    PyErr_Clear();
    PyObject *skip = PyObject_GetAttrString(host, "skip");
    int status = skip && error && PyObject_IsInstance(error, skip) == 1 ? ASSAY_SKIP : -1;
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
        PyObject *one = Py_BuildValue("(sssLN)", buffer[i].name, role_name(buffer[i].role),
                                      type_name(buffer[i].type), (long long)buffer[i].count,
                                      memory_of(&buffer[i], call->buffer[i], is_host, PyBUF_WRITE));
        if (!one || PyTuple_SetItem(all, i, one) < 0) Py_CLEAR(all);
    }
    return all;
}

bool callback_versions(char *out, size_t size)
{
    if (!host || host == Py_None) return false;
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *words = PyObject_CallMethod(host, "versions", NULL);
    const char *text = words ? PyUnicode_AsUTF8AndSize(words, NULL) : NULL;
    if (text) snprintf(out, size, "%s", text);
    Py_XDECREF(words);
    PyErr_Clear();
    PyGILState_Release(held);
    return text != NULL;
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
                         ? PyObject_CallMethod(host, "setup", "sOsOK", call->variant->name, sizes,
                                               is_host ? "host" : "cuda", buffers,
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

int callback_setup(struct assay_call *call)
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

int callback_launch(struct assay_call *call)
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

void callback_teardown(struct assay_call *call)
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

/* ((name, type, memory), ...) of the inputs. */
static PyObject *inputs_of(const struct instance *instance, const void *const in[])
{
    PyObject *inputs = PyList_New(0);
    for (int b = 0; inputs && b < instance->buffers; b++) {
        const struct assay_buffer *buffer = &instance->buffer[b];
        if (buffer->role != ASSAY_IN) continue;
        PyObject *one = Py_BuildValue("(ssN)", buffer->name, type_name(buffer->type),
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
        done = PyObject_CallMethod(host, "reference", "OOiN", sizes, inputs, output,
                                   PyMemoryView_FromMemory((char *)expected, bytes, PyBUF_WRITE));
    if (!done) raised();
    int status = done ? 0 : -1;
    Py_XDECREF(done);
    Py_XDECREF(sizes);
    Py_XDECREF(inputs);
    PyGILState_Release(held);
    return status;
}

int callback_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                       int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct instance *instance = described_find(shape);
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

int callback_fill(const struct assay_shape *shape, int buffer, uint64_t seed, void *memory)
{
    const struct assay_buffer *spec = &described_find(shape)->buffer[buffer];
    PyGILState_STATE held = PyGILState_Ensure();
    PyObject *sizes = sizes_of(shape);
    PyObject *done = sizes ? PyObject_CallMethod(host, "fill", "OssKN", sizes, spec->name,
                                                 type_name(spec->type), (unsigned long long)seed,
                                                 memory_of(spec, memory, true, PyBUF_WRITE))
                           : NULL;
    if (!done) raised();
    int status = done ? 0 : -1;
    Py_XDECREF(done);
    Py_XDECREF(sizes);
    PyGILState_Release(held);
    return status;
}
