/*
 * module.c - the program as a module of Python, assay._assay, with one function:
 *
 *   program(itself, described, host, arguments) -> exit code
 *
 *   itself     list of str: the command that starts this again (assay_program.h)
 *   described  None, or (operations, variants): plain tuples, see described.c
 *   host       None, or in a worker the object whose methods are called back
 *              (python/assay/_host.py)
 *   arguments  list of str, the program's argv
 *
 * Called once in a process: what it reads lives as long.
 */
#include "python/module.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/assay_program.h"

/* The words of a list, ended by NULL; NULL with an exception. */
static char **words_of(PyObject *list, int *count)
{
    *count = (int)PyList_Size(list);
    char **words = *count < 0 ? NULL : calloc((size_t)*count + 1, sizeof *words);
    for (int i = 0; words && i < *count; i++) {
        /* As they were given: a file's name need not be UTF-8. */
        PyObject *bytes = PyUnicode_EncodeFSDefault(PyList_GetItem(list, i));
        const char *word = bytes ? PyBytes_AsString(bytes) : NULL;
        words[i] = word ? strdup(word) : NULL;
        Py_XDECREF(bytes);
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
    callbacks_use(host);
    if (described != Py_None && !(object = described_read(described))) return NULL;
    char **itself = words_of(itself_list, &itself_count);
    char **argv = words_of(argument_list, &argc);
    if (!itself || !argv) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    int code;
    Py_BEGIN_ALLOW_THREADS code =
        assay_program((const char *const *)itself, &object, object ? 1 : 0, argc, argv);
    Py_END_ALLOW_THREADS return PyLong_FromLong(code);
}

PyMODINIT_FUNC PyInit__assay(void); /* it is looked for by this name */
PyMODINIT_FUNC PyInit__assay(void)
{
    static PyMethodDef methods[] = {{"program", run_program, METH_VARARGS, NULL}, {0}};
    static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_assay", .m_size = -1,
                                            .m_methods = methods};
    return PyModule_Create(&definition);
}
