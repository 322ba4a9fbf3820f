#!/usr/bin/env python3
"""Write fleet.tsv: data and what SciPy and statsmodels make of it, for tests/judge/test_random_effects.c
and test_fleet.c.

    python3 tests/golden/make_fleet.py > tests/golden/fleet.tsv

Needs scipy 1.11 and statsmodels 0.14 or newer; the tests need neither. One check a line, its fields
separated by tabs:

    above   t  degrees of freedom  probability
    pooled  effect  error  between  Q  margin  effects  variances
    alike   which  p  effects  variances
    spread  scale  data

`pooled` is combine_effects(method_re="chi2") of statsmodels, which is DerSimonian and Laird's. It has the error of Hartung and
Knapp as it was published; where that is below the usual one, the usual one is written (Roever, Knapp
and Friede). The margin is half of the interval at 95 %.

`spread` is qn_scale of statsmodels with the corrections for few values of Croux and Rousseeuw (1992).
"""
import math

import numpy as np
from scipy import stats
from statsmodels.robust.scale import qn_scale
from statsmodels.stats.meta_analysis import combine_effects

rng = np.random.default_rng(20261123)


def text(value):
    return format(float(value), ".17g")


for freedom in (0.5, 1, 1.8, 2, 5, 23.5, 63, 400):
    for t in (-40, -2.5, -0.1, 0, 0.001, 0.3, 1, 2.5, 4.5, 12, 80):
        print("above", text(t), text(freedom), text(stats.t.sf(t, freedom)), sep="\t")

def pool(effects, variances):
    """(mean, error, variance between nodes, Q). Without any between them it is the fixed effect."""
    got = combine_effects(effects, variances, method_re="chi2", use_t=True)
    if got.tau2 > 0:
        return got.mean_effect_re, math.sqrt(max(got.var_hksj_re, got.var_eff_w_re)), got.tau2, got.q
    return got.mean_effect_fe, math.sqrt(max(got.var_hksj_fe, got.var_eff_w_fe)), 0, got.q


for nodes in (2, 3, 4, 7, 20, 64):
    for spread in (0, 0.002, 0.02):
        variances = rng.uniform(1e-6, 4e-5, nodes)
        effects = 0.01 + spread * rng.standard_normal(nodes) + np.sqrt(variances) * rng.standard_normal(nodes)
        data = " ".join(map(text, effects)), " ".join(map(text, variances))
        mean, error, between, q = pool(effects, variances)
        margin = error * stats.t.isf(0.025, nodes - 1)
        print("pooled", text(mean), text(error), text(between), text(q), text(margin), *data, sep="\t")
        if nodes < 4:
            continue
        which = int(rng.integers(nodes))
        mean, error, between, _ = pool(np.delete(effects, which), np.delete(variances, which))
        away = abs(effects[which] - mean) / math.sqrt(variances[which] + between + error**2)
        print("alike", which, text(2 * stats.t.sf(away, nodes - 2)), *data, sep="\t")

FEW = {2: 0.399, 3: 0.994, 4: 0.512, 5: 0.844, 6: 0.611, 7: 0.857, 8: 0.669, 9: 0.872}
for count in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 33, 64, 200):
    for data in (rng.standard_normal(count), np.round(3 * rng.standard_normal(count))):
        factor = FEW.get(count) or (count / (count + 1.4) if count % 2 else count / (count + 3.8))
        print("spread", text(factor * qn_scale(data)), " ".join(map(text, data)), sep="\t")
