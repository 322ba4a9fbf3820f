"""One line of TAP per test (scripts/run-tests.sh counts them), and what the tests share."""

import numpy as np
import pytest

import assay

pytest_plugins = "pytester"


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if report.failed or report.when == "call":
        name = report.nodeid.split("::")[-1].replace("_", " ")
        print(f"\n{'ok' if report.passed else 'not ok'} - {name}")


@pytest.fixture
def double():
    @assay.operation(reference=lambda x: 2 * x, sizes=dict(n=[4096]))
    def double(x: "in f32[n]", out: "out f32[n]"):
        """out = 2 x"""
    return double


@pytest.fixture
def right():
    def right(x, out):
        np.multiply(x, 2, out=out)
    return right


@pytest.fixture
def measure(tmp_path):
    """assay.run on the host, in a moment."""
    def measure(operation, variants, **options):
        options = dict(device="host", budget=0.02, ceilings=False, quiet=True,
                       db=tmp_path / "assay.sqlite") | options
        return assay.run(operation, variants, **options)
    return measure


def status(run):
    return {row["variant"]: (row["status"], row["reason"]) for row in run.rows}
