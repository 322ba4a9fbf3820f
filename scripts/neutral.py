#!/usr/bin/env python3
"""Operations at shapes that nobody chose, drawn by a seed.

    scripts/neutral.py draw 23 [COUNT] [OPERATION ...] >neutral.ini   a suite of COUNT shapes (60) of `linear`,
                                                                      or of COUNT shapes of each operation
    build/assay run ./neutral.ini
    build/assay show --format json | scripts/neutral.py table         `best` beside what else was measured, as Markdown
    scripts/neutral.py operations                                     the operations that can be drawn

The draw of `linear`: m log-uniform from 1 to 20000 in three of four shapes, from 1 to 64 in the others; n and k
log-uniform from 200 to 30000; one in twelve keeps an odd k, half of the rest are multiples of 8 and half of 64; n is
anything in one of four; bf16, tf32 and fp32 as 3 : 2 : 1; half with a bias. Shapes of more than 4e11 operations (fp32
6e10) or 1 GB of operands are drawn again. The other operations are drawn likewise, as the functions below say.
"""
import json
import math
import random
import sys

TYPES = ["bf16"] * 3 + ["tf32"] * 2 + ["fp32"]
BYTES = {"bf16": 2, "fp16": 2, "tf32": 4, "fp32": 4}
MOST_OPS = {"bf16": 4e11, "tf32": 4e11, "fp32": 6e10}
ELEMENTS = 1.3e8  # at most, of an operation that memory binds


def log_uniform(rng, low, high):
    return round(math.exp(rng.uniform(math.log(low), math.log(high))))


def rounded(value, step):
    return max(step, value // step * step)


def stepped(rng, low, high, steps):
    return rounded(log_uniform(rng, low, high), rng.choice(steps))


def again(draw, fits):
    """Draw until it fits."""
    while not fits(drawn := draw()):
        pass
    return drawn


def linear_once(rng):
    kind = rng.choice(TYPES)
    m = log_uniform(rng, 1, 64) if rng.random() < 0.25 else log_uniform(rng, 1, 20000)
    n, k = log_uniform(rng, 200, 30000), log_uniform(rng, 200, 30000)
    k = k | 1 if rng.random() < 1 / 12 else rounded(k, rng.choice([8, 64]))
    n = n if rng.random() < 0.25 else rounded(n, 8)
    return {"m": m, "n": n, "k": k, "type": kind, "bias": rng.choice(["none", "fused"])}


def linear_fits(shape):
    m, n, k, kind = (shape[dim] for dim in ("m", "n", "k", "type"))
    return 2 * m * n * k <= MOST_OPS[kind] and (m * k + n * k + m * n) * BYTES[kind] <= 1e9


def linear(rng):
    return again(lambda: linear_once(rng), linear_fits)


def product(rng, dims, most_rows, steps, most_ops):
    """Rows, columns and k of a product: few rows in three of ten."""
    def once():
        rows = log_uniform(rng, 1, 64) if rng.random() < 0.3 else log_uniform(rng, 1, most_rows)
        return rows, stepped(rng, 200, 20000, steps), stepped(rng, 200, 20000, steps)
    return dict(zip(dims, again(once, lambda d: 2 * d[0] * d[1] * d[2] <= most_ops)))


def linear_fp8(rng):
    return {**product(rng, "mnk", 20000, (16, 64, 128), 2e11), "scale": rng.choice(("tensor", "tensor", "block"))}


def coded(rng, most_rows, steps):
    """A product with codes of the lattice E8."""
    return {**product(rng, ("rows", "columns", "k"), most_rows, steps, 1e11),
            "code": rng.choice(("q2m1", "q4m1", "q4m2", "q3m2"))}


def mlp(rng):
    return {"m": log_uniform(rng, 1, 20000), "c": stepped(rng, 32, 2048, (8, 64)),
            "type": rng.choice(("bf16", "tf32", "fp32", "fp16"))}


def heads_of(rng, head_sizes):
    def once():
        return {"batch": log_uniform(rng, 1, 16), "heads": log_uniform(rng, 1, 32),
                "tokens": log_uniform(rng, 16, 16384), "head_size": rng.choice(head_sizes)}

    def fits(d):
        outputs = d["batch"] * d["heads"] * d["tokens"] * d["head_size"]
        return outputs * d["tokens"] <= 2e11 and outputs <= ELEMENTS
    return again(once, fits)


def attention(rng):
    return {**heads_of(rng, (32, 40, 64, 80, 96, 112, 128, 192, 256)),
            "type": rng.choice(("bf16", "bf16", "fp16", "tf32", "fp32"))}


def attention_backward(rng):
    return {**heads_of(rng, (40, 64, 80, 96, 128, 256)), "type": "bf16"}


def attention_fp8(rng):
    return {**heads_of(rng, (64, 128)), "mask": rng.choice(("causal", "full"))}


def rows(rng, names=("rows", "columns"), least=16, most=262144):
    def once():
        return log_uniform(rng, 1, 200000), stepped(rng, least, most, (1, 1, 8, 64))
    return dict(zip(names, again(once, lambda d: d[0] * d[1] <= ELEMENTS)))


def typed_rows(rng):
    return {**rows(rng), "type": rng.choice(("fp32", "bf16", "fp16"))}


def layernorm(rng):
    return {**rows(rng), "residual": rng.choice(("none", "add"))}


def cross_entropy(rng):
    return {**rows(rng, least=256), "type": rng.choice(("fp32", "bf16", "fp16")),
            "gradient": rng.choice(("with", "none"))}


def rope(rng):
    def once():
        return {"batch": log_uniform(rng, 1, 16), "tokens": log_uniform(rng, 16, 4096),
                "heads": log_uniform(rng, 1, 40), "head_size": rng.choice((32, 64, 80, 96, 128))}
    drawn = again(once, lambda d: math.prod(d.values()) <= ELEMENTS)
    return {**drawn, "type": rng.choice(("fp32", "bf16", "fp16")), "pairs": rng.choice(("halves", "neighbours"))}


def fp8_quantize(rng):
    return {**rows(rng, most=65536), "input": rng.choice(("fp32", "bf16", "fp16")),
            "scale": rng.choice(("token", "1x128"))}


def int8_quantize(rng):
    return {"n": log_uniform(rng, 1000, 2e8), "input": rng.choice(("fp32", "bf16")),
            "scale": rng.choice(("odd", "pow2"))}


def int8_quantize_token(rng):
    return {**rows(rng, ("tokens", "hidden"), most=65536), "input": rng.choice(("fp32", "bf16"))}


def lattice(rng):
    return {"rows": log_uniform(rng, 1, 20000), "columns": stepped(rng, 64, 8192, (8, 64)),
            "lattice": rng.choice(("E8", "E8", "D4", "Z2", "A2")),
            "code": rng.choice(("q2m1", "q4m1", "q4m2", "q3m2")), "overload": rng.choice(("off", "off", "block"))}


def lattice_codes(rng):
    return {**lattice(rng), "type": rng.choice(("packed", "packed", "int8"))}


def vq_search(rng):
    return {"leaves": log_uniform(rng, 1, 20000), "type": rng.choice(("fp32", "tf32", "bf16"))}


def embedding(rng):
    return {"batch": log_uniform(rng, 1, 64), "tokens": log_uniform(rng, 1, 1024),
            "channels": stepped(rng, 32, 4096, (4, 64))}


def elements(rng):
    return {"n": log_uniform(rng, 1000, 2e8)}


# How an operation is drawn, and which variants are measured.
OPERATIONS = {
    "linear": (linear, "cublaslt, best, rows, skinny, fp32_tiles, *_wgmma, *_128"),
    "linear_fp8": (linear_fp8, "!naive"),
    "mlp": (mlp, "cublaslt, best, linear_finish_gelu*, fused_rowown"),
    "attention": (attention, "!naive3"),
    "attention_backward": (attention_backward, "!naive"),
    "attention_fp8": (attention_fp8, "!naive"),
    "layernorm": (layernorm, "!naive"),
    "row_softmax": (typed_rows, "!naive"),
    "rmsnorm": (typed_rows, "!naive"),
    "cross_entropy": (cross_entropy, "!naive"),
    "rope": (rope, "*"),
    "fp8_quantize": (fp8_quantize, "*"),
    "int8_quantize": (int8_quantize, "best, bulk, copy_r4w1, rcp16, div1"),
    "int8_quantize_token": (int8_quantize_token, "*"),
    "lattice_encode": (lattice_codes, "best, lookup, copy_encode, fused_*, tiled"),
    "lattice_decode": (lattice_codes, "best, lookup, copy_decode, fused_*"),
    "lattice_roundtrip": (lattice, "best, closest, copy_roundtrip, fused_*"),
    "lut_matmul": (lambda rng: coded(rng, 4096, (8, 64)),
                   "best, cublas_bf16, cublaslt_int8, decode_gemv*, table_gemv, decode_imma*, decode_mma"),
    "weight_only_linear": (lambda rng: coded(rng, 512, (8, 64)), "!naive"),
    "quantized_linear": (lambda rng: coded(rng, 4096, (8, 64)), "best, cublas_bf16, encode_*"),
    "vq_search": (vq_search, "*"),
    "embedding": (embedding, "*"),
    "gelu": (elements, "*"),
    "residual_add": (elements, "*"),
}


def draw(seed, count, operations):
    rng = random.Random(seed)
    named = " " + " ".join(operations) if len(operations) < 8 and operations != ["linear"] else ""
    print(f"# Shapes that nobody chose: scripts/neutral.py draw {seed} {count}{named}")
    print("[suite]\ntitle = shapes drawn by a seed\nbudget = 0.05\nprecision = 1")
    for operation in operations:
        shape_of, variants = OPERATIONS[operation]
        for number in range(1, count + 1):
            print(f"\n[group {operation} {number}]\noperation = {operation}\ndevice = cuda")
            for dim, value in shape_of(rng).items():
                print(f"{dim} = {value}")
            print(f"variants = {variants}")


def by_shape(document):
    """{(operation, shape): {variant: row}}"""
    shapes = {}
    for row in document["rows"]:
        key = (row["operation"], tuple(row["shape"].items()))
        shapes.setdefault(key, {})[row["variant"]] = row
    return shapes


def fastest(variants, kinds):
    """The fastest row of these kinds that is not `best`; None if there is none."""
    timed = [row for name, row in variants.items()
             if row["status"] == "ok" and row["kind"] in kinds and not name.endswith("best")]
    return min(timed, key=lambda row: row["time_ns"], default=None)


def of_best(variants):
    return next((row for name, row in variants.items() if name.endswith("best")), None)


def cell(value, digits=3):
    return "-" if value is None else f"{value:.{digits}g}"


def microseconds(row):
    return row["time_ns"] / 1e3 if row and row["status"] == "ok" else None


def quotient(row, best):
    return row["time_ns"] / best["time_ns"] if row and best and best["status"] == "ok" else None


def summary(name, ratios):
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    below = sum(ratio < 0.97 for ratio in ratios)
    print(f"\n{name}: {len(ratios)} shapes, geometric mean {mean:.3f}, worst {min(ratios):.3f}, {below} below 0.97")


def table(document):
    print("| operation, shape | best, us | baseline or bound | us | times best | fastest other | times best | best was |")
    print("|---|--:|---|--:|--:|---|--:|---|")
    ratios, missing = {}, 0
    for (operation, shape), variants in by_shape(document).items():
        best, own = of_best(variants), fastest(variants, ("kernel",))
        beside = fastest(variants, ("baseline",)) or fastest(variants, ("bound",))
        best = best or own  # where one kernel is all there is
        missing += microseconds(best) is None
        ratio = quotient(beside, best)
        if ratio:
            kind = dict(shape).get("type", "") if operation == "linear" else ""
            ratios.setdefault((operation, beside["kind"], kind), []).append(ratio)
        said = (best or {}).get("note") or (best or {}).get("reason") or ""
        cells = [f"{operation} " + " ".join(str(value) for _, value in shape), cell(microseconds(best)),
                 beside["variant"] if beside else "-", cell(microseconds(beside)), cell(ratio),
                 own["variant"] if own else "-", cell(quotient(own, best)), said]
        print("| " + " | ".join(cells) + " |")
    for (operation, kind, dim), part in ratios.items():
        summary(f"{operation} {dim}".strip() + f", beside its {kind}", part)
    if len(ratios) > 1 and {operation for operation, _, _ in ratios} == {"linear"}:
        summary("all", [ratio for part in ratios.values() for ratio in part])
    print(f"\nwithout a time of best: {missing}")


def main():
    arguments = sys.argv[1:]
    numbers = [int(text) for text in arguments[1:] if text.isdecimal()]
    operations = arguments[1 + len(numbers):]
    if arguments[:1] == ["draw"] and len(numbers) in (1, 2) and set(operations) <= set(OPERATIONS):
        draw(numbers[0], numbers[1] if len(numbers) == 2 else 60, operations or ["linear"])
    elif arguments == ["operations"]:
        print("\n".join(OPERATIONS))
    elif arguments == ["table"]:
        document = json.load(sys.stdin)
        if "rows" not in document:
            sys.exit("neutral.py: the input has no rows; it is what `assay show --format json` writes")
        table(document)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
