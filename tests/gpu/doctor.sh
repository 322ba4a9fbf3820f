# shellcheck shell=bash
# What the doctor says of a GPU is what happens there.
. "$(dirname "$0")/../cli/lib.sh"

check "the doctor finds a GPU to measure" says "Can be measured: cuda:0" "$ASSAY" doctor --device cuda:0
cp said.out doctor.out

printf '[suite]\nbudget = 0.02\n[group a]\noperation = int8_quantize\nn = 1M\nvariants = best\n' >one.ini
check "a profile is made" exits 0 "$ASSAY" profile one.ini --device cuda:0 --counters dram__bytes_read.sum
counted() { ! grep -qF "no counters:" said.out; }
promised() { grep -q "^ok *hardware counters" doctor.out; }
if promised; then
    check "counters that can be read are read" counted
else
    check "counters that cannot be read are not" fails counted
fi
