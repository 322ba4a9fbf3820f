"""The harness's buffers as tensors, without a copy, and the stream of the call made current.

A buffer is a memoryview (host) or an address (GPU). `view(library, ...)` wraps one; the tensors of a
call are made once, before anything is timed.
"""

import time
import warnings

from .errors import Error
from .operation import TYPE_BYTES

_NUMPY = dict(f32="float32", f64="float64", f16="float16", bf16="uint16", i8="int8", u8="uint8",
              i16="int16", i32="int32", u32="uint32", i64="int64", e4m3="uint8", e5m2="uint8")
_TORCH = dict(_NUMPY, bf16="bfloat16", e4m3="float8_e4m3fn", e5m2="float8_e5m2")
# Types that NumPy does not have, as their bits.
_BITS = ("bf16", "e4m3", "e5m2")

# A launch that takes the host longer is replayed from a graph. The harness hides what is shorter
# (it holds the stream for up to 2 ms, one and a half times what the launch takes).
GRAPH_FROM_S = 1e-3


class _Memory:
    """GPU memory as other libraries take it."""

    def __init__(self, address, count):
        self.__cuda_array_interface__ = dict(data=(address, False), shape=(count,), typestr="|u1",
                                             strides=None, version=3)


class _Stream:
    """A cudaStream_t as other libraries take it."""

    def __init__(self, number):
        self.number = number

    def __cuda_stream__(self):
        return 0, self.number


def numpy_view(memory, type_name, shape):
    """Types that NumPy does not have come as their bits."""
    import numpy
    return numpy.frombuffer(memory, dtype=_NUMPY[type_name]).reshape(shape)


def _magnitudes(type_name):
    """The numbers of the 128 codes without sign of an 8-bit float (OCP, OFP8)."""
    import numpy
    bits, bias = (3, 7) if type_name == "e4m3" else (2, 15)
    code = numpy.arange(128)
    exponent, fraction = code >> bits, code & ((1 << bits) - 1)
    value = numpy.ldexp(fraction + (exponent > 0) * (1 << bits),
                        numpy.maximum(exponent, 1) - bias - bits)
    if type_name == "e5m2":
        value[124] = numpy.inf
    value[127 if type_name == "e4m3" else 125:] = numpy.nan
    return value


def decoded(array, type_name):
    """A view of numpy_view as numbers."""
    import numpy
    if type_name not in _BITS:
        return array
    if type_name == "bf16":
        return (array.astype("uint32") << 16).view("float32")
    value = _magnitudes(type_name)[array & 0x7f]
    return numpy.where(array & 0x80, -value, value)


def encoded(array, type_name):
    """Numbers as numpy_view has them: rounded to nearest even; 8-bit floats saturate."""
    import numpy
    if type_name not in _BITS:
        return array
    if type_name == "bf16":
        bits = numpy.ascontiguousarray(array, dtype="float32").view("uint32")
        return ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype("uint16")
    array = numpy.asarray(array, dtype="float64")
    value = _magnitudes(type_name)
    value = value[numpy.isfinite(value)]
    middle = (value[1:] + value[:-1]) / 2
    below = numpy.searchsorted(middle, abs(array), "left")
    above = numpy.searchsorted(middle, abs(array), "right")
    code = numpy.where(below % 2, above, below)  # they differ where it is a tie
    code = numpy.where(numpy.isnan(array), 0x7f, code) | numpy.where(numpy.signbit(array), 0x80, 0)
    return code.astype("uint8")


def torch_view(memory, type_name, shape, device=None):
    import torch
    if device is None:
        data = torch.frombuffer(memory, dtype=torch.uint8)
    else:
        count = TYPE_BYTES[type_name]
        for size in shape:
            count *= size
        data = torch.as_tensor(_Memory(memory, count), device=f"cuda:{device}")
        if data.data_ptr() != memory:
            raise Error("torch copied a buffer instead of using it")
    return data.view(getattr(torch, _TORCH[type_name])).view(shape)


def cupy_view(memory, type_name, shape, device):
    import cupy
    dtype = cupy.dtype(_NUMPY[type_name])
    count = dtype.itemsize
    for size in shape:
        count *= size
    owner = cupy.cuda.UnownedMemory(memory, count, None, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(owner, 0))


class Host:
    """Tensors of host variants; a launch is the call itself."""

    def __init__(self, library):
        if library == "cupy":
            raise Error("cupy's arrays are on a GPU: tensors_of='numpy' or 'torch' on the host")
        self.view = torch_view if library == "torch" else numpy_view

    def rehearse(self, launch, clock):
        return launch, ""


class Torch:
    def __init__(self, device, stream):
        import torch
        self.torch, self.device = torch, device
        torch.cuda.set_device(device)
        self.stream = torch.cuda.ExternalStream(stream, device=device)
        torch.cuda.set_stream(self.stream)

    def view(self, memory, type_name, shape):
        return torch_view(memory, type_name, shape, self.device)

    def capture(self, launch):
        graph = self.torch.cuda.CUDAGraph()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with self.torch.cuda.graph(graph, stream=self.stream,
                                       capture_error_mode="thread_local"):
                launch()
        if any("graph is empty" in str(warning.message).lower() for warning in said):
            raise Error("it launched nothing on the current stream")
        return graph.replay

    def rehearse(self, launch, clock):
        return _rehearse(self, launch, clock)


class Cupy:
    def __init__(self, device, stream):
        import cupy
        self.cupy, self.device = cupy, device
        cupy.cuda.Device(device).use()
        external = getattr(cupy.cuda.Stream, "from_external", None)  # since CuPy 14
        self.stream = (external(_Stream(stream)) if external
                       else cupy.cuda.ExternalStream(stream, device))
        self.stream.use()

    def view(self, memory, type_name, shape):
        return cupy_view(memory, type_name, shape, self.device)

    def capture(self, launch):
        mode = self.cupy.cuda.runtime.streamCaptureModeThreadLocal
        self.stream.begin_capture(mode)
        try:
            launch()
        finally:
            graph = self.stream.end_capture()
        return lambda: graph.launch(self.stream)

    def rehearse(self, launch, clock):
        return _rehearse(self, launch, clock)


def _rehearse(library, launch, clock):
    """What is launched, and a note of how.

    The first call compiles and tunes. A capture then refuses what a launch must not do:
    synchronise, allocate from the driver, use no current stream.
    """
    launch()
    library.stream.synchronize()
    if clock == "wall":
        return launch, ""
    try:
        replay = library.capture(launch)
    except Exception as error:
        library.stream.synchronize()
        first = error
        while first.__cause__ or first.__context__:
            first = first.__cause__ or first.__context__
        if "captur" not in str(first).lower():
            raise first
        # CUDA's words are about captures, which the user never asked for.
        raise Error("a launch may only enqueue on the current stream, and it synchronised, "
                    "allocated or used another one (a variant that does so by design says "
                    "clock='wall')") from error
    taken_s = min(_enqueue_s(library, launch) for _ in range(3))
    if taken_s <= GRAPH_FROM_S:
        return launch, ""
    return replay, f"replayed from a graph: launching it took the host {1e3 * taken_s:.1f} ms"


def _enqueue_s(library, launch):
    library.stream.synchronize()
    start = time.perf_counter()
    launch()
    taken_s = time.perf_counter() - start
    library.stream.synchronize()
    return taken_s


def library_of(name, place, device, stream):
    """What makes the tensors of a call. `name`: "torch", "cupy" or "numpy"."""
    if place == "host":
        return Host(name)
    if name == "torch":
        return Torch(device, stream)
    if name == "cupy":
        return Cupy(device, stream)
    raise Error("numpy has no arrays on a GPU: import torch or cupy, or say tensors_of=")
