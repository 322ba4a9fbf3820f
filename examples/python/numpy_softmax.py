"""Softmax of rows on the CPU: NumPy with temporaries, and in place. python numpy_softmax.py"""

import numpy as np

import assay


def reference(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@assay.operation(reference=reference, sizes=dict(rows=[64, 256], columns=[1024]))
def softmax(x: "in f32[rows, columns]", out: "out f32[rows, columns]"):
    """out = exp(x - max x) / sum, row by row"""


def plain(x, out):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    out[:] = e / e.sum(axis=1, keepdims=True)


def in_place(x, out):
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    out /= out.sum(axis=1, keepdims=True)


if __name__ == "__main__":
    assay.run(softmax, [plain, in_place], device="host", budget=0.1, ceilings=False).table()
