#!/usr/bin/env python3
"""Products at shapes that nobody chose, drawn by a seed.

    scripts/neutral.py draw 23 [COUNT] >neutral.ini            a suite of COUNT shapes (60)
    build/assay run ./neutral.ini
    build/assay show --format json | scripts/neutral.py table  our `best` beside cublaslt, as Markdown

The draw: m log-uniform from 1 to 20000 in three of four shapes, from 1 to 64 in the others; n and k log-uniform from 200 to
30000; one in twelve keeps an odd k, half of the rest are multiples of 8 and half of 64; n is anything in one of
four; bf16, tf32 and fp32 as 3 : 2 : 1; half with a bias. Shapes of more than 4e11 operations (fp32 6e10) or 1 GB of
operands are drawn again.
"""
import json
import math
import random
import sys

TYPES = ["bf16"] * 3 + ["tf32"] * 2 + ["fp32"]
BYTES = {"bf16": 2, "tf32": 4, "fp32": 4}
MOST_OPS = {"bf16": 4e11, "tf32": 4e11, "fp32": 6e10}


def log_uniform(rng, low, high):
    return round(math.exp(rng.uniform(math.log(low), math.log(high))))


def rounded(value, step):
    return max(step, value // step * step)


def draw_once(rng):
    kind = rng.choice(TYPES)
    m = log_uniform(rng, 1, 64) if rng.random() < 0.25 else log_uniform(rng, 1, 20000)
    n, k = log_uniform(rng, 200, 30000), log_uniform(rng, 200, 30000)
    k = k | 1 if rng.random() < 1 / 12 else rounded(k, rng.choice([8, 64]))
    n = n if rng.random() < 0.25 else rounded(n, 8)
    return m, n, k, kind, rng.choice(["none", "fused"])


def fits(shape):
    m, n, k, kind, _ = shape
    return 2 * m * n * k <= MOST_OPS[kind] and (m * k + n * k + m * n) * BYTES[kind] <= 1e9


def draw(seed, count):
    rng = random.Random(seed)
    print(f"# Products at {count} shapes that nobody chose: scripts/neutral.py draw {seed} {count}")
    print("[suite]\ntitle = products at shapes drawn by a seed\nbudget = 0.05\nprecision = 1")
    for number in range(1, count + 1):
        shape = draw_once(rng)
        while not fits(shape):
            shape = draw_once(rng)
        m, n, k, kind, bias = shape
        print(f"\n[group {number}]\noperation = linear\ndevice = cuda\nm = {m}\nn = {n}\nk = {k}")
        print(f"type = {kind}\nbias = {bias}\nvariants = cublaslt, best, rows, skinny, fp32_tiles, *_wgmma, *_128")


def times(document):
    """{(m, n, k, type, bias): {variant: row}} of the rows of `linear`."""
    shapes = {}
    for row in document["rows"]:
        if row["operation"] != "linear":
            continue
        at = row["shape"]
        key = (at["m"], at["n"], at["k"], at["type"], at["bias"])
        shapes.setdefault(key, {})[row["variant"]] = row
    return shapes


def microseconds(row):
    return row["time_ns"] / 1e3 if row and row["status"] == "ok" else None


def cell(value, digits=3):
    return "-" if value is None else f"{value:.{digits}g}"


def table(document):
    print("| m x n x k | type | cublaslt, us | best, us | speed-up | best was |")
    print("|---|---|--:|--:|--:|---|")
    ratios = {}
    missing = 0
    for (m, n, k, kind, bias), rows in times(document).items():
        library, best = microseconds(rows.get("cublaslt")), microseconds(rows.get("best"))
        ratio = library / best if library and best else None
        if ratio:
            ratios.setdefault(kind, []).append(ratio)
        missing += best is None
        name = f"{m} x {n} x {k}" + (" + b" if bias == "fused" else "")
        note = (rows.get("best") or {}).get("note") or (rows.get("best") or {}).get("reason") or ""
        print(f"| {name} | {kind} | {cell(library)} | {cell(best)} | {cell(ratio)} | {note} |")
    every = [ratio for part in ratios.values() for ratio in part]
    for kind, part in list(ratios.items()) + [("all", every)]:
        if part:
            mean = math.exp(sum(map(math.log, part)) / len(part))
            print(f"\n{kind}: {len(part)} shapes, geometric mean {mean:.3f}, worst {min(part):.3f}, "
                  f"{sum(ratio < 0.97 for ratio in part)} below 0.97")
    print(f"\nwithout a time of best: {missing}")


def main():
    arguments = sys.argv[1:]
    numbers = all(text.isdecimal() for text in arguments[1:])
    if arguments[:1] == ["draw"] and len(arguments) in (2, 3) and numbers:
        draw(int(arguments[1]), int(arguments[2]) if len(arguments) == 3 else 60)
    elif arguments == ["table"]:
        document = json.load(sys.stdin)
        if "rows" not in document:
            sys.exit("neutral.py: the input has no rows; it is what `assay show --format json` writes")
        table(document)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
