# shellcheck shell=bash
# The package for Python on a GPU: the examples, bad input, and ten kernels launched from C and from
# Python side by side. Needs torch with Triton, and CuPy, in the Python that PYTHON names; WHEEL is the
# folder of a wheel that is made already. Without a network, .carry has what pip would fetch
# (pip download -d .carry cloudpickle).
. "$(dirname "$0")/../cli/lib.sh"
. "$HERE/gpu/env.sh"
root=${HERE%/*}
python=${PYTHON:-python3}

if ! "$python" -c 'import torch, triton, cupy' 2>import.err; then
    skipped "no torch, Triton or CuPy: $(tail -n 1 import.err)"
    check "what is missing can be told" test -s import.err
    exit
fi

[ -n "${WHEEL:-}" ] || check "a wheel is made" exits 0 make -C "$root" wheel
wheel=$(ls "${WHEEL:-$root/build}"/assay-*.whl)
offline=()
[ ! -d "$root/.carry" ] || offline=(--no-index --find-links "$root/.carry")
began=$SECONDS
check "pip installs the wheel" exits 0 "$python" -m pip install -q --no-deps --target site "$wheel"
"$python" -c 'import cloudpickle' 2>/dev/null ||
    check "and what it needs" exits 0 "$python" -m pip install -q "${offline[@]}" --target site cloudpickle
export PYTHONPATH="$TMP/site" ASSAY_DB="$TMP/python.sqlite"

# all_ok COUNT: the last run has so many rows, each ok and timed on the GPU (by events where recording
# several kernels stretches their span).
all_ok() {
    run "$python" - "$1" <<'END'
import sys, assay
run = assay.stored("latest")
for row in run.rows:
    assert row["status"] == "ok" and row["clock"] in ("cupti", "event"), row
assert len(run.rows) == int(sys.argv[1]), len(run.rows)
END
    [ "$code" -eq 0 ]
}

cp -r "$root/examples/python" examples
check "Triton against torch, eager and compiled" exits 0 "$python" examples/triton_softmax.py
check "its rows are right and timed" all_ok 6
check "from pip to a checked number of Triton in a minute" test $((SECONDS - began)) -lt 60
echo "# $((SECONDS - began)) s"
check "CuPy's RawKernel" exits 0 "$python" examples/cupy_kernel.py
check "its rows are right and timed" all_ok 4
check "torch's inline loader" exits 0 "$python" examples/inline_cuda.py
check "its rows are right and timed" all_ok 4

# These print TAP of their own.
run "$python" "$HERE/gpu/python/bad_input.py"
cat said.out
[ "$code" -eq 0 ] || sed 's/^/# /' said.err
check "bad input was tried" test "$code" -eq 0

sm=$("$python" -c 'import torch; print("%d%d" % torch.cuda.get_device_capability())')
ten=$HERE/gpu/python/ten.cu
check "ten kernels compile for Python" exits 0 nvcc -std=c++17 -O3 -cubin -arch="sm_$sm" -DKERNELS_ONLY -o ten.cubin "$ten"
check "and for C" exits 0 nvcc -std=c++17 -O3 -shared -Xcompiler -fPIC -arch="sm_$sm" -I"$root/harness" -o ten.so "$ten"
run "$python" "$HERE/gpu/python/ten.py"
cat said.out
[ "$code" -eq 0 ] || sed 's/^/# /' said.err
check "ten kernels were timed from C and from Python" test "$code" -eq 0
