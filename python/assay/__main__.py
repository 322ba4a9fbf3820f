"""The program, as `assay` and `python -m assay`."""

import os
import sys


def program(itself, described, host, arguments):
    """The program; its exit code."""
    # Shared objects that it loads call its functions.
    sys.setdlopenflags(sys.getdlopenflags() | os.RTLD_GLOBAL)
    from . import _assay
    return _assay.program(itself, described, host, ["assay", *arguments])


def main():
    script = os.path.abspath(sys.argv[0])
    itself = [script] if os.access(script, os.X_OK) else [sys.executable, "-m", "assay"]
    return program(itself, None, None, sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
