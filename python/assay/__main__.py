"""The program, as `assay` and `python -m assay`."""

import os
import sys


def main():
    from . import _assay
    script = os.path.abspath(sys.argv[0])
    itself = [script] if os.access(script, os.X_OK) else [sys.executable, "-m", "assay"]
    return _assay.program(itself, None, None, ["assay", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
