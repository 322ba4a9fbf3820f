#!/usr/bin/env bash
# assay gate --twin and ab --twin that end before all cases are measured: --max-time, --fail-fast.
# On the host, with launches that sleep: so they last, and the processors stay free.
. "$(dirname "$0")/lib.sh"
export TMPDIR=$TMP

# object NAME FLAGS...: y = 2 x as a shared object.
object() { ${CC:-cc} -shared -fPIC -O2 -I"$HERE/../harness" "${@:2}" "$HERE/object/kernel.c" -o "$1.so"; }
object base -DIN_LAUNCH='usleep(1500)'
object same -DIN_LAUNCH='usleep(1500)' -DASSAY_OBJECT_COMMIT='"same"'
object slow -DIN_LAUNCH='usleep(3000)'
object wrong -DIN_LAUNCH='usleep(1500)' -DCUT=1
cases() { sed "s/^n = .*/n = 1000..$((999 + $1))+1/" "$HERE/object/twice.ini" >"cases$1.ini"; }
cases 1
cases 15
cases 40
# twins CANDIDATE CASES OPTION...: 16 turns of three launches per case, which take 0.1 s.
twins() { "$ASSAY" ab base.so "$1.so" "cases$2.ini" --twin --device host --db "$1.sqlite" --seed 1 --json g.json "${@:3}"; }
rows() { query :memory: "SELECT count(*) FROM json_each(readfile('g.json'), '$.rows') WHERE $1"; }
measured() { rows "value ->> 'ratio' > 0"; }
notes() { query :memory: "SELECT group_concat(value) FROM json_each(readfile('g.json'), '$.notes')"; }

begin=$SECONDS
check "a gate that has no time for half of its cases has judged too few" exits 4 twins same 40 --max-time 1
check "it ends then" test $((SECONDS - begin)) -le 5
check "each case has a row" gives 40 rows 1
some=$(measured)
check "some are measured" test "$some" -ge 1 -a "$some" -lt 20
check "the rest is INCONCLUSIVE, and says why" gives $((40 - some)) rows \
    "value ->> 'verdict' = 'INCONCLUSIVE' AND value ->> 'reason' = 'the gate ended before it was measured'"
check "the report says so" grep -q "ended by --max-time 1 after $some cases" <(notes)
check "what was measured is stored, and no more" gives "$((3 * some))" query same.sqlite "SELECT count(*) FROM result"
check "a gate with time enough is whole" exits 5 twins wrong 1 --max-time 600
check "and says nothing" fails grep -q "max-time" <(notes)

check "a wrong answer ends a gate with --fail-fast" exits 5 twins wrong 40 --fail-fast
check "at once" test "$(measured)" -lt 20 -a "$(rows "value ->> 'verdict' = 'ERROR'")" -ge 1
check "and it says so" grep -q "ended after .* (--fail-fast)" <(notes)
check "a slower case does" exits 1 twins slow 40 --fail-fast
check "once ten cases have told what copies of the same code differ by" test "$(measured)" -ge 10 -a "$(measured)" -lt 30
check "with its verdict" test "$(rows "value ->> 'verdict' = 'REGRESSED'")" -ge 1
run "$ASSAY" ack 'twice/plain *' --reason meant --until 2999-01-01 --db slow.sqlite
check "what is acknowledged does not" exits 0 twins slow 15 --fail-fast
check "all of it is measured" gives 15 measured
check "nothing is left behind" gives "" find "$TMP" -maxdepth 1 -name 'assay-*'
