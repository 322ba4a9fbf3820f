#!/usr/bin/env python3
"""PyTorch and this program side by side, as tab-separated values; README.md has the columns.

    python3 scripts/peers/peers.py --assay build/assay -o peers.tsv [KIND or CASE, globs ...]
"""
import argparse
import fnmatch
import json
import subprocess
import sys
import tempfile
from pathlib import Path

COLUMNS = ("case", "type", "clock", "peer", "peer_us", "ours", "ours_us", "library", "library_us",
           "speedup", "torch", "device")


def time_peer(case, autotune):
    import torch
    import timing
    torch._dynamo.reset()
    torch.set_float32_matmul_precision("high" if case.type == "tf32" else "highest")
    mode = "max-autotune-no-cudagraphs" if autotune else None
    with torch.no_grad():
        launch = case.build(lambda what: torch.compile(what, mode=mode, dynamic=False))
        microseconds = (timing.graph_hot if case.clock == "graph hot" else
                        timing.kernels_cold)(launch)
    del launch
    torch.cuda.empty_cache()
    return microseconds


def time_ours(case, assay, folder):
    """Microseconds by variant, from a suite that has this case alone."""
    suite, database = Path(folder) / "case.ini", Path(folder) / "case.sqlite"
    variants = ", ".join(name for name in (case.variant, case.library) if name)
    lines = ["[suite]", "title = beside another framework", "[group case]",
             f"operation = {case.operation}", "device = cuda", f"variants = {variants}",
             f"temperature = {case.clock.split()[-1]}"]
    lines += [" = ".join(dim.split("=")) for dim in case.dims.split()]
    suite.write_text("\n".join(lines) + "\n")
    database.unlink(missing_ok=True)
    # A row that is wrong or skipped has no time, which the table shows.
    subprocess.run([assay, "run", suite, "--db", database, "--no-ceilings"], check=False,
                   stdout=subprocess.DEVNULL, stderr=sys.stderr)
    shown = subprocess.run([assay, "show", "latest", "--db", database, "--format", "json"],
                           check=False, stdout=subprocess.PIPE)
    rows = json.loads(shown.stdout)["rows"] if shown.stdout else []
    return {row["variant"]: row["time_ns"] / 1e3 for row in rows
            if row["status"] == "ok" and row["time_ns"]}


def number(value):
    return "" if value is None else f"{value:.4g}"


def line_of(case, arguments, folder, versions):
    try:
        peer = time_peer(case, arguments.autotune)
    except RuntimeError as error:  # PyTorch has no such kernel on this card
        print(f"{case.name} {case.type} {case.peer}: {error}", file=sys.stderr)
        peer = None
    ours = time_ours(case, arguments.assay, folder) if case.operation and arguments.assay else {}
    own, library = ours.get(case.variant), ours.get(case.library)
    values = (case.name, case.type, case.clock, case.peer, number(peer),
              f"{case.operation}/{case.variant}" if case.operation else "", number(own),
              case.library, number(library), number(peer / own if peer and own else None),
              *versions)
    return "\t".join(values)


def is_chosen(case, patterns):
    return not patterns or any(fnmatch.fnmatch(text, pattern) for pattern in patterns
                               for text in (case.name, case.name.split("/")[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("chosen", nargs="*", metavar="KIND or CASE")
    parser.add_argument("--assay", help="the program; without it only PyTorch is measured")
    parser.add_argument("-o", "--output", help="a file instead of standard output")
    parser.add_argument("--autotune", action="store_true", help="compile with max-autotune")
    parser.add_argument("--list", action="store_true", help="print the cases and measure nothing")
    arguments = parser.parse_args()

    import torch
    import cases
    chosen = [case for case in cases.all_cases() if is_chosen(case, arguments.chosen)]
    if not chosen:
        parser.error("no case has such a name")
    if arguments.list:
        print("\n".join(f"{case.name}\t{case.type}\t{case.peer}" for case in chosen))
        return
    versions = (torch.__version__, torch.cuda.get_device_name())
    with (open(arguments.output, "w") if arguments.output else sys.stdout) as out, \
            tempfile.TemporaryDirectory() as folder:
        print("\t".join(COLUMNS), file=out, flush=True)
        for case in chosen:
            print(line_of(case, arguments, folder, versions), file=out, flush=True)


if __name__ == "__main__":
    main()
