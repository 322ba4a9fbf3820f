#!/usr/bin/env python3
"""Write gate.tsv: data and what SciPy makes of it, for tests/test_gate_stats.c.

    python3 tests/golden/make_gate.py > tests/golden/gate.tsv

Needs numpy and scipy 1.11 or newer; the tests need neither. One check a line,
its fields separated by tabs:

    signed    side  shift  p  differences
    centre    confidence  mid  lo  hi  differences
    ranksum   side  shift  p  x  y
    move      confidence  mid  lo  hi  x  y
    holm      alpha  rejected  p values
    bh        rate  rejected  p values
    normal    p  quantile

Exact p values come from going through every arrangement there is, or from
SciPy's exact distributions where there are no ties; intervals by inverting
SciPy's tests, one shift between two neighbours at a time. Beyond 32 values a side
the rank sum is SciPy's asymptotic one, with its corrections for ties and continuity.
"""
import itertools

import numpy as np
from scipy import stats

rng = np.random.default_rng(20240522)


def text(value):
    return format(float(value), ".17g")


def row(kind, *fields):
    print(kind, *fields, sep="\t")


def numbers(data):
    return " ".join(text(x) for x in data)


def signed_rank(differences, shift, side):
    """Zeros count against the alternative; all patterns of signs, one by one."""
    d = (differences - shift) * side
    ranks = stats.rankdata(np.abs(d))
    observed = ranks[d > 0].sum()
    patterns = (np.arange(2 ** len(d))[:, None] >> np.arange(len(d))) & 1
    return np.mean(patterns @ ranks >= observed - 1e-9)


def signed_rank_untied(differences, shift, side):
    return stats.wilcoxon(differences - shift, method="exact",
                          alternative="greater" if side > 0 else "less").pvalue


def rank_sum(x, y, shift, side):
    """All choices of which values are those of y, one by one."""
    ranks = stats.rankdata(np.concatenate([x, y - shift]) * side)
    observed = ranks[len(x):].sum()
    sums = [sum(chosen) for chosen in itertools.combinations(ranks, len(y))]
    return np.mean(np.array(sums) >= observed - 1e-9)


def rank_sum_untied(x, y, shift, side):
    return stats.mannwhitneyu(y - shift, x, method="exact",
                              alternative="greater" if side > 0 else "less").pvalue


def inverted(points, accepts):
    """Ends of the shifts that a test accepts: it changes only at `points`."""
    points = np.sort(points)
    if accepts(points[0] - 1) or accepts(points[-1] + 1):
        return float("nan"), float("nan")
    inside = [accepts(0.5 * (a + b)) for a, b in zip(points[:-1], points[1:])]
    return points[inside.index(True)], points[len(inside) - inside[::-1].index(True)]


def pair_means(d):
    i, j = np.triu_indices(len(d))
    return 0.5 * (d[i] + d[j])


def holm(p, alpha):
    p = np.asarray(p)
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    rejected = np.zeros(len(p), int)
    rejected[order] = adjusted <= alpha
    return rejected


def rank_sum_asymptotic(x, y, shift, side):
    return stats.mannwhitneyu(y - shift, x, method="asymptotic", use_continuity=True,
                              alternative="greater" if side > 0 else "less").pvalue


def bh(p, rate):
    return (stats.false_discovery_control(p, method="bh") <= rate).astype(int)


def main():
    for count in range(1, 13):
        for kind in ("plain", "tied"):
            d = rng.normal(0.01, 0.02, count)
            if kind == "tied":
                d = np.round(d, 2)
            for side in (1, -1):
                for shift in (0, 0.02, -0.01):
                    row("signed", side, text(shift), text(signed_rank(d, shift, side)), numbers(d))
    for count in (6, 10, 16, 20, 40):
        d = rng.normal(0.005, 0.01, count)
        for side in (1, -1):
            row("signed", side, "0", text(signed_rank_untied(d, 0, side)), numbers(d))
    for count in (1, 5, 6, 7, 10, 16, 20):
        d = rng.normal(0.01, 0.02, count)
        for confidence in (0.9, 0.95, 0.99):
            lo, hi = inverted(pair_means(d), lambda shift: stats.wilcoxon(
                d - shift, method="exact").pvalue > (1 - confidence) * (1 + 1e-9))
            row("centre", text(confidence), text(np.median(pair_means(d))), text(lo), text(hi),
                numbers(d))
    for x_count, y_count in ((1, 1), (2, 3), (4, 4), (5, 5), (6, 4), (7, 6)):
        for kind in ("plain", "tied"):
            x, y = rng.normal(0, 0.02, x_count), rng.normal(0.01, 0.02, y_count)
            if kind == "tied":
                x, y = np.round(x, 2), np.round(y, 2)
            for side in (1, -1):
                for shift in (0, 0.02):
                    row("ranksum", side, text(shift), text(rank_sum(x, y, shift, side)), numbers(x),
                        numbers(y))
    for x_count, y_count in ((5, 9), (10, 10), (20, 17), (30, 30)):
        x, y = rng.normal(0, 0.02, x_count), rng.normal(0.01, 0.02, y_count)
        for side in (1, -1):
            row("ranksum", side, "0", text(rank_sum_untied(x, y, 0, side)), numbers(x), numbers(y))
    for x_count, y_count in ((1, 1), (3, 3), (4, 4), (5, 3), (6, 8), (12, 10)):
        x, y = rng.normal(0, 0.02, x_count), rng.normal(0.01, 0.02, y_count)
        between = np.subtract.outer(y, x).ravel()
        for confidence in (0.9, 0.95, 0.99):
            lo, hi = inverted(between, lambda shift: stats.mannwhitneyu(
                y - shift, x, method="exact").pvalue > (1 - confidence) * (1 + 1e-9))
            row("move", text(confidence), text(np.median(between)), text(lo), text(hi), numbers(x),
                numbers(y))
    for count in (1, 2, 5, 20, 51):
        p = rng.random(count) ** 6
        for alpha in (0.01, 0.05):
            row("holm", text(alpha), " ".join(map(str, holm(p, alpha))), numbers(p))
    for p in (1e-9, 0.001, 0.025, 0.2, 0.5, 0.8, 0.975, 0.99995):
        row("normal", text(p), text(stats.norm.ppf(p)))
    for count in (1, 2, 5, 20, 200):
        p = np.round(rng.random(count) ** 6, 4)
        for rate in (0.01, 0.05, 0.2):
            row("bh", text(rate), " ".join(map(str, bh(p, rate))), numbers(p))
    for x_count, y_count in ((33, 5), (40, 35), (6, 80)):
        for kind in ("plain", "tied"):
            x, y = rng.normal(0, 0.02, x_count), rng.normal(0.005, 0.02, y_count)
            if kind == "tied":
                x, y = np.round(x, 2), np.round(y, 2)
            for side in (1, -1):
                for shift in (0, 0.02):
                    row("ranksum", side, text(shift),
                        text(rank_sum_asymptotic(x, y, shift, side)), numbers(x), numbers(y))


if __name__ == "__main__":
    main()
