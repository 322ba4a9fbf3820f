"""The program, as `assay` and `python -m assay`."""

import sys


def main():
    from . import _assay
    return _assay.program([sys.executable, "-m", "assay"], None, None, ["assay", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
