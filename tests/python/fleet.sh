#!/bin/bash
# The tools of others that examples/ speaks of, for real: ReFrame runs a suite, DuckDB reads a database and writes
# Parquet. WHEEL is the folder of the wheel, whose program they run; PYTHON makes the environment. pip fetches
# reframe-hpc and DuckDB with its extension for SQLite.
. "$(dirname "$0")/../cli/lib.sh"

wheel=$(ls "${WHEEL:?}"/assay-*.whl)
check "an environment is made" "${PYTHON:-python3}" -m venv env
export PATH="$TMP/env/bin:$PATH"
check "pip installs the tools" exits 0 pip install -q --disable-pip-version-check "$wheel" reframe-hpc \
    duckdb-extension-sqlite-scanner

# ---- ReFrame: the example as it stands ----
reframe() {
    HOME=$TMP command reframe -c "$HERE/../examples/reframe/assay_test.py" --prefix "$TMP/reframe" -r -S suite=smoke \
        -S device=sim:noise=0.1 "$@"
}
check "ReFrame runs the suite" exits 0 reframe --performance-report --report-file=report.json
cp said.out first.txt
check "it passes" grep -q 'PASSED' first.txt
check "with a rate of a case" grep -qE 'int8_quantize_host_omp_n[0-9]+_.*_cold_rate .*GB/s' first.txt
check "a share of its ceiling" grep -qE 'int8_quantize_host_omp_n[0-9]+_.*_cold_share .*%' first.txt
check "and a speed-up" grep -qE 'int8_quantize_host_omp_n[0-9]+_.*_cold_speedup' first.txt
database=$(find reframe/output -name results.sqlite | head -n 1)
check "the database is among the outputs" [ -s "${database:-none}" ]
check "and has the run" says "smoke" assay list runs --db "$database"
# The figure that ReFrame read is that of the database.
cat >same.py <<'PY'
import json, sqlite3, sys
report, database = json.load(open(sys.argv[1])), sqlite3.connect(sys.argv[2])
figures = {}
def walk(node):
    if isinstance(node, dict):
        if isinstance(node.get("perfvalues"), dict):
            figures.update({key.split(":")[-1]: value[0] for key, value in node["perfvalues"].items()})
        for value in node.values():
            walk(value)
    elif isinstance(node, list):
        for value in node:
            walk(value)
walk(report)
rows = database.execute("SELECT operation, variant, shape, temperature, gb_per_s FROM cases"
                        " WHERE purpose = 'case' AND gb_per_s > 0 AND operation = 'int8_quantize'").fetchall()
for operation, variant, shape, temperature, rate in rows:
    name = "_".join([operation, variant, shape.replace(" ", "_").replace("=", ""), temperature, "rate"])
    assert abs(figures[name] / rate - 1) < 1e-6, (name, figures[name], rate)
print(len(rows), "figures are the same")
PY
check "the figures are those of the database" says "figures are the same" python same.py report.json "$database"
check "a share that no case reaches fails" says "performance error" reframe -S least=200
check "a wrong answer fails" exits 1 reframe -S 'device=sim:wrong=*/host_omp'
check "an unknown suite fails" exits 1 reframe -S suite=nosuch

# ---- DuckDB: the script as it stands, but that the extension is not fetched from the network ----
mkdir results
"$HERE/fleet_db.sh" assay results/assay.sqlite 16
query results/assay.sqlite "UPDATE result SET time_ns = 1.02 * time_ns
    WHERE launch_id = (SELECT id FROM launch WHERE device_id = 'd7')"
cat >cases.py <<'PY'
import glob, os, sys
import duckdb, duckdb_extension_sqlite_scanner as extension
path, = glob.glob(os.path.dirname(extension.__file__) + "/extensions/*/sqlite_scanner.duckdb_extension")
text = open(sys.argv[1]).read()
assert "INSTALL sqlite;\nLOAD sqlite;\n" in text
connection = duckdb.connect()
connection.execute(text.replace("INSTALL sqlite;\nLOAD sqlite;\n", f"LOAD '{path}';\n"))
for row in connection.fetchall():
    print(*row)
print(connection.sql("SELECT 'total', count(*), sum(time_ns), min(started_at) FROM 'cases.parquet'").fetchone())
print("types", *connection.sql("SELECT typeof(time_ns), typeof(started_at), typeof(link_width) FROM 'cases.parquet' LIMIT 1").fetchone())
PY
check "DuckDB reads the database and writes Parquet" exits 0 python cases.py "$HERE/../examples/duckdb/cases.sql"
cp said.out duck.txt
check "times are numbers" grep -q '^types DOUBLE TIMESTAMP BIGINT' duck.txt
check "every case is there" grep -q "^('total', 480, " duck.txt
check "with its time" bash -c "sum=\$(sqlite3 results/assay.sqlite 'SELECT round(sum(time_ns)) FROM result');
    awk -F', ' -v sum=\"\$sum\" '/total/ { exit !(\$3 - sum < 1 && sum - \$3 < 1) }' duck.txt"
check "the slow card is the first of the list" bash -c 'head -n 1 duck.txt | grep -qE "^NVIDIA H200 GPU-0007 1\.0(1[5-9]|2[0-5])"'
check "and assay fleet says the same" says "GPU-0007" assay fleet --db results/assay.sqlite
