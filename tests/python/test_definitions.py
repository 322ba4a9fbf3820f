"""Operations and variants as a user writes them: what is computed of them, what is refused."""

import numpy as np
import pytest

import assay
from assay.operation import Operation


def make(x="in f32[n]", out="out f32[n]", **options):
    options = dict(reference=abs, sizes=dict(n=[8])) | options
    return Operation("op", dict(x=x, out=out), **options)


def buffers(operation):
    _, _, _, instances = operation.describe()
    return [instance[1] for instance in instances]


def work(operation):
    return operation.describe()[3][0][2]


def test_sizes_are_combined():
    operation = make("in f32[rows, columns]", "out f32[rows]",
                     sizes=dict(rows=[2, 3], columns=[5, 7]))
    assert [[b[3] for b in pair] for pair in buffers(operation)] == \
        [[10, 2], [14, 2], [15, 3], [21, 3]]


def test_a_list_of_sizes_is_taken_as_it_is():
    operation = make("in f32[n, m]", sizes=[dict(n=2, m=3), dict(n=4, m=5)])
    assert [pair[0][3] for pair in buffers(operation)] == [6, 20]


def test_sizes_may_be_numpys():
    for sizes in (dict(n=2 ** np.arange(3, 5)), dict(n=[np.int64(8), 16]), [dict(n=np.int32(8)), dict(n=16)]):
        operation = make(sizes=sizes)
        assert [pair[0][3] for pair in buffers(operation)] == [8, 16]
        assert all(type(instance["n"]) is int for instance in operation.instances)


def test_sizes_may_be_expressions():
    operation = make(out="out f32[ceil(n / 3), 2 * n]", sizes=dict(n=8))
    assert buffers(operation)[0][1][3] == 3 * 16


def test_a_type_may_be_a_size():
    operation = make("in dtype[n]", "out dtype[n]", sizes=dict(n=8, dtype=["f32", "bf16"]))
    assert [pair[0][2] for pair in buffers(operation)] == ["f32", "bf16"]
    dims, instances = operation.describe()[2:]
    assert dims[1] == ("dtype", "dtype", ("f32", "bf16"), 0)
    assert [values for values, _, _ in instances] == [(8, 0), (8, 1)]


def test_fills_and_constants_are_read():
    x = buffers(make("in i32[n] integer 1 9 constant"))[0][0]
    assert x[4:8] == ("integer", 1.0, 9.0, True)
    assert buffers(make())[0][0][4:8] == ("normal", 0.0, 1.0, False)


def test_annotations_that_became_text_are_read():
    assert buffers(make("'in f32[n]'"))[0][0][2] == "f32"


def test_each_tensor_moves_once_unless_said_otherwise():
    assert work(make("in f64[n]"))[:2] == (64, 32)
    assert work(make(bytes=lambda s: 10 * s.n))[:2] == (48, 32)
    assert work(make(bytes=lambda s: (5, 6)))[:2] == (5, 6)
    assert work(make(bytes=lambda s: [5, 6]))[:2] == (5, 6)


def test_flops_are_fp32_unless_said_otherwise():
    assert work(make(flops=lambda s: 3 * s.n))[2:] == (24, 0, 0, 0, 0, 0, 0)
    assert work(make("in f64[n]", flops=lambda s: 3))[2:] == (0, 0, 0, 0, 0, 3, 0)
    assert work(make(flops=lambda s: dict(bf16=7, fp8=2)))[2:] == (0, 0, 7, 0, 0, 0, 2)


def test_bounds_follow_the_type_unless_said_otherwise():
    assert buffers(make(out="out bf16[n]"))[0][1][8:] == (1e-5, 1.6e-2)
    assert buffers(make(out="out i32[n]"))[0][1][8:] == (0, 0)
    assert buffers(make(tolerance=(1, 2)))[0][1][8:] == (1, 2)
    assert buffers(make(tolerance=dict(out=(3, 4))))[0][1][8:] == (3, 4)


REFUSED = {
    "no text": (dict(x=3), "x: a tensor is described by text"),
    "no tensor": (dict(x="f32"), "x: 'f32' is no tensor"),
    "an unknown role": (dict(x="inout f32[n]"), "x: 'inout f32[n]' is no tensor"),
    "an unknown type": (dict(x="in f31[n]"), "x: the type 'f31' is none of f32"),
    "an unknown size": (dict(x="in f32[m]"), "x: the size 'm': name 'm' is not defined"),
    "a size of 0": (dict(x="in f32[n - 8]"), "x: the size 'n - 8' is 0, not a count"),
    "whole numbers without a range": (dict(x="in i32[n]"), "x: whole numbers need a range"),
    "an unknown fill": (dict(x="in f32[n] random"), "x: the fill 'random' is none of normal"),
    "a fill of one number": (dict(x="in f32[n] normal 1"), "x: the fill 'normal' takes two"),
    "a filled output": (dict(out="out f32[n] normal"), "out: only an input is filled"),
    "no output": (dict(out="in f32[n]"), "op: no parameter is described as 'out"),
    "no reference": (dict(reference=None), "op: reference= is a function of the inputs, not None"),
    "no sizes": (dict(sizes={}), "op: sizes= names no size"),
    "sizes that differ": (dict(sizes=[dict(n=1), dict(m=1)]), "op: each of sizes= must name"),
    "a size that is neither": (dict(sizes=dict(n=[1, 0.5])), "op: n is counts up to 2^40, or words"),
    "a size beyond all": (dict(sizes=dict(n=[1 << 41])), "op: n is counts up to 2^40, or words"),
    "a fill of no input": (dict(fill=dict(y=None)), "op: fill= names 'y', which is no input"),
    "a tolerance of no output": (dict(tolerance=dict(uot=(1, 2))), "op: tolerance= names 'uot'"),
    "a tolerance of one number": (dict(tolerance=1e-3), "op: tolerance= is (absolute, relative)"),
    "a tolerance of 0 alone": (dict(tolerance=0), "op: tolerance= is (absolute, relative), not 0"),
    "a tolerance of anything": (dict(tolerance=(float("inf"), 0)), "op: tolerance= is (absolute,"),
    "a tolerance below 0": (dict(tolerance=dict(out=(0, -1))), "op: tolerance= is (absolute,"),
    "bytes below 0": (dict(bytes=lambda s: (-1, 0)), "op: bytes= and flops= give counts"),
    "bytes of three": (dict(bytes=lambda s: (1, 2, 3)), "op: bytes= and flops= give counts"),
    "an unknown arithmetic": (dict(flops=lambda s: dict(fp4=1)), "op: flops= names 'fp4'"),
}


@pytest.mark.parametrize("given, words", REFUSED.values(), ids=REFUSED)
def test_refuses(given, words):
    with pytest.raises(assay.Error, match="^" + __import__("re").escape(words)):
        make(**given).describe()


def test_a_variant_is_a_function():
    with pytest.raises(assay.Error, match="a variant is a function, not 3"):
        assay.variant(3)
    with pytest.raises(assay.Error, match="clock is 'device' or 'wall'"):
        assay.variant(clock="sundial")(print)
    with pytest.raises(assay.Error, match="device is 'cuda' or 'host'"):
        assay.variant(device="tpu")(print)
