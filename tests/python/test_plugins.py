"""The fixture of pytest and the magic of IPython."""

from types import SimpleNamespace

TEST = """
import numpy as np
import pytest
import assay

@assay.operation(reference=lambda x: 2 * x, sizes=dict(n=[64]))
def double(x: "in f32[n]", out: "out f32[n]"): ...

def right(x, out):
    np.multiply(x, 2, out=out)

def wrong(x, out):
    np.multiply(x, 3, out=out)

@pytest.mark.parametrize("variant", [right, wrong], ids=["right", "wrong" + 200 * "!"])
def test_double(assay_benchmark, variant):
    run = assay_benchmark(double, [variant], device="host", ceilings=False)
    assert run.rows[0]["status"] == "ok"
"""


def test_the_fixture_fails_a_test_that_is_wrong(pytester):
    pytester.makepyfile(TEST)
    result = pytester.runpytest_subprocess("--assay-check", "--assay-db", "x.sqlite")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*wrong: wrong: out?0? is *", "*assay: *test_double?right?*",
                                 "*1 ok*", "*1 wrong*"])
    assert (pytester.path / "x.sqlite").exists()


def test_the_magic_measures_and_runs_commands(double, right, capsys, monkeypatch, tmp_path):
    from assay import load_ipython_extension
    made = {}
    shell = SimpleNamespace(user_ns=dict(double=double, right=right),
                            register_magic_function=lambda f, kind, name: made.update({name: f}))
    load_ipython_extension(shell)
    monkeypatch.chdir(tmp_path)
    run = made["assay"]("double right device=host budget=0.02 ceilings=False")
    assert [row["status"] for row in run.rows] == ["ok"]
    made["assay"](f"show {run.id[:8]}")
    assert "double n=4096 cold" in capsys.readouterr().out
