"""What becomes of a launch on a GPU before it is timed, with a library that has none."""

import time
from types import SimpleNamespace

import pytest

from assay import Error, _tensors


class Library:
    """`said` is what the capture of a launch fails with."""

    def __init__(self, said=None):
        self.said = said
        self.stream = SimpleNamespace(synchronize=lambda: None)

    def capture(self, launch):
        if self.said is None:
            return "replay"
        try:
            raise RuntimeError(self.said)
        except RuntimeError:
            raise ValueError("the capture ended")  # what CUDA says then is behind it


REFUSED = "CUDA error: operation not permitted when stream is capturing"


def nothing():
    pass


def test_a_short_launch_is_made_as_it_is():
    assert _tensors._rehearse(Library(), nothing, "device") == (nothing, "")


def test_a_long_launch_is_replayed_and_says_so():
    replay, note = _tensors._rehearse(Library(), lambda: time.sleep(0.003), "device")
    assert replay == "replay" and note.startswith("replayed from a graph: launching it took the host")
    assert len(note) < 96  # ASSAY_MAX_NOTE


def test_a_launch_that_cannot_be_captured_is_refused():
    with pytest.raises(Error, match="a launch may only enqueue on the current stream.*clock='wall'"):
        _tensors._rehearse(Library(REFUSED), nothing, "device")


def test_what_blocks_by_design_is_not_captured():
    assert _tensors._rehearse(Library(REFUSED), nothing, "wall") == (nothing, "")


def test_other_errors_are_told_as_they_are():
    with pytest.raises(RuntimeError, match="^out of memory$"):
        _tensors._rehearse(Library("out of memory"), nothing, "device")


def test_numpy_has_nothing_on_a_gpu():
    with pytest.raises(Error, match="numpy has no arrays on a GPU"):
        _tensors.library_of("numpy", "cuda", 0, 1)
