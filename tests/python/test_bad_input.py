"""What users get wrong costs its own row, or is refused in one line before anything runs."""

import os
import sys
import threading
import time

import numpy as np
import pytest
from conftest import status

import assay


def raises(x, out):
    raise ValueError("no\nsuch   thing")


def new_array(x, out):
    return 2 * x


def changes_input(x, out):
    np.multiply(x, 2, out=out)
    x[:] = 0


def slightly_off(x, out):
    np.multiply(x, 2.001, out=out)


def writes_half(x, out):
    out[:len(x) // 2] = 2 * x[:len(x) // 2]


def exits(x, out):
    sys.exit(3)


def ends(x, out):
    os._exit(0)


def hangs(x, out):
    time.sleep(1000)


def crashes(x, out):
    import ctypes
    ctypes.string_at(8)


def reads_its_neighbour(x, out):
    big = np.lib.stride_tricks.as_strided(out, (len(out) + 16,), out.strides)
    big[:] = 0
    np.multiply(x, 2, out=out)


def takes_one(x):
    pass


@assay.variant(prepare=True)
def prepares_nothing(x, out):
    return 3


@assay.variant(prepare=True)
def lacks(x, out):
    raise assay.Skip("needs two of them")


@assay.variant(tensors_of="cupy")
def of_cupy(x, out):
    pass


class Unloadable:
    def __reduce__(self):
        return __import__, ("no_such_module",)

    def __call__(self, x, out):
        pass


def line(function):
    """Where its one statement stands, as a reason says it."""
    return f"(test_bad_input.py:{function.__code__.co_firstlineno + 1})"


EXPECTED = {
    raises: ("crashed", f"first launch: ValueError: no such thing {line(raises)}"),
    new_array: ("crashed", "first launch: it returned a new ndarray: it writes its outputs in "
                "place, and returns nothing"),
    changes_input: ("wrong", "changed its input 'x'"),
    slightly_off: ("wrong", "wrong)"),
    writes_half: ("wrong", "2048 of 4096 elements of 'out' were not written, the first at "
                  "out[2048]"),
    exits: ("crashed", f"first launch: called sys.exit(3) {line(exits)}"),
    ends: ("crashed", "first launch: exit status 0"),
    hangs: ("timeout", "first launch: no answer within 1 s"),
    crashes: ("crashed", "first launch: signal 11, Segmentation fault"),
    reads_its_neighbour: ("wrong", "wrote outside its buffers: after 'out'"),
    takes_one: ("crashed", "first launch: TypeError: takes_one() takes 1 positional argument but "
                "2 were given"),
    prepares_nothing: ("crashed", "setup: prepares_nothing: prepare=True, and it returned int "
                       "instead of what is launched"),
    lacks: ("skipped", "needs two of them"),
    of_cupy: ("crashed", "setup: cupy's arrays are on a GPU: tensors_of='numpy' or 'torch' on the "
              "host"),
    assay.variant(name="unloadable")(Unloadable()): (
        "crashed", "setup: ModuleNotFoundError: No module named 'no_such_module'"),
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    @assay.operation(reference=lambda x: 2 * x, sizes=dict(n=[4096]))
    def double(x: "in f32[n]", out: "out f32[n]"): ...

    def right(x, out):
        np.multiply(x, 2, out=out)

    run = assay.run(double, [right, *EXPECTED], device="host", budget=0.02, ceilings=False,
                    quiet=True, timeout=1, db=tmp_path_factory.mktemp("bad") / "assay.sqlite")
    return status(run), run.exit_code


@pytest.mark.parametrize("variant", EXPECTED, ids=lambda v: getattr(v, "name", None) or v.__name__)
def test_costs_its_own_row(rows, variant):
    found, words = rows[0][getattr(variant, "name", None) or variant.__name__]
    assert found == EXPECTED[variant][0]
    assert words.endswith(EXPECTED[variant][1]) and "\n" not in words


def test_the_others_are_measured(rows):
    assert rows[0]["right"] == ("ok", None)
    assert rows[1] == 5


class Half:
    """A tensor of torch in half precision."""
    device = "cpu"

    def __init__(self, array, dtype="f2"):
        self.array = array.astype(dtype)

    def detach(self):
        return self

    def is_floating_point(self):
        return True

    def element_size(self):
        return 2

    def float(self):
        return Half(self.array, "f4")

    def double(self):
        return Half(self.array, "f8")

    def numpy(self):
        return self.array


# Of a definition: every row of the group says it.
REFERENCES = {
    "raises": (lambda x: 1 / 0, "ZeroDivisionError: division by zero"),
    "of another shape": (lambda x: x[1:], "'out' has the shape (4095,), not (4096,)"),
    "of two outputs": (lambda x: (x, x), "it returned 2 outputs, not 1"),
    "in float32": (lambda x: x.astype("f4"), "'out' is float32: compute it in float64"),
    "in half precision": (Half, "'out' is float32: compute it in float64"),
    "of words": (lambda x: np.array(["a"] * len(x)), "'out' is of type <U1, not numbers"),
    "elsewhere": (lambda x: type("Tensor", (), dict(device="cuda:0"))(),
                  "'out' is on cuda:0: return it on the CPU"),
}


@pytest.mark.parametrize("reference, words", REFERENCES.values(), ids=REFERENCES)
def test_a_bad_reference(measure, right, reference, words):
    @assay.operation(reference=reference, sizes=dict(n=[4096]))
    def double(x: "in f32[n]", out: "out f32[n]"): ...

    run = measure(double, [right], check=True)
    found, reason = status(run)["right"]
    assert found == "skipped" and reason.startswith(f"double: the reference failed: {words}")
    assert run.exit_code == 4


FILLS = {
    "of another shape": (lambda s, rng: np.zeros(3), "'x' has the shape (3,), not (4096,)"),
    "of another type": (lambda s, rng: np.zeros(s.n), "'x' is float64, not int32"),
    "elsewhere": (lambda s, rng: type("Tensor", (), dict(device="cuda:1"))(),
                  "'x' is on cuda:1: return it on the CPU"),
}


@pytest.mark.parametrize("fill, words", FILLS.values(), ids=FILLS)
def test_a_bad_fill(measure, right, fill, words):
    @assay.operation(reference=lambda x: 2 * x, sizes=dict(n=[4096]), fill=dict(x=fill))
    def double(x: "in i32[n]", out: "out i32[n]"): ...

    found, reason = status(measure(double, [right], check=True))["right"]
    assert found == "skipped" and words in reason


def test_a_fill_need_not_be_contiguous(measure, right):
    @assay.operation(reference=lambda x: 2 * x, sizes=dict(n=[64]),
                     fill=dict(x=lambda s, rng: np.arange(2 * s.n, dtype="f4")[::2]))
    def double(x: "in f32[n]", out: "out f32[n]"): ...

    assert status(measure(double, [right], check=True))["right"] == ("ok", None)


def refused(words, call, *arguments, **options):
    with pytest.raises(assay.Error, match=words) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_is_refused_before_anything_runs(measure, double, right):
    refused("variants= is empty", measure, double, [])
    refused("two variants are called right", measure, double, [right, right])
    refused("an operation is made by assay.operation", measure, right, [right])
    refused("^no variant of double matches 'nosuch'", measure, double, [right, "nosuch"])
    refused("^variant right belongs to operation 'nosuch', which does not exist", measure, "nosuch", [right])
    refused("operation 'no/such', which does not exist", measure, "no/such", [right])
    refused("matches 'nosuch'", measure, double, ["nosuch"])
    refused("^double has its sizes from assay.operation", measure, double, [right], sizes=dict(n=1))
    refused("temperature", measure, double, [right], temperature="tepid")
    refused("device", measure, double, [right], device="abacus")
    refused("^a variant 'Right!': a name is made of a-z, 0-9 and _", measure, double, {"Right!": right})


def test_a_run_of_nothing_says_so(measure, double, right):
    refused("host", measure, double, [assay.variant(device="cuda")(right)])


def test_what_cannot_be_sent_says_so(measure, double):
    lock = threading.Lock()

    def locked(x, out):
        with lock:
            np.multiply(x, 2, out=out)

    refused(r"locked cannot be sent to the process that measures: .*lock.*prepare=True", measure,
            double, [locked])
