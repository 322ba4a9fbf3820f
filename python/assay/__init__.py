"""Measure kernels from Python: checked, timed by the hardware's clock, stored, compared.

    import assay, torch

    @assay.operation(reference=lambda x: torch.softmax(x, -1), sizes=dict(rows=[1024], columns=[4096]))
    def softmax(x: "in f32[rows, columns]", out: "out f32[rows, columns]"): ...

    def eager(x, out):
        torch.softmax(x, -1, out=out)

    run = assay.run(softmax, [eager])
    run.table()

docs/python.md says the rest.
"""

from .errors import Error, Skip
from .operation import Operation, Variant, operation, variant
from .runs import Comparison, Run, compare, run, stored

__all__ = ["Comparison", "Error", "Operation", "Run", "Skip", "Variant", "compare", "operation", "run",
           "stored", "stream", "variant"]


def stream():
    """In a variant: the stream of the call, a cudaStream_t as a number; 0 on the host."""
    from . import _host
    return _host.current_stream()


def load_ipython_extension(shell):
    from ._ipython import register
    register(shell)
