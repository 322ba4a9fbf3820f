"""Functions as bytes: by value where they were typed into a notebook or a script, else by name.

Triton's kernels hold locks, and are made again in the other process, from their source.
"""

import inspect
import io
import linecache

import cloudpickle

from .errors import Error

# What triton.jit was called with.
_TRITON = ("version", "do_not_specialize", "do_not_specialize_on_alignment", "debug", "noinline")


def _triton(function, file, lines, options):
    import triton
    # Its source is looked for in a file, which a notebook has not.
    linecache.cache.setdefault(file, (sum(map(len, lines)), None, lines, file))
    return triton.jit(**options)(function)


class _Pickler(cloudpickle.Pickler):
    def reducer_override(self, thing):
        kind = type(thing)
        if (kind.__module__, kind.__name__) == ("triton.runtime.jit", "JITFunction"):
            file = inspect.getsourcefile(thing.fn)
            options = {name: getattr(thing, name) for name in _TRITON if hasattr(thing, name)}
            return _triton, (thing.fn, file, linecache.getlines(file), options)
        return super().reducer_override(thing)


def dumps(thing, name):
    """`name`: whose functions they are, for the error."""
    file = io.BytesIO()
    try:
        _Pickler(file).dump(thing)
    except Exception as error:
        raise Error(f"{name} cannot be sent to the process that measures: {error}. "
                    "Make what it needs inside it (prepare=True), or define it in a module") from error
    return file.getvalue()
