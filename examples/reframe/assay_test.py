"""Assay under ReFrame (https://reframe-hpc.readthedocs.io, 4.0 or newer): a suite is a test, and each case
has figures of merit.

    reframe -c assay_test.py -r -S suite=core -S device=cuda:0

The figures of a case are its rate in GB/s or GFLOP/s, its share of the ceiling that was measured in the same
run (%), and its speed-up over the baseline of its group. Of these the last two need no reference per card:
`least` holds all shares to one, and a site's own `reference` does the rest.
"""
import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_before, sanity_function, variable


@rfm.simple_test
class AssaySuite(rfm.RunOnlyRegressionTest):
    descr = "a suite of Assay: right answers, and how fast"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]

    program = variable(str, value="assay")
    suite = variable(str, value="core")
    device = variable(str, value="auto")
    cases = variable(str, value="*")  # a pattern as --filter takes it
    # The share of its ceiling that every case must reach, in %; 0: none is asked for.
    least = variable(float, value=0.0)

    @run_before("run")
    def name_the_command(self):
        self.executable = self.program
        self.executable_opts = ["run", self.suite, "--device", self.device, "--filter", f"'{self.cases}'",
                                "--db", "results.sqlite", "--label", "reframe", "--format", "json"]
        self.keep_files = ["results.sqlite"]

    def rows(self):
        with open(os.path.join(self.stagedir, str(self.stdout))) as file:
            return json.load(file)["rows"]

    @sanity_function
    def answers_are_right(self):
        """0: all is well; 1: an answer is wrong; 5: a case crashed. Standard error has the reason."""
        return sn.assert_eq(self.job.exitcode, 0, "assay ended with {0}")

    @run_before("performance")
    def name_the_figures(self):
        figures = {}
        for row in self.rows():
            if row["time_ns"] is None:
                continue
            shape = "_".join(f"{name}{value}" for name, value in row["shape"].items())
            case = "_".join([row["operation"], row["variant"], shape, row["temperature"]])
            is_ops = row["ceiling"] in ("fp32", "tf32", "bf16", "fp16", "int8", "fp64")
            amount = row["ops"] if is_ops else row["bytes"]
            if amount:
                figures[f"{case}_rate"] = amount / row["time_ns"], "GFLOP/s" if is_ops else "GB/s"
            if row["ceiling_fraction"] is not None:
                figures[f"{case}_share"] = 100 * row["ceiling_fraction"], "%"
            if row["speedup"] is not None:
                figures[f"{case}_speedup"] = row["speedup"], "x"
        self.perf_variables = {name: sn.make_performance_function(sn.defer(value), unit)
                               for name, (value, unit) in figures.items()}
        if self.least > 0:
            shares = {name: (self.least, 0, None, "%") for name in figures if name.endswith("_share")}
            self.reference = {"*": shares}
