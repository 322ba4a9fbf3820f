"""What is measured: an operation, its sizes and tensors, and the variants of it.

    @assay.operation(reference=reference, sizes=dict(rows=[1024, 16384], columns=[4096]))
    def softmax(x: "in f32[rows, columns]", out: "out f32[rows, columns]"): ...

Everything that depends on sizes alone (shapes, bytes, operations) is computed here, in the process
that asks for the run: `Operation.describe` gives plain data, and the process that plans and stores
the run executes nothing of the user's.
"""

import ast
import inspect
import itertools
import math
import re
from types import SimpleNamespace

from .errors import Error

TYPE_BYTES = dict(f32=4, f64=8, f16=2, bf16=2, i8=1, u8=1, i16=2, i32=4, u32=4, i64=8,
                  e4m3=1, e5m2=1)
FLOATS = ("f32", "f64", "f16", "bf16", "e4m3", "e5m2")
ARITHMETICS = ("fp32", "tf32", "bf16", "fp16", "int8", "fp64", "fp8")
# (absolute, relative), as torch.testing.assert_close has them; integers are exact.
TOLERANCE = dict(f64=(1e-7, 1e-7), f32=(1e-5, 1.3e-6), f16=(1e-5, 1e-3), bf16=(1e-5, 1.6e-2),
                 e4m3=(1e-5, 0.125), e5m2=(1e-5, 0.25))
# Numbers behind the word, and what they are if none is given.
FILLS = dict(normal=(0.0, 1.0), uniform=(0.0, 1.0), integer=None)

_TENSOR = re.compile(r"(in|out|scratch)\s+(\w+)\s*\[(.*)\]\s*([^\]]*)")
_EXPRESSION = dict(__builtins__={}, min=min, max=max, ceil=math.ceil, log2=math.log2)


class Tensor:
    """One parameter: "in f32[rows, columns] normal 0 1 constant"."""

    def __init__(self, name, text):
        if not isinstance(text, str):
            raise Error(f"{name}: a tensor is described by text such as 'in f32[n]', not {text!r}")
        if text[:1] in "'\"":  # from __future__ import annotations
            text = ast.literal_eval(text)
        found = _TENSOR.fullmatch(text.strip())
        if not found:
            raise Error(f"{name}: '{text}' is no tensor: ROLE TYPE[SIZES], as in 'in f32[n]'")
        self.name = name
        self.role, self.type, sizes, rest = found.groups()
        self.sizes = [size.strip() for size in sizes.split(",") if size.strip()]
        words = rest.split()
        self.constant = "constant" in words
        self.fill = [word for word in words if word != "constant"]

    def type_at(self, sizes):
        """`sizes` by name; the type may be one of them."""
        type_name = sizes.get(self.type, self.type)
        if type_name not in TYPE_BYTES:
            raise Error(f"{self.name}: the type '{type_name}' is none of {', '.join(TYPE_BYTES)}")
        return type_name

    def shape_at(self, sizes):
        shape = []
        for text in self.sizes:
            try:
                value = eval(text, _EXPRESSION, dict(sizes))  # the user's own file
            except Exception as error:
                raise Error(f"{self.name}: the size '{text}': {error}") from None
            if not isinstance(value, int) or value < 1:
                raise Error(f"{self.name}: the size '{text}' is {value!r}, not a count")
            shape.append(value)
        return tuple(shape)

    def fill_at(self, type_name):
        """(kind, a, b)."""
        word = self.fill[0] if self.fill else "normal" if type_name in FLOATS else None
        if self.role != "in":
            if self.fill:
                raise Error(f"{self.name}: only an input is filled, not '{self.role}'")
            return "uniform", 0.0, 1.0
        if word is None:
            raise Error(f"{self.name}: whole numbers need a range, as in 'in i32[n] integer 0 9'")
        if word not in FILLS:
            raise Error(f"{self.name}: the fill '{word}' is none of {', '.join(FILLS)}")
        try:
            numbers = [float(number) for number in self.fill[1:]] or FILLS[word]
            a, b = numbers
        except (TypeError, ValueError):
            raise Error(f"{self.name}: the fill '{word}' takes two numbers") from None
        return word, a, b


def _plain(value):
    """NumPy's numbers and arrays as Python's."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return [_plain(v) for v in value] if isinstance(value, (list, tuple, range)) else value


def _pairs(sizes):
    """Every instance as a dict: of a dict of lists all combinations, of a list each as it is."""
    if isinstance(sizes, dict):
        lists = [v if isinstance(v, list) else [v] for v in map(_plain, sizes.values())]
        return [dict(zip(sizes, values)) for values in itertools.product(*lists)]
    return [{name: _plain(value) for name, value in instance.items()} for instance in sizes]


class Operation:
    """A definition; `assay.operation` makes one of a function's name and parameters."""

    def __init__(self, name, tensors, *, reference, sizes, bytes=None, flops=None, tolerance=None,
                 fill=None, tensors_of="auto", summary=None):
        self.name = name
        self.summary = summary or name
        self.reference = reference
        self.instances = _pairs(sizes)
        self.tensors = [Tensor(tensor, text) for tensor, text in tensors.items()]
        self.bytes, self.flops, self.tolerance = bytes, flops, tolerance
        self.fill = fill or {}
        self.tensors_of = tensors_of
        names = list(self.instances[0]) if self.instances else []
        if not callable(reference):
            raise Error(f"{name}: reference= is a function of the inputs, not {reference!r}: no "
                        "time is shown of an answer that nothing is held against")
        if not names:
            raise Error(f"{name}: sizes= names no size, as in sizes=dict(n=[1024, 4096])")
        if any(list(instance) != names for instance in self.instances):
            raise Error(f"{name}: each of sizes= must name the same sizes in the same order")
        named = self.tolerance if isinstance(self.tolerance, dict) else {}
        for option, role, given in (("fill", "in", self.fill), ("tolerance", "out", named)):
            for unknown in set(given) - {t.name for t in self.tensors if t.role == role}:
                raise Error(f"{name}: {option}= names '{unknown}', which is no {role}put")
        if not any(tensor.role == "out" for tensor in self.tensors):
            raise Error(f"{name}: no parameter is described as 'out TYPE[SIZES]'")

    def _dims(self):
        """(name, summary, choices or None, default); the values of a choice are words."""
        dims = []
        for name, first in self.instances[0].items():
            values = list(dict.fromkeys(instance[name] for instance in self.instances))
            words = all(isinstance(value, str) for value in values)
            if not words and not all(isinstance(v, int) and 0 < v <= 1 << 40 for v in values):
                raise Error(f"{self.name}: {name} is counts up to 2^40, or words, not {values}")
            dims.append((name, name, tuple(values) if words else None, 0 if words else first))
        return dims

    def _bounds(self, tensor, type_name):
        given = self.tolerance
        if isinstance(given, dict):
            given = given.get(tensor.name)
        if given is None:
            return TOLERANCE.get(type_name, (0.0, 0.0))
        try:
            absolute, relative = map(float, given)
        except (TypeError, ValueError):
            absolute = relative = math.nan
        if not (0 <= absolute < math.inf and 0 <= relative < math.inf):
            raise Error(f"{self.name}: tolerance= is (absolute, relative), not {given!r}")
        return absolute, relative

    def _buffers(self, sizes):
        buffers = []
        for tensor in self.tensors:
            type_name = tensor.type_at(sizes)
            custom = tensor.name in self.fill
            kind, a, b = ("custom", 0.0, 0.0) if custom else tensor.fill_at(type_name)
            absolute, relative = self._bounds(tensor, type_name)
            buffers.append((tensor.name, tensor.role, type_name, math.prod(tensor.shape_at(sizes)),
                            kind, a, b, tensor.constant, absolute, relative))
        return tuple(buffers)

    def _work(self, sizes, buffers):
        """(bytes read, bytes written, operations of each arithmetic)."""
        total = {"in": 0, "out": 0, "scratch": 0}
        for _, role, type_name, count, *_ in buffers:
            total[role] += count * TYPE_BYTES[type_name]
        namespace = SimpleNamespace(**sizes)
        moved = self.bytes(namespace) if self.bytes else (total["in"], total["out"])
        if not isinstance(moved, (list, tuple)):
            moved = (max(moved - total["out"], 0), min(total["out"], moved))
        flops = self.flops(namespace) if self.flops else {}
        if not isinstance(flops, dict):
            flops = {"fp64" if any(b[2] == "f64" for b in buffers) else "fp32": flops}
        for unknown in set(flops) - set(ARITHMETICS):
            raise Error(f"{self.name}: flops= names '{unknown}', none of {', '.join(ARITHMETICS)}")
        work = [*moved, *(flops.get(arithmetic, 0) for arithmetic in ARITHMETICS)]
        if len(moved) != 2 or not all(isinstance(w, (int, float)) and math.isfinite(w) and w >= 0
                                      for w in work):
            raise Error(f"{self.name}: bytes= and flops= give counts, not {work} at {sizes}")
        return tuple(float(w) for w in work)

    def describe(self):
        dims = self._dims()
        instances = []
        for sizes in self.instances:
            values = tuple(choices.index(sizes[name]) if choices else sizes[name]
                           for name, _, choices, _ in dims)
            buffers = self._buffers(sizes)
            instances.append((values, buffers, self._work(sizes, buffers)))
        return (self.name, self.summary, tuple(dims), tuple(instances))

    def shapes(self):
        """For the process that runs it: how each tensor is written, by its name."""
        return {tensor.name: tensor for tensor in self.tensors}


def operation(function=None, **options):
    """Make an operation of a function's name, parameters and their annotations.

    reference  takes the inputs, float64 or int64 on the CPU, and returns the output or a tuple of
               them; sizes that it has a parameter for are passed by name
    sizes      dict of lists (all combinations), or a list of dicts
    bytes      of the sizes: the least bytes that must move, or (read, written); default: each
               tensor once
    flops      of the sizes: operations in fp32 (fp64 where a tensor is), or a dict such as
               dict(bf16=...)
    tolerance  (absolute, relative), or a dict of them by output; default: as
               torch.testing.assert_close
    fill       dict by input: function of (sizes, rng) that returns an array (rng: numpy's)
    tensors    {name: "in f32[n]"}, instead of annotations
    tensors_of what the functions get: "torch", "cupy", "numpy"; "auto": torch, else cupy (on a
               GPU), where the program that calls assay.run has imported it, else numpy
    """
    def make(function):
        tensors = options.pop("tensors", None) or {
            name: parameter.annotation
            for name, parameter in inspect.signature(function).parameters.items()}
        summary = (function.__doc__ or "").strip().split("\n")[0]
        return Operation(function.__name__, tensors, summary=summary, **options)
    return make(function) if function else make


class Variant:
    """One implementation: a function of the operation's tensors that only launches."""

    def __init__(self, function, *, name=None, prepare=False, device=None, clock="device",
                 tensors_of=None):
        if not callable(function):
            raise Error(f"a variant is a function, not {function!r}")
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__).lower()
        self.prepare, self.clock, self.tensors_of = prepare, clock, tensors_of
        if device not in (None, "cuda", "host"):
            raise Error(f"{self.name}: device is 'cuda' or 'host', not {device!r}")
        if clock not in ("device", "wall"):
            raise Error(f"{self.name}: clock is 'device' or 'wall', not {clock!r}")
        self.places = (device,) if device else ("host", "cuda")


def variant(function=None, **options):
    """Say more of a function than its name.

    prepare    it is called once, untimed, and returns what is launched: a function without
               parameters. Compiling, loading and allocating belong there.
    device     "cuda" or "host": it is left out elsewhere
    clock      "wall": it blocks the host by design, and is timed by the host's clock
    tensors_of what it gets ("torch", "cupy", "numpy"), if not what the operation says
    name       if not the function's
    """
    def make(function):
        return Variant(function, **options)
    return make(function) if function else make
