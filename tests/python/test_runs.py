"""Runs on the host: from functions to stored rows, and what is made of them."""

import io
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import status

import assay


def test_rows_are_checked_and_timed(measure, double, right):
    def in_two_parts(x, out):
        half = len(x) // 2
        np.multiply(x[:half], 2, out=out[:half])
        np.multiply(x[half:], 2, out=out[half:])

    run = measure(double, [right, in_two_parts], temperature="cold, hot")
    assert run.exit_code == 0 and len(run.rows) == 4
    for row in run.rows:
        assert (row["operation"], row["status"], row["shape"]) == ("double", "ok", dict(n=4096))
        assert (row["outputs"], row["checked"], row["bytes"]) == (4096, 4096, 2 * 4 * 4096)
        assert 0 < row["lo_ns"] <= row["time_ns"] <= row["hi_ns"]
    assert {row["against"] for row in run.rows} == {"right"}
    again = assay.stored(run.id, run.db)
    assert again.rows == run.rows
    assert "in_two_parts" in str(again)
    assert "| in_two_parts |" in again._repr_markdown_()


def test_versions_are_stored(measure, double, right):
    library = measure(double, [right]).document["run"]["launches"][0]["device"]["library"]
    assert f"Python {sys.version.split()[0]}" in library and f"numpy {np.__version__}" in library


def test_the_text_of_functions_is_stored(measure, double, right):
    run = measure(double, {"it": right}, check=True)
    with sqlite3.connect(run.db) as database:
        (text,), = database.execute("SELECT suite_text FROM run")
    assert re.search(r"^; it:\n;.*def right.*\n; *np.multiply\(x, 2, out=out\)$", text, re.M)
    assert "; reference:\n" in text


def test_a_long_line_of_a_function_is_cut(measure, double):
    def right(x, out):
        # øøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøøø
        np.multiply(x, 2, out=out)

    run = measure(double, [right], check=True)
    with sqlite3.connect(run.db) as database:
        (text,), = database.execute("SELECT suite_text FROM run")
    assert re.search(r"^; +# ø{50,}$", text, re.M)


def test_the_names_of_many_variants_are_one_list(measure, double, right):
    names = [f"a_name_that_takes_its_room_in_a_line_{i:02}" for i in range(20)]
    run = measure(double, dict.fromkeys(names, right), check=True)
    assert sorted(row["variant"] for row in run.rows) == names


IN_C = """
#include "assay.h"

static int launch(struct assay_call *call)
{
    for (int64_t i = 0; i < call->shape->value[0]; i++)
        ((float *)call->buffer[1])[i] = 2 * ((const float *)call->buffer[0])[i];
    return 0;
}

static const struct assay_variant in_c = {
    .operation = "double", .name = "in_c", .summary = "a loop", .place = ASSAY_HOST,
    .launch = launch};
ASSAY_REGISTER_VARIANT(in_c);
"""


def test_a_shared_object_takes_part(measure, double, right, tmp_path):
    root = pathlib.Path(__file__).resolve().parents[2]
    (tmp_path / "in_c.c").write_text(IN_C)
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{root / 'harness'}", "-o", tmp_path / "in_c.so",
                    tmp_path / "in_c.c"], check=True)
    run = measure(double, [right, "in_c"], load=[tmp_path / "in_c.so"])
    assert status(run) == {"right": ("ok", None), "in_c": ("ok", None)}


def test_sizes_types_and_several_outputs(measure):
    def reference(x, scale):
        return x.max(axis=1), x * scale[0]

    @assay.operation(reference=reference, tolerance=dict(scaled=(0, 1e-2)),
                     sizes=dict(rows=[2, 5], dtype=["f32", "f64"]),
                     fill=dict(scale=lambda s, rng: np.full(1, 3 * s.rows)))
    def both(x: "in dtype[rows, 7]", scale: "in i64[1]", most: "out dtype[rows]",
             scaled: "out dtype[rows, 7]"): ...

    def variant(x, scale, most, scaled, rows, dtype):
        assert x.shape == (rows, 7) and x.dtype == dict(f32="float32", f64="float64")[dtype]
        assert scale[0] == 3 * rows
        most[:] = x.max(axis=1)
        scaled[:] = x * scale[0]
        return most, scaled

    run = measure(both, [variant])
    assert [row["status"] for row in run.rows] == ["ok"] * 4
    assert [row["checked"] for row in run.rows] == [16, 16, 40, 40]


def test_bits_of_bf16(measure):
    @assay.operation(reference=lambda x: x, sizes=dict(n=[64]),
                     fill=dict(x=lambda s, rng: rng.normal(size=s.n)))
    def copy(x: "in bf16[n]", out: "out bf16[n]"): ...

    def bits(x, out):
        assert x.dtype == np.uint16
        out[:] = x

    assert status(measure(copy, [bits])) == {"bits": ("ok", None)}


@pytest.mark.parametrize("name, codes", [
    # 448 and what is beyond it, a tie that goes to the even neighbour below, the least number.
    ("e4m3", [0x7e, 0x7e, 0xfe, 0x18, 0x01, 0x00, 0x80, 0x38]),
    ("e5m2", [0x5f, 0x7b, 0xfb, 0x2c, 0x18, 0x00, 0x80, 0x3c]),
])
def test_codes_of_8_bit_floats(measure, name, codes):
    values = [448, 1e9, -np.inf, 0.0625 + 2**-8, 2**-9, 0, -0.0, 1]

    @assay.operation(reference=lambda x: x, sizes=dict(n=[8], dtype=[name]),
                     fill=dict(x=lambda s, rng: np.array(values)))
    def copy(x: "in dtype[n]", out: "out dtype[n]"): ...

    def bits(x, out):
        assert x.tolist() == codes
        out[:] = x

    assert status(measure(copy, [bits])) == {"bits": ("ok", None)}


def test_the_programs_own_operations_take_functions(measure):
    def mine(source, *rest):
        rest[-1][:] = source

    run = measure("memory", {"mine": lambda *tensors: None, "memcpy": "memcpy"},
                  sizes=dict(bytes=65536, mix="copy"))
    assert status(run)["memcpy"] == ("ok", None)
    alone = measure("memory", ["memcpy"], sizes=dict(bytes=65536, mix="copy"), check=True)
    assert status(alone) == {"memcpy": ("ok", None)}
    assert status(run)["mine"][0] == "wrong"


def test_functions_of_numpy_run_on_the_host(measure, double, right):
    run = measure(double, right, device="auto", check=True)
    assert "--device host" in run.document["run"]["command"]


def test_a_baseline_is_a_function_or_a_name(measure, double, right):
    def other(x, out):
        np.multiply(x, 2, out=out)

    for baseline in (other, "other", assay.variant(other)):
        run = measure(double, [right, other], baseline=baseline)
        assert {row["against"] for row in run.rows} == {"other"}


def test_variants_are_renamed_by_a_dict(measure, double, right):
    run = measure(double, {"first": right, "second": assay.variant(prepare=True)(
        lambda x, out: lambda: np.multiply(x, 2, out=out))}, baseline="second")
    assert status(run) == {"first": ("ok", None), "second": ("ok", None)}
    assert {row["against"] for row in run.rows} == {"second"}


def test_what_runs_once_is_prepared(measure, double, tmp_path):
    calls = tmp_path / "calls"

    @assay.variant(prepare=True)
    def prepared(x, out):
        with open(calls, "a") as file:
            file.write("once\n")
        return lambda: np.multiply(x, 2, out=out)

    run = measure(double, [prepared])
    assert run.rows[0]["samples"] >= 30
    assert 1 <= len(calls.read_text().split()) <= 2  # again with other buffers


def test_a_comparison(measure, double, right):
    def slower(x, out):
        for _ in range(200):
            np.multiply(x, 2, out=out)

    base = measure(double, dict(it=right), launches=3)
    candidate = measure(double, dict(it=slower), launches=3, db=base.db + ".other.sqlite")
    comparison = assay.compare(base, candidate)
    row, = comparison.rows
    assert row["ratio"] > 5 and row["verdict"] in ("REGRESSED", "SUSPECT")
    assert comparison.counts[row["verdict"]] == 1
    assert row["verdict"] in str(comparison)


def test_a_page(measure, double, right, tmp_path):
    measure(double, [right]).report(tmp_path / "x.html")
    assert "double" in (tmp_path / "x.html").read_text()


def test_a_data_frame(measure, double, right, monkeypatch):
    class Frame(list):
        def drop(self, columns, errors):
            return [{k: v for k, v in row.items() if k not in columns} for row in self]

    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=Frame))
    row, = measure(double, [right]).to_dataframe()
    assert row["n"] == 4096 and row["variant"] == "right" and "shape" not in row


def test_progress_is_told(measure, double, right, monkeypatch):
    said = io.StringIO()
    monkeypatch.setattr(sys, "stderr", said)
    measure(double, [right], quiet=False)
    assert "[1/1] double n=4096 cold: 1 ok" in said.getvalue()


def test_a_label_finds_a_run(measure, double, right):
    run = measure(double, [right], label="tuesday", check=True)
    assert run.rows[0]["time_ns"] is None and run.rows[0]["status"] == "ok"
    assert assay.stored("tuesday", run.db).id == run.id
    with pytest.raises(assay.Error, match="tuesdy"):
        assay.stored("tuesdy", run.db)


def test_an_interrupt_keeps_what_was_measured(measure, double, right, tmp_path):
    def slow(x, out):
        time.sleep(0.2)
        np.multiply(x, 2, out=out)

    db = tmp_path / "assay.sqlite"
    fast = measure(double, [right])
    # A notebook's interrupt: this process alone gets the signal.
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        measure(double, [slow], budget=60)
    runs = [assay.stored(name, db) for name in ("latest", "latest~1")]
    assert [run.document["run"]["status"] for run in runs] == ["interrupted", "complete"]
    assert runs[1].id == fast.id


def test_an_interrupt_does_not_wait_for_many_rows(measure, tmp_path):
    @assay.operation(reference=lambda x: x, sizes=dict(n=[*range(1, 101), 1000]))
    def copy(x: "in f32[n]", out: "out f32[n]"): ...

    def stops_late(x, out, n):
        if n == 1000:
            (tmp_path / "late").touch()
            time.sleep(30)
        out[:] = x

    def interrupt():
        while not (tmp_path / "late").exists():
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        measure(copy, [stops_late], check=True, timeout=60)
    assert len(assay.stored(db=tmp_path / "assay.sqlite").rows) == 100
