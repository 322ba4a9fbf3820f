"""Runs: asked for, stored, compared. All of it is done by the program, in processes of its own."""

import copy
import inspect
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from types import SimpleNamespace

from .errors import Error
from .operation import Operation, Variant

_USAGE, _INTERRUPTED = 2, 130  # exit codes
# What the program says of files and callers that its user never saw.
_PREFIX = re.compile(r"^(assay[ a-z]*: |\S*/assay-\w+/\S+?\.ini:\d+: |the caller of this program: )*")


def _database(db):
    return os.path.abspath(db or os.environ.get("ASSAY_DB") or "results/assay.sqlite")


def _program(arguments, job=None, quiet=True):
    """(exit code, standard output). Progress goes to sys.stderr; an error without output is raised."""
    start = ["-m", "assay._host", job, "--"] if job else ["-m", "assay"]
    process = subprocess.Popen([sys.executable, *start, *arguments], text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    last = []

    def relay():
        for line in process.stderr:
            last[:] = [line.strip()] if line.strip() else last
            if not quiet:
                sys.stderr.write(line)
                sys.stderr.flush()

    thread = threading.Thread(target=relay)
    thread.start()
    try:
        output = process.stdout.read()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)  # a notebook's interrupt reaches this process alone
        process.stdout.read()  # the rows, which it would wait to be rid of
        raise
    finally:
        code = process.wait()
        thread.join()
    if code == _INTERRUPTED:
        raise KeyboardInterrupt
    if code == _USAGE or code and not output.strip():
        raise Error(_PREFIX.sub("", last[0]) if last else f"exit code {code}")
    return code, output


class _Document:
    """What the program says, as JSON."""

    def __init__(self, document, code=0):
        self.document, self.exit_code = document, code
        self.rows = document["rows"]

    def to_dataframe(self):
        """One row per case; sizes are columns."""
        import pandas
        return pandas.DataFrame([{**row, **row["shape"]} for row in self.rows]).drop(
            columns=["shape", "quality"], errors="ignore")

    def __str__(self):
        return _program([*self._command(), "--format", "table"])[1]

    def _repr_markdown_(self):
        return _program([*self._command(), "--format", "md"])[1]

    def table(self):
        print(self, end="")


class Run(_Document):
    """A stored run. rows: dicts as `assay show --format json` has them; exit_code: the program's."""

    def __init__(self, document, db, code=0):
        super().__init__(document, code)
        self.id, self.db = document["run"]["id"], db

    def __repr__(self):
        return f"<assay run {self.id[:8]}: {len(self.rows)} rows>"

    def _command(self):
        return ["show", self.id, "--db", self.db]

    def report(self, path):
        """Write the run as one page."""
        _program(["report", self.id, "--db", self.db, "-o", os.fspath(path)])


class Comparison(_Document):
    """Two runs, case by case. exit_code: 1 if one is slower or wrong."""

    def __init__(self, document, runs, db, code):
        super().__init__(document, code)
        self.runs, self.db, self.counts = runs, db, document["counts"]

    def __repr__(self):
        return f"<assay comparison: {self.counts}>"

    def _command(self):
        return ["compare", *self.runs, "--db", self.db]


def stored(name="latest", db=None):
    """A run by id, label or the words that the program knows."""
    db = _database(db)
    return Run(json.loads(_program(["show", name, "--db", db, "--format", "json"])[1]), db)


def compare(base, candidate, db=None):
    """Compare two runs: Run, or a name as `stored` takes."""
    db = _database(db or getattr(base, "db", None) or getattr(candidate, "db", None))
    runs = [f"{run.db}:{run.id}" if isinstance(run, Run) else run for run in (base, candidate)]
    code, output = _program(["compare", *runs, "--db", db, "--format", "json"])
    return Comparison(json.loads(output), runs, db, code)


def _library():
    """What the functions get where nothing is said: what the user has imported."""
    return next((name for name in ("torch", "cupy") if name in sys.modules), "numpy")


def _variants(variants):
    """In order; names are those of the program's own."""
    if isinstance(variants, (str, Variant)) or callable(variants):
        variants = [variants]
    named = variants.items() if isinstance(variants, dict) else ((None, v) for v in variants)
    made = []
    for name, given in named:
        given = given if isinstance(given, (Variant, str)) else Variant(given)
        if name and not isinstance(given, str):
            given = copy.copy(given)
            given.name = name
        made.append(given)
    names = [v if isinstance(v, str) else v.name for v in made]
    for name in names:
        if names.count(name) > 1:
            raise Error(f"two variants are called {name}: variants={{'a': ..., 'b': ...}} renames")
    if not names:
        raise Error("variants= is empty")
    return made, names


def _sources(functions):
    """The text of functions as comments: a suite is stored with its run."""
    for name, function in functions.items():
        try:
            source = inspect.getsource(function)
        except (OSError, TypeError):
            continue
        yield f"; {name}:"
        for line in filter(str.strip, source.splitlines()):
            # A line of a suite has at most 197 bytes.
            yield ";   " + line.encode(errors="replace")[:150].decode(errors="ignore")


def _suite(operation, names, sizes, settings, functions):
    """The text of a suite, a group per shape."""
    lines = ["[suite]", f"title = {operation} from Python"]
    settings = [f"{key} = {value}" for key, value in settings.items() if value is not None]
    for number, instance in enumerate(sizes, 1):
        lines += [f"[group {operation} {number}]", f"operation = {operation}",
                  "variants = " + ",\n    ".join(names), *settings]
        lines += [f"{name} = {value}" for name, value in instance.items()]
    lines += _sources(functions)
    return "\n".join(lines) + "\n"


def _job(operation, variants, baseline, device, library):
    """What python/assay/_host.py reads."""
    from . import _pickle
    is_ours = isinstance(operation, Operation)
    name = operation.name if is_ours else operation
    own = [v for v in variants if isinstance(v, Variant)]
    described = tuple((name, v.name, v.name, v.name == baseline, v.clock == "wall", place == "cuda")
                      for v in own for place in v.places)
    definition = is_ours and SimpleNamespace(shapes=operation.shapes(), fill=operation.fill,
                                             reference=operation.reference)
    index = re.match(r"cuda:(\d+)", device)
    return dict(described=((operation.describe(),) if is_ours else (), described)
                if own or is_ours else None,
                operation=definition and _pickle.dumps(definition, name),
                variants={v.name: _pickle.dumps(v, v.name) for v in own},
                tensors_of=library,
                device=int(index.group(1)) if index else 0, path=list(sys.path))


def run(operation, variants, *, sizes=None, temperature="cold", device="auto", baseline="first",
        label=None, db=None, budget=None, precision=None, timeout=None, launches=1, ceilings=True,
        check=False, tensors_of=None, load=(), quiet=False):
    """Measure variants of an operation, together and in turns, and return the stored Run.

    operation    made by assay.operation, or the name of one of the program's own; then its sizes=
                 are given here, and variants= may name the program's variants beside functions
    variants     functions, assay.variant of them, or a dict of them by name; or one alone
    temperature  "cold", "hot" or "cold, hot"
    device       "auto", "cuda:0", "host"; functions of NumPy run on the host
    baseline     the variant that ratios are against; "first": the first of several
    budget, precision, timeout   seconds per case, per cent, seconds per step (docs/suites.md)
    launches     processes, each of which measures everything
    ceilings     measure the limits of the device as well
    check        check every answer once, time nothing
    load         shared objects whose variants take part (`assay run --load`)
    quiet        no progress
    tensors_of   as for assay.operation
    """
    from .operation import _pairs
    variants, names = _variants(variants)
    is_ours = isinstance(operation, Operation)
    name = operation.name if is_ours else operation
    if not is_ours and not isinstance(operation, str):
        raise Error(f"an operation is made by assay.operation, or named, not {operation!r}")
    if is_ours and sizes is not None:
        raise Error(f"{name} has its sizes from assay.operation: sizes= is for the program's own")
    if baseline == "first":
        baseline = names[0] if is_ours and len(names) > 1 else None
    baseline = getattr(baseline, "name", getattr(baseline, "__name__", baseline))
    library = tensors_of or (operation.tensors_of if is_ours else "auto")
    library = _library() if library == "auto" else library
    libraries = {v.tensors_of or library for v in variants if isinstance(v, Variant)}
    if device == "auto" and libraries == {"numpy"}:
        device = "host"
    job = _job(operation, variants, baseline, device, library)
    sizes = operation.instances if is_ours else _pairs(sizes or {})
    functions = {v.name: v.function for v in variants if isinstance(v, Variant)}
    if is_ours:
        functions["reference"] = operation.reference
    db = _database(db)
    folder = tempfile.mkdtemp(prefix="assay-")
    try:
        path = os.path.join(folder, "job")
        suite = os.path.join(folder, f"{name.replace(os.sep, '_')}.ini")
        with open(path, "wb") as file:
            pickle.dump(job, file)
        with open(suite, "w") as file:
            file.write(_suite(name, names, sizes, dict(
                temperature=temperature, baseline=baseline, budget=budget, precision=precision,
                timeout=timeout), functions))
        os.makedirs(os.path.dirname(db), exist_ok=True)
        options = ["--device", device, "--db", db, "--launches", str(launches), "--format", "json"]
        options += ["--label", label] if label else []
        options += [] if ceilings else ["--no-ceilings"]
        options += ["--check"] if check else []
        options += [word for thing in load for word in ("--load", os.fspath(thing))]
        code, output = _program(["run", suite, *options], path, quiet)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Run(json.loads(output), db, code)
