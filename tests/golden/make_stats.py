#!/usr/bin/env python3
"""Write stats.tsv: data and what NumPy and SciPy make of it, for tests/test_stats_golden.c.

    python3 tests/golden/make_stats.py > tests/golden/stats.tsv

Needs numpy and scipy 1.10 or newer; the tests need neither. One check a line,
its fields separated by tabs:

    rank      count  confidence  rank
    median    expected  data
    quantile  q  expected  data
    interval  confidence  mid  lo  hi  data
    mad       expected  data
    paired    mid  lo  hi  base  candidate

data is numbers with blanks between; base and candidate are time:round:mark.
Every double is written with the 17 digits that give it back exactly.
"""
import warnings

import numpy as np
from scipy import stats

rng = np.random.default_rng(20240521)


def text(value):
    return format(float(value), ".17g")


def row(kind, *fields):
    print(kind, *fields, sep="\t")


def numbers(data):
    return " ".join(text(x) for x in data)


def rank(count, confidence):
    """Largest r with P(r <= B <= count - r) >= confidence, B binomial(count, 1/2)."""
    # Start a little inside what the quantile says, and widen until it is covered.
    guess = int(stats.binom.ppf((1 - confidence) / 2, count, 0.5)) + 2
    while guess > 0 and 2 * stats.binom.cdf(guess - 1, count, 0.5) > (1 - confidence) * (1 + 1e-9):
        guess -= 1
    return guess


def interval(data, confidence):
    """SciPy's own interval of a quantile, where it has one of two sides."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bounds = stats.quantile_test(data, q=0, p=0.5).confidence_interval(confidence)
    if not (np.isfinite(bounds.low) and np.isfinite(bounds.high)):
        return float("nan"), float("nan")
    return bounds.low, bounds.high


def times(count):
    """Times as they come: a skewed bulk, a few far outliers, some ties."""
    data = 2000 * rng.lognormal(0, 0.05, count)
    data[rng.random(count) < 0.03] *= 5
    return np.round(data * 4) / 4


def paired_series(rounds, block, scale, drift):
    series = []
    for r in rounds:
        for time in times(block) * scale * drift[r]:
            series.append((np.float32(time), r, int(rng.random() < 0.1) * int(rng.integers(1, 8))))
    return series


def paired_text(series):
    return " ".join(f"{text(t)}:{r}:{m}" for t, r, m in series)


def paired_ratio(base, candidate):
    def medians(series):
        kept = {}
        for time, r, mark in series:
            if mark == 0:
                kept.setdefault(r, []).append(float(time))
        return {r: np.median(values) for r, values in kept.items()}

    left, right = medians(base), medians(candidate)
    ratios = np.array([left[r] / right[r] for r in left if r in right])
    if len(ratios) == 0:
        return (float("nan"),) * 3
    # The median of the logarithms: the geometric mean of the middle two.
    return float(np.exp(np.median(np.log(ratios)))), *interval(ratios, 0.95)


def main():
    for count in [*range(1, 41), 50, 99, 100, 101, 500, 999, 1000, 4097, 10000, 65535, 100000,
                  999999, 1000000]:
        for confidence in (0.5, 0.9, 0.95, 0.99, 0.999):
            row("rank", count, text(confidence), rank(count, confidence))
    for count in (1, 2, 3, 4, 5, 6, 7, 10, 31, 32, 100, 201):
        data = times(count)
        row("median", text(np.median(data)), numbers(data))
        row("mad", text(stats.median_abs_deviation(data, scale=1 / 1.4826)), numbers(data))
        for q in (0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1):
            row("quantile", text(q), text(np.quantile(data, q)), numbers(np.sort(data)))
        for confidence in (0.9, 0.95, 0.99):
            row("interval", text(confidence), text(np.median(data)),
                *map(text, interval(data, confidence)), numbers(data))
    drift = 1 + 0.2 * rng.random(64)
    for rounds, block in ((1, 3), (5, 4), (6, 1), (9, 8), (20, 5), (33, 4)):
        base = paired_series([r for r in range(rounds) if r % 7 != 3], block, 1.3, drift)
        candidate = paired_series([r for r in range(rounds) if r % 5 != 4], block, 1, drift)
        row("paired", *map(text, paired_ratio(base, candidate)), paired_text(base),
            paired_text(candidate))


if __name__ == "__main__":
    main()
