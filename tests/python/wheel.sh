#!/bin/bash
# The wheel in a fresh environment of Python: the program in it, the tests of python/, the examples
# that need no GPU. WHEEL is the folder of the wheel; PYTHON makes the environment. pip fetches NumPy,
# cloudpickle and pytest.
. "$(dirname "$0")/../cli/lib.sh"

wheel=$(ls "${WHEEL:?}"/assay-*.whl)
check "an environment is made" "${PYTHON:-python3}" -m venv env
export PATH="$TMP/env/bin:$PATH"
check "pip installs the wheel" exits 0 pip install -q --disable-pip-version-check "$wheel" pytest
check "the module is there" exits 0 python -c 'import assay'

# The program of this environment: nothing of the tree is near.
check "the program is there" says "assay $(cat "$HERE/../VERSION")" assay --version
check "it has its suites" says "core" assay list suites
check "it measures" exits 0 assay run smoke --check --device host --no-ceilings --db a.sqlite --quiet
check "as a module too" exits 0 python -m assay show latest --db a.sqlite
check "it begins an object of one's own" exits 0 assay new softsign --language c
check "and measures it" exits 0 make -C softsign run
check "a usage error ends with 2" exits 2 assay run nosuch
check "so does a name that is no UTF-8" exits 2 assay run $'\xff'
check "a module is no program for a gate" warns "no file of its own" \
    python -m assay gate smoke --base "$(command -v assay)"

run python -m pytest -q -p no:cacheprovider --rootdir "$HERE/python" "$HERE/python"
grep -E '^(not )?ok - ' said.out
# What a test that failed says is shown.
[ "$code" -eq 0 ] || sed 's/^/# /' said.out
check "pytest agrees" test "$code" -eq 0

cp -r "$HERE/../examples/python" examples
check "the example of NumPy measures" says "in_place" python examples/numpy_softmax.py
