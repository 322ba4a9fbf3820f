#!/usr/bin/env bash
# docs/schemas: each document that the program prints as JSON is what its schema says, and a document
# with a member more, one less, or one of another type is not.
. "$(dirname "$0")/lib.sh"
schemas=$HERE/../docs/schemas

# The first python that has jsonschema: Debian's package is for /usr/bin/python3.
python=""
for name in python3 /usr/bin/python3; do
    [ -n "$python" ] || ! "$name" -c 'import jsonschema' 2>/dev/null || python=$name
done
check "jsonschema is there (apt-get install python3-jsonschema)" [ -n "$python" ]
[ -n "$python" ] || exit

# valid NAME FILE: the file is such a document.
# strict NAME FILE: it is none any more with any one member of another type, any one left out, or one more.
cat >schema.py <<'PY'
import copy, json, sys
from jsonschema import Draft202012Validator

# Objects whose members are the run's own.
MAPS = {"shape", "quality", "counters", "ceilings", "labels"}

def shorter(node):
    """The first and the last of each array will do."""
    if isinstance(node, dict):
        return {key: shorter(value) for key, value in node.items()}
    return [shorter(item) for item in node[:1] + node[-1:]] if isinstance(node, list) else node

def spoilt(root):
    """(what was done, the document) for each way, one at a time."""
    def at(path):
        node = copy.deepcopy(root)
        parent = node
        for key in path:
            parent = parent[key]
        return node, parent
    def walk(node, path):
        if isinstance(node, (dict, list)):
            for key in list(node) if isinstance(node, dict) else range(len(node)):
                whole, parent = at(path)
                parent[key] = {} if isinstance(node[key], list) else []
                yield "another type", path + [key], whole
                yield from walk(node[key], path + [key])
                if isinstance(node, dict) and path[-1:] not in [[name] for name in MAPS]:
                    whole, parent = at(path)
                    del parent[key]
                    yield "a member less", path + [key], whole
        if isinstance(node, dict):
            whole, own = at(path)
            own["planted"] = []
            yield "a member more", path, whole
    yield from walk(root, [])

mode, schema, document = sys.argv[1], json.load(open(sys.argv[2])), json.load(open(sys.argv[3]))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
if mode == "valid":
    for error in validator.iter_errors(document):
        print(list(error.absolute_path), error.message[:300])
        sys.exit(1)
else:
    ways = 0
    for done, path, whole in spoilt(shorter(document)):
        ways += 1
        if validator.is_valid(whole):
            print(done, path)
            sys.exit(1)
    print(f"# spoilt in {ways} ways")
    sys.exit(ways < 10)
PY
valid() { "$python" schema.py valid "$schemas/$1.json" "$2"; }
strict() { "$python" schema.py strict "$schemas/$1.json" "$2"; }

# document SCHEMA NAME COMMAND...: what the command prints is one, in NAME.json.
document() {
    local schema=$1 name=$2
    shift 2
    run "$@" # whatever it ends with
    cp said.out "$name.json"
    check "$name is a document of $schema" valid "$schema" "$name.json"
}

export ASSAY_DB=s.sqlite
int8_suite two.ini 'n = 100k, 1M' 'variants = host_scalar, host_omp, host_memcpy'
for seed in 1 2; do
    "$ASSAY" run ./two.ini --device "sim:seed=$seed,crash=*/host_omp" --launches 2 --label "sim $seed" >/dev/null 2>&1
done
document show run "$ASSAY" run smoke --device sim:seed=3 --format json
document show shown "$ASSAY" show --format json
document show share "$ASSAY" run ./two.ini --device sim --shard 1/2:job --format json --db share.sqlite
document show job "$ASSAY" show job --format json --db share.sqlite
document show host "$ASSAY" run ./two.ini --device host --format json --db host.sqlite
${CC:-cc} -shared -fPIC -O2 -I"$HERE/../harness" "$HERE/object/kernel.c" -o own.so
document show loaded "$ASSAY" run "$HERE/object/twice.ini" --device host --no-ceilings --load ./own.so --format json --db own.sqlite
document comparison "of an object" "$ASSAY" compare latest latest --format json --db own.sqlite
document show imported bash -c '"$0" import "$1" >&2; "$0" show --format json' "$ASSAY" "$HERE/import/gbench.json"
document comparison compared "$ASSAY" compare "sim 1" "sim 2" --format json
document comparison gate "$ASSAY" gate ./two.ini --base "$ASSAY" --base-device sim:seed=1 --cand-device \
    'sim:seed=2,slow=*/host_omp:10' --allow-simulated --format json --db gate.sqlite
document comparison over "$ASSAY" gate --over gate.sqlite --allow-simulated --format json
query s.sqlite "INSERT INTO profile SELECT id, 1, 100, 100, 0, 0, 27, '' FROM result;
    INSERT INTO profile_kernel SELECT id, 1, 'kernel', 'fill(float*)', 1, 8, 1, 1, 128, 1, 1, 32, 0, 0, 0,
        9000, 9000, 9000 FROM result;
    INSERT INTO profile_counter SELECT id, k, 1, 'dram__throughput.avg.pct_of_peak_sustained_elapsed', 91.0
        FROM result, (SELECT 0 AS k UNION SELECT 1)"
document profile profile "$ASSAY" show "sim 1" --profile --format json
document explanation explanation "$ASSAY" explain "sim 1" "sim 2" '*/host_scalar' --format json
"$HERE/history_db.sh" "$ASSAY" h.sqlite 200 20
"$ASSAY" ack 'op_0/*' --reason wanted --until 2099-01-01 --db h.sqlite >/dev/null 2>&1
document history history "$ASSAY" history 'op_*' --db h.sqlite --format json
document history "a history of runs" "$ASSAY" history '*' --format json
"$HERE/fleet_db.sh" "$ASSAY" f.sqlite 16
query f.sqlite "UPDATE launch SET link_width = 8 WHERE device_id IN ('d0', 'd15')"
document fleet fleet "$ASSAY" fleet --db f.sqlite --format json
for what in suites operations variants runs devices; do
    document list "$what" "$ASSAY" list $what --format json
done
document claims claims "$ASSAY" claims --format json
document doctor doctor "$ASSAY" doctor --format json
"$ASSAY" calibrate ./two.ini --device sim:seed=1 --allow-simulated --rounds 5 --filter '*/host_scalar' >/dev/null 2>&1
document noise noise "$ASSAY" calibrate --show --format json

for pair in show=run show=share show=loaded comparison=gate profile=profile explanation=explanation history=history fleet=fleet list=suites list=operations list=variants \
    list=runs list=devices claims=claims doctor=doctor noise=noise; do
    check "${pair#*=} that is spoilt is none" strict "${pair%=*}" "${pair#*=}.json"
done
check "each schema was tried" gives "claims comparison doctor explanation fleet history list noise profile show " \
    bash -c 'for file in "$0"/*.json; do printf "%s " "$(basename "$file" .json)"; done' "$schemas"
