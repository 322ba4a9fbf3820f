"""wheel.py VERSION MODULE FOLDER: zip the package, the module and the program's data into a wheel.

The module uses the limited interface of CPython 3.10, so one wheel serves all later versions; the
libraries that it was linked with (SQLite, OpenMP) are those of the distribution it was made on.
"""

import base64
import hashlib
import pathlib
import sys
import sysconfig
import zipfile

METADATA = """Metadata-Version: 2.1
Name: assay
Version: {version}
Summary: Measures GPU kernels, checks every answer it times, and compares with statistics
Requires-Python: >=3.10
Requires-Dist: cloudpickle
Requires-Dist: numpy
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: assay\nRoot-Is-Purelib: false\nTag: {tag}\n"
ENTRIES = "[console_scripts]\nassay = assay.__main__:main\n\n[pytest11]\nassay = assay._pytest\n"


def contents(root, module, info, version, tag):
    """(name in the wheel, bytes)."""
    for path in sorted((root / "python/assay").glob("*.py")):
        yield f"assay/{path.name}", path.read_bytes()
    yield "assay/_assay.abi3.so", module.read_bytes()
    for pattern in ("suites/*.ini", "plots/*.gp", "templates/**/*"):
        for path in filter(pathlib.Path.is_file, sorted(root.glob(pattern))):
            yield f"assay/{path.relative_to(root)}", path.read_bytes()
    for path in sorted(root.glob("harness/assay.h*")):
        yield f"assay/include/{path.name}", path.read_bytes()
    yield f"{info}/LICENSE", (root / "LICENSE").read_bytes()
    yield f"{info}/METADATA", METADATA.format(version=version).encode()
    yield f"{info}/WHEEL", WHEEL.format(tag=tag).encode()
    yield f"{info}/entry_points.txt", ENTRIES.encode()


def main(version, module, folder):
    root = pathlib.Path(__file__).resolve().parent.parent
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag, info = f"cp310-abi3-{platform}", f"assay-{version}.dist-info"
    wheel = pathlib.Path(folder) / f"assay-{version}-{tag}.whl"
    record = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents(root, pathlib.Path(module), info, version, tag):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")
            archive.writestr(name, data)
        archive.writestr(f"{info}/RECORD", "".join([*record, f"{info}/RECORD,,\n"]))
    print(wheel)


main(*sys.argv[1:])
