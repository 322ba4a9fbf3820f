/* bench_python.c - `expect = FILE.py`: its function `reference` in a Python of its own. Inputs and
 * answer travel as files in a temporary folder; what Python says last is the error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/process.h"
#include "base/temp_folder.h"
#include "bench/bench.h"
#include "case/shape.h"

/* Arguments: the file, the folder, which output. `what` has a line per size and buffer. */
static const char program[] =
    "import importlib.util, inspect, os, sys\n"
    "import numpy as np\n"
    "file, folder, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])\n"
    "inputs, outputs, sizes = [], [], {}\n"
    "def read(name, kind):\n"
    "    data = np.fromfile(os.path.join(folder, 'in.' + name), kind)\n"
    "    return data.astype('f8' if kind[0] == 'f' else 'i8')\n"
    "for line in open(os.path.join(folder, 'what')):\n"
    "    role, name, kind, count = line.split()\n"
    "    if role == 'size': sizes[name] = int(count)\n"
    "    elif role == 'in': inputs.append(read(name, kind))\n"
    "    else: outputs.append((name, int(count)))\n"
    "sys.path.insert(0, os.path.dirname(file))\n"
    "spec = importlib.util.spec_from_file_location('expected', file)\n"
    "module = importlib.util.module_from_spec(spec)\n"
    "spec.loader.exec_module(module)\n"
    "if not hasattr(module, 'reference'): sys.exit('it has no function reference')\n"
    "known = inspect.signature(module.reference).parameters\n"
    "made = module.reference(*inputs, **{name: sizes[name] for name in known if name in sizes})\n"
    "made = made if isinstance(made, tuple) else (made,)\n"
    "if len(made) != len(outputs):\n"
    "    sys.exit(f'it returned {len(made)} outputs, not {len(outputs)}')\n"
    "name, count = outputs[wanted]\n"
    "answer = np.asarray(made[wanted], dtype='f8').ravel()\n"
    "if answer.size != count: sys.exit(f'{name} has {answer.size} elements, not {count}')\n"
    "answer.tofile(os.path.join(folder, 'expected'))\n";

/* NumPy's names. Floats that it does not have travel as doubles. */
static const char *const kinds[ASSAY_TYPES] = {
    [ASSAY_F32] = "f4", [ASSAY_F64] = "f8", [ASSAY_F16] = "f2",
    [ASSAY_I8] = "i1",  [ASSAY_U8] = "u1",  [ASSAY_I16] = "i2",
    [ASSAY_I32] = "i4", [ASSAY_U32] = "u4", [ASSAY_I64] = "i8"};

static const char *kind_of(enum assay_type type)
{
    return kinds[type] ? kinds[type] : kinds[ASSAY_F64];
}

/* A file of the folder: its name is short, so that it fits behind the folder's. */
static void file_path(const struct temp_folder *folder, const char *name, char out[PATH_MAX + 64])
{
    snprintf(out, PATH_MAX + 64, "%s/%s", folder->path, name);
}

static int write_file(const struct temp_folder *folder, const char *name, const void *bytes,
                      size_t size)
{
    char path[PATH_MAX + 64];
    file_path(folder, name, path);
    return temp_folder_write(path, bytes, size);
}

static int write_input(const struct temp_folder *folder, const char *name,
                       const struct assay_buffer *spec, const void *in)
{
    if (kinds[spec->type])
        return write_file(folder, name, in, (size_t)spec->count * assay_type_bytes(spec->type));
    double *wide = malloc((size_t)spec->count * sizeof *wide);
    if (!wide) return assay_error("out of memory for a reference");
    for (int64_t i = 0; i < spec->count; i++)
        wide[i] = assay_load(spec->type, in, i);
    int status = write_file(folder, name, wide, (size_t)spec->count * sizeof *wide);
    free(wide);
    return status;
}

/* Sizes, inputs, what outputs are. Which output `buffer` is, or -1 with assay_error. */
static int write_inputs(const struct assay_shape *shape, const void *const in[], int buffer,
                        const struct assay_buffer *buffers, int count,
                        const struct temp_folder *folder)
{
    char *text = NULL;
    size_t length;
    int output = 0, dims = shape_dims(shape->operation), status = 0;
    FILE *what = open_memstream(&text, &length);
    if (!what) return assay_error("out of memory for a reference");
    for (int i = 0; i < dims; i++)
        fprintf(what, "size %s - %lld\n", shape->operation->dims[i].name,
                (long long)shape->value[i]);
    for (int b = 0; b < count && status == 0; b++) {
        const struct assay_buffer *spec = &buffers[b];
        if (spec->role == ASSAY_SCRATCH) continue;
        fprintf(what, "%s %s %s %lld\n", spec->role == ASSAY_IN ? "in" : "out", spec->name,
                kind_of(spec->type), (long long)spec->count);
        char file[ASSAY_MAX_NAME + 4]; /* apart from the other files, whatever it is called */
        snprintf(file, sizeof file, "in.%s", spec->name);
        if (spec->role == ASSAY_IN) status = write_input(folder, file, spec, in[b]);
        output += spec->role == ASSAY_OUT && b < buffer;
    }
    if (fclose(what) != 0 && status == 0) status = assay_error("out of memory for a reference");
    if (status == 0) status = write_file(folder, "what", text, length);
    free(text);
    return status ? -1 : output;
}

static int said(const struct bench *bench, char *text)
{
    const char *last = "it ended without a word";
    for (char *line; (line = strsep(&text, "\n"));)
        if (line[strspn(line, " ")]) last = line;
    return assay_error("%s: %.159s", bench->reference_file, last);
}

static int run_python(const struct bench *bench, const struct temp_folder *folder, int output)
{
    const char *named = getenv("ASSAY_PYTHON"), *python = named && *named ? named : "python3";
    char number[16], *text;
    int status;
    snprintf(number, sizeof number, "%d", output);
    const char *argv[] = {python, "-c", program, bench->reference_file, folder->path, number, NULL};
    int error = process_output(argv, true, &text, &status);
    if (error) return assay_error("%s cannot be started: %s", python, strerror(error));
    bool is_fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    int failed = is_fine ? 0 : said(bench, text);
    free(text);
    return failed;
}

static int read_answer(const struct temp_folder *folder, int64_t begin, int64_t end,
                       double *expected)
{
    char path[PATH_MAX + 64];
    file_path(folder, "expected", path);
    FILE *in = fopen(path, "rb");
    size_t count = (size_t)(end - begin);
    bool is_read = in && fseeko(in, (off_t)begin * (off_t)sizeof *expected, SEEK_SET) == 0 &&
                   fread(expected, sizeof *expected, count, in) == count;
    if (in) fclose(in);
    return is_read ? 0 : assay_error("%s: cannot be read", path);
}

int bench_python_reference(const struct assay_shape *shape, const void *const in[], int buffer,
                           int64_t begin, int64_t end, double *expected, double *bound)
{
    const struct bench *bench = bench_of(shape->operation);
    struct assay_buffer buffers[ASSAY_MAX_BUFFERS];
    struct temp_folder folder;
    (void)bound; /* by the output's type */
    int count = bench->operation.buffers(shape, buffers);
    if (temp_folder_make(&folder, "reference")) return -1;
    int output = write_inputs(shape, in, buffer, buffers, count, &folder);
    int status = output < 0 ? -1 : run_python(bench, &folder, output);
    if (status == 0) status = read_answer(&folder, begin, end, expected);
    temp_folder_remove(&folder);
    return status;
}

int64_t bench_python_run(const struct assay_shape *shape)
{
    struct assay_buffer buffers[ASSAY_MAX_BUFFERS];
    int count = shape->operation->buffers(shape, buffers);
    int64_t most = 1;
    for (int b = 0; b < count; b++)
        if (buffers[b].role == ASSAY_OUT && buffers[b].count > most) most = buffers[b].count;
    return most;
}
