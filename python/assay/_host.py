"""The process that runs: python -m assay._host JOB -- run ... (and the workers that this starts).

A JOB file holds the definitions of one run: plain data for the process that plans and stores, and
pickled functions, which are only loaded in a worker, each when it is needed, so that one that
cannot be loaded costs its own row.
"""

import functools
import gc
import glob
import hashlib
import inspect
import os
import pickle
import sys
import threading
import traceback
from types import SimpleNamespace

from . import _tensors
from .__main__ import program
from .errors import Error, Skip

_MOST_WORDS = 170  # of a reason, which has 255 characters with the place behind it


def describe(error):
    """One line, and where it was raised. Called for every exception that reaches the program."""
    if isinstance(error, SystemExit):
        words = f"called sys.exit({error.code!r})"
    elif isinstance(error, (Error, Skip)):
        words = str(error)
    else:
        words = f"{type(error).__name__}: {error}".rstrip(": ")
    words = " ".join(words.split())
    if len(words) > _MOST_WORDS:
        words = words[:_MOST_WORDS - 3] + "..."
    if isinstance(error, (Error, Skip)):
        return words
    own = os.path.dirname(os.path.abspath(__file__))
    places = [(os.path.abspath(frame.f_code.co_filename), line)
              for frame, line in traceback.walk_tb(error.__traceback__)]
    places = [place for place in reversed(places) if os.path.dirname(place[0]) != own]
    if not places:
        return words
    name, line = next((place for place in places if _is_users(place[0])), places[0])
    return f"{words} ({os.path.basename(name)[-40:]}:{line})"


def _is_users(name):
    """Whether a file is the user's and no library's."""
    return (name.endswith(".py") and "site-packages" not in name
            and not name.startswith((sys.prefix + os.sep, sys.base_prefix + os.sep)))


def _names(function, sizes):
    """The sizes that the function has parameters for."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    return {name: sizes[name] for name in parameters if name in sizes}


def _array(value, name):
    """What a user's function returned, as a NumPy array."""
    import numpy
    device = getattr(value, "device", "cpu")
    if str(getattr(device, "type", device)) != "cpu":
        raise Error(f"{name} is on {device}: return it on the CPU")
    if hasattr(value, "detach"):
        value = value.detach()
        # NumPy has neither bf16 nor floats of 8 bits.
        value = (value.float() if value.is_floating_point() and value.element_size() < 4
                 else value).numpy()
    array = numpy.asarray(value)
    if array.dtype.kind not in "fiub":
        raise Error(f"{name} is of type {array.dtype}, not numbers")
    return array


def _check_shape(array, shape, name):
    if array.shape != shape:
        raise Error(f"{name} has the shape {array.shape}, not {shape}")


class Host:
    """What the program calls back, in a worker. Errors are raised; `describe` words them."""

    describe = staticmethod(describe)
    skip = Skip

    def __init__(self, job):
        self.job = job
        self.lock = threading.Lock()  # references are asked for by several threads
        self.expected = {}            # one entry: outputs by what the inputs hold
        self.stream = 0

    @functools.cached_property
    def operation(self):
        """None: one of the program's own."""
        return self.job["operation"] and pickle.loads(self.job["operation"])

    def _shape(self, name, count, sizes):
        return self.operation.shapes[name].shape_at(sizes) if self.operation else (count,)

    def versions(self):
        """Stored with the run."""
        found = [f"Python {sys.version.split()[0]}"]
        for name in ("numpy", "torch", "triton", "cupy", "numba"):
            version = getattr(sys.modules.get(name), "__version__", None)
            found += [f"{name} {version}"] if version else []
        return ", ".join(found)

    # ---------------------------------------------------------------- launches

    def setup(self, name, sizes, place, buffers, stream):
        """(function, its arguments, what it may return beside None, note)."""
        variant = pickle.loads(self.job["variants"][name])
        library = variant.tensors_of or self.job["tensors_of"]
        if place == "host" and library == "cupy" and not variant.tensors_of:
            library = "numpy"
        library = _tensors.library_of(library, place, self.job["device"], stream)
        self.stream = stream
        tensors = tuple(library.view(memory, type_name, self._shape(tensor, count, sizes))
                        for tensor, _, type_name, count, memory in buffers)
        outputs = tuple(tensor for tensor, buffer in zip(tensors, buffers) if buffer[1] == "out")
        function, named = variant.function, _names(variant.function, sizes)
        if named:
            function = functools.partial(function, **named)
        if variant.prepare:
            function, tensors = function(*tensors), ()
            if not callable(function):
                raise Error(f"{name}: prepare=True, and it returned {type(function).__name__} "
                            "instead of what is launched")
        launch = functools.partial(function, *tensors)
        rehearsed, note = library.rehearse(launch, variant.clock)
        if rehearsed is not launch:
            function, tensors = rehearsed, ()
        return function, tensors, outputs, note

    # --------------------------------------------------------------- reference

    def reference(self, sizes, inputs, output, expected):
        """Write all of an output (its number among the outputs) to `expected`, doubles."""
        import numpy
        with self.lock:
            digest = hashlib.blake2b(repr(sizes).encode())
            for _, _, memory in inputs:
                digest.update(memory)
            key = digest.digest()
            if key not in self.expected:
                self.expected = {key: self._outputs(sizes, inputs)}
            numpy.frombuffer(expected, dtype="float64")[:] = self.expected[key][output]

    def _outputs(self, sizes, inputs):
        import numpy
        operation = self.operation
        arrays = []
        for tensor, type_name, memory in inputs:
            shape = operation.shapes[tensor].shape_at(sizes)
            array = _tensors.decoded(_tensors.numpy_view(memory, type_name, shape), type_name)
            array = array.astype("float64" if array.dtype.kind == "f" else "int64")
            if self.job["tensors_of"] == "torch":
                import torch
                array = torch.from_numpy(array)
            arrays.append(array)
        named = _names(operation.reference, sizes)
        found = operation.reference(*arrays, **named)
        found = found if isinstance(found, (tuple, list)) else (found,)
        outputs = [tensor for tensor in operation.shapes.values() if tensor.role == "out"]
        if len(found) != len(outputs):
            raise Error(f"it returned {len(found)} outputs, not {len(outputs)}")
        values = []
        for tensor, value in zip(outputs, found):
            array = _array(value, f"'{tensor.name}'")
            _check_shape(array, tensor.shape_at(sizes), f"'{tensor.name}'")
            if array.dtype.kind == "f" and array.dtype.itemsize < 8:
                raise Error(f"'{tensor.name}' is {array.dtype}: compute it in float64")
            values.append(numpy.ascontiguousarray(array, dtype="float64").reshape(-1))
        return values

    # -------------------------------------------------------------------- fill

    def fill(self, sizes, name, type_name, seed, memory):
        import numpy
        tensor = self.operation.shapes[name]
        shape = tensor.shape_at(sizes)
        rng = numpy.random.default_rng(seed)
        array = _array(self.operation.fill[name](SimpleNamespace(**sizes), rng), f"'{name}'")
        _check_shape(array, shape, f"'{name}'")
        to = _tensors.numpy_view(memory, type_name, shape)
        array = _tensors.encoded(array, type_name)
        if not numpy.can_cast(array.dtype, to.dtype, "same_kind"):
            raise Error(f"'{name}' is {array.dtype}, not {to.dtype}")
        to[:] = array


def find_cupti():
    """Where there is no CUDA toolkit, the hardware's clock is read by what torch brought."""
    if "ASSAY_CUPTI" in os.environ or "CUDA_HOME" in os.environ or glob.glob("/usr/local/cuda*"):
        return
    found = [path for folder in sys.path
             for path in glob.glob(f"{folder}/nvidia/*/lib/libcupti.so.*")]
    if found:
        os.environ["ASSAY_CUPTI"] = found[0]


def current_stream():
    """The stream of the call, a cudaStream_t as a number; 0 on the host."""
    return host.stream if host else 0


host = None


def main():
    global host
    path, arguments = sys.argv[1], sys.argv[3:]
    with open(path, "rb") as file:
        job = pickle.load(file)
    if arguments[:1] == ["worker"]:
        sys.path[:] = job["path"]
        host = Host(job)
        find_cupti()
        gc.disable()  # no launch waits for a collection
    itself = [sys.executable, "-m", "assay._host", path, "--"]
    code = program(itself, job["described"], host, arguments)
    if host:
        os._exit(code)  # nothing that was imported has a say in how a worker ends
    return code


if __name__ == "__main__":
    # Under its own name, so that functions which ask for the stream find it.
    from assay._host import main
    sys.exit(main())
