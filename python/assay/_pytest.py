"""pytest: `assay_benchmark` measures in a test, and fails it if an answer is wrong.

    def test_softmax(assay_benchmark):
        run = assay_benchmark(softmax, [eager, fused])

--assay-db FILE names the database, --assay-check checks every answer and times nothing. The tables
stand behind the tests' own summary.
"""

import pytest

_BAD = ("wrong", "crashed", "timeout")
_LABEL = 127  # bytes at most; the ids of pytest are ASCII
_runs = pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("assay")
    group.addoption("--assay-db", metavar="FILE", help="the database of assay_benchmark's runs")
    group.addoption("--assay-check", action="store_true",
                    help="assay_benchmark checks every answer and times nothing")


def pytest_configure(config):
    config.stash[_runs] = []


@pytest.fixture
def assay_benchmark(request):
    """assay.run, whose rows must be right: the options are the same."""
    import assay

    def measure(operation, variants, **options):
        config = request.config
        options.setdefault("db", config.getoption("--assay-db"))
        options.setdefault("check", config.getoption("--assay-check"))
        options.setdefault("label", request.node.name[:_LABEL])
        run = assay.run(operation, variants, quiet=True, **options)
        config.stash[_runs].append((request.node.nodeid, run))
        bad = [f"{row['variant']}: {row['status']}: {row['reason']}" for row in run.rows
               if row["status"] in _BAD]
        if bad:
            pytest.fail("\n".join(bad), pytrace=False)
        return run

    return measure


def pytest_terminal_summary(terminalreporter, config):
    for node, run in config.stash[_runs]:
        terminalreporter.section(f"assay: {node}")
        terminalreporter.write(str(run))
