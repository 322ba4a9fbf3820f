#!/usr/bin/env bash
# assay report: what is on the page, that nobody's names can act in it, that it keeps
# to its figures, and, in a browser, that it opens, sorts and filters.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/page/browser.sh
. "$HERE/cli/page/browser.sh"
export ASSAY_DB=r.sqlite

# lacks FILE TEXT
lacks() { ! grep -qF -- "$2" "$1"; }

int8_suite two.ini 'n = 100k, 1M' 'variants = host_scalar, host_omp, host_memcpy'
for label in a b; do
    "$ASSAY" run ./two.ini --device sim:seed=1 --label $label >/dev/null 2>&1
done

check "a report is written" exits 0 "$ASSAY" report a -o a.html
check "without a word" silent "$ASSAY" report a -o a.html
check "a simulated run says so" has a.html "(simulated)"
check "headings of columns are marked" has a.html '<th scope="col">'
check "tables have captions" has a.html "<caption>"
"$ASSAY" show a --format json | sed -E 's/("hostname": )"[^"]*"/\1null/' >a.json
check "its cases are those that show prints as JSON, without the host's name" same_document run a.html a.json
check "no address is fetched" lacks a.html "http-equiv=\"refresh\""
check "and none is linked but in namespaces" gives "" bash -c \
    "sed 's/<script>.*//' a.html | grep -oE '(src|href)=\"[^\"]*' | grep -vE '=\"(#|data:,)' || true"
check "it forbids every script but its own" has a.html "default-src 'none'"
# hashes FILE ELEMENT: SHA-256 of what stands in each such element. The policy must name them all.
hashes() {
    python3 - "$@" <<'END'
import base64, hashlib, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
policy = re.search(r'content="(default-src[^"]*)"', page).group(1)
for text in re.findall(f"<{sys.argv[2]}>(.*?)</{sys.argv[2]}>", page, re.S):
    known = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    print("named" if f"'sha256-{known}'" in policy else "unknown")
END
}
charts=named # the library and the page's own
grep -q 'id="library"' a.html || charts=""
if command -v python3 >/dev/null; then
    check "the policy has the hash of each script" gives "${charts:+named$'\n'}named" hashes a.html script
    check "and of the style" gives named hashes a.html style
fi
[ -n "$charts" ] || [ "${ASSAY_TEST_BROWSER:-}" != required ] ||
    check "Chart.js is in the page (apt-get install libjs-chart.js, then make)" false
check "the licence of Chart.js goes with it" [ -z "$charts" -o "$(grep -c 'MIT licence' a.html)" = 1 ]
check "against another run" exits 0 "$ASSAY" report b --against a -o b.html
check "verdicts stand in it" has b.html '<h2 id="against">'
"$ASSAY" compare a b --format json >b.json
check "which are those that compare prints as JSON" same_document comparison b.html b.json
"$ASSAY" run ./two.ini --device 'sim:seed=1,slow=*/host_omp:10' --launches 5 --seed 1 --label slow >/dev/null 2>&1
"$ASSAY" run ./two.ini --device sim:seed=1 --launches 5 --seed 1 --label calm >/dev/null 2>&1
check "they are those of compare" exits 0 "$ASSAY" report slow --against calm -o slow.html --no-plots
counts=$("$ASSAY" compare calm slow | tail -n 1)
check "which finds what is slower" grep -q '2 REGRESSED' <<<"$counts"
check "all of them" has slow.html ": $counts."
check "for a job summary" exits 0 "$ASSAY" report a -o a.md
check "the ending picks the format" has a.md "### The fastest of each group"
check "to standard output" says "<!DOCTYPE html>" "$ASSAY" report a -o -
check "without charts when asked" exits 0 "$ASSAY" report a -o n.html --no-plots
check "it says so" has n.html "Charts were left out, as asked for."
check "and has no library" lacks n.html 'id="library"'
check "the same run gives the same page" exits 0 "$ASSAY" report a -o again.html
check "byte for byte" cmp a.html again.html

# ------------------------------------------------------------------- claims
# One that nearly holds: a page once ended in a fault for it.
{
    printf '[suite]\ntitle = claims\n[claim NEAR]\ndocument = a note\nsays = much\nrule = ratio\n'
    printf 'more = int8_quantize/host_omp n=1M cold\nless = int8_quantize/host_scalar n=1M cold\nclaimed = 1.1\n'
} >near.ini
check "a report with a claim" exits 0 "$ASSAY" report a -o near.html --claims ./near.ini
verdict=$("$ASSAY" claims a --claims ./near.ini --format json | sed -n 's/.*"verdict": "\(.*\)".*/\1/p')
check "has its verdict" grep -qE "<td class=\"(good|open|bad|soft)\">$verdict</td>" near.html

# ---------------------------------------------------------------- profiles
"$ASSAY" run ./two.ini --device sim:seed=1 --label profiled >/dev/null 2>&1
cp r.sqlite p.sqlite
query p.sqlite "INSERT INTO profile SELECT result.id, 1, 100, 100, 0, 0, 27, '' FROM result
        JOIN launch ON launch.id = launch_id JOIN run ON run.id = run_id WHERE label = 'profiled';
    INSERT INTO profile_kernel SELECT result_id, 1, 'kernel', 'fill<float>(float*)</script>', 1, 8, 1, 1, 128, 1, 1,
        32, 0, 0, 0, 9000, 9000, 9000 FROM profile;
    INSERT INTO profile_counter SELECT result_id, k, 1, 'dram__throughput.avg.pct_of_peak_sustained_elapsed', 91.0
        FROM profile, (SELECT 0 AS k UNION SELECT 1)"
check "a profiled run" exits 0 "$ASSAY" report profiled --db p.sqlite -o p.html
"$ASSAY" show profiled --profile --format json --db p.sqlite >p.json
check "has what show prints of its profile" same_document profiles p.html p.json
check "a run without one has no such part" lacks a.html 'id="kernels"'

# ---------------------------------------------------------------- bad input
check "a place that cannot be written" exits 2 "$ASSAY" report a -o no/where.html
check "no place" exits 2 "$ASSAY" report a
check "an unknown run" exits 2 "$ASSAY" report nosuch -o x.html
check "an unknown format" exits 2 "$ASSAY" report a -o x.html --format pdf
check "a run to compare with that is not there" exits 2 "$ASSAY" report a --against nosuch -o x.html
check "nothing is left behind" fails test -e x.html
check "without a file of claims it goes on" exits 0 "$ASSAY" report a -o c.html --claims ./none.ini
check "and says why" has c.html "Left out: cannot read"
# What was measured and then lost, and what was all skipped.
cp r.sqlite none.sqlite
query none.sqlite "DELETE FROM metric; DELETE FROM sample; DELETE FROM result"
check "a run without a case" exits 0 "$ASSAY" report a --db none.sqlite -o none.html
check "says that they are missing" has none.html "missing"
check "in markdown too" exits 0 "$ASSAY" report a --db none.sqlite -o none.md
check "without a table of nothing" lacks none.md "The fastest"
cp r.sqlite skip.sqlite
query skip.sqlite "UPDATE result SET status = 'skipped', reason = 'no time'"
check "a run of skipped cases" exits 0 "$ASSAY" report a --db skip.sqlite -o skip.html
check "says why" has skip.html "no time"
check "a few of them openly" lacks skip.html "cases were skipped, of"
check "the help has an example" says "example:" "$ASSAY" help report

cp r.sqlite other.sqlite
query other.sqlite "INSERT INTO device SELECT 'other', place, simulated, name, 'GPU-other', vbios,
        compute_capability, multiprocessors, l1_bytes, cache_bytes, memory_bytes, sm_mhz_max, memory_mhz_max
        FROM device LIMIT 1;
    UPDATE launch SET device_id = 'other', comparability = 'other'
        WHERE run_id IN (SELECT id FROM run WHERE label = 'b')"
check "against a run on another card" exits 0 "$ASSAY" report b --against a --db other.sqlite -o other.html --no-plots
check "it says what parts them" has other.html "nothing can be compared: 6 INCOMPARABLE (most: device uuid"

# gbench NAME COUNT FILE: a file of Google Benchmark with so many cases.
gbench() {
    awk -v name="$1" -v count="$2" 'BEGIN {
        printf "{\"context\":{\"date\":\"2026-02-03T04:05:06+01:00\",\"executable\":\"x\",\"num_cpus\":4}," \
            "\"benchmarks\":["
        for (i = 0; i < count; i++)
            printf "%s{\"name\":\"%s/%d\",\"run_name\":\"%s/%d\",\"run_type\":\"iteration\"," \
                "\"iterations\":9,\"real_time\":%d.5,\"cpu_time\":1,\"time_unit\":\"ns\"}", \
                i ? "," : "", name, i, name, i, 1000 + i * 7919 % 4999
        print "]}"
    }' >"$3"
}
hostile='\\"><img src=x onerror=document.title=2>&%sé'
gbench "$hostile" 3 hostile.json
check "hostile names are imported" exits 0 "$ASSAY" import hostile.json
check "and reported" exits 0 "$ASSAY" report hostile.json -o hostile.html
check "as text" has hostile.html '\u003cimg src=x onerror=document.title=2>&%sé'
check "no element comes of them" lacks hostile.html "<img"
check "nor in markdown" exits 0 "$ASSAY" report hostile.json -o hostile.md
check "where they are escaped too" fails grep -qE '(^|[^\\])<img' hostile.md

# The same from a run of our own format, in every field of text.
"$ASSAY" export a -o own.ndjson
act='<img src=x onerror=document.title=2></script><script>document.title=3</script>'
fields='started_at|label|command|cpu|os|version|git_commit|compiler|driver|note|reason'
sed -E "s#\"($fields)\":\"[^\"]*\"#\"\1\":\"$act\"#g" own.ndjson >sent.ndjson
check "a run that was sent is taken" exits 0 "$ASSAY" import sent.ndjson --db sent.sqlite
check "and reported" exits 0 "$ASSAY" report --db sent.sqlite -o sent.html
check "its texts are there" has sent.html "&lt;img src=x onerror=document.title=2&gt;"
check "as text" lacks sent.html "<img"
check "and end no script" gives 0 grep -c "<script>document" sent.html

# And as the name of a variant, which charts, tables and dialogs have.
name='\"><img src=x onerror=document.title=2>\&%sé</script><script>document.title=3</script>'
sed "s#\"variant\":\"host_omp\"#\"variant\":\"\\$name\"#g" own.ndjson >named.ndjson
check "a run with such a variant is taken" exits 0 "$ASSAY" import named.ndjson --db named.sqlite
check "and reported" exits 0 "$ASSAY" report --db named.sqlite -o named.html
check "its document names it" has named.html 'u003cimg src=x onerror=document.title=2>&%sé'
check "no element comes of it" lacks named.html "<img"

{
    printf '[suite]\nbudget = 0.02\n[group many]\noperation = int8_quantize\n'
    printf 'variants = host_scalar, host_omp, host_memcpy, host_copy_r4w1\nn = 100000..101249+1\n'
} >many.ini
"$ASSAY" run ./many.ini --device sim:seed=1 --no-ceilings --label many >/dev/null 2>&1
# Under a sanitiser tests have TEST_TIMEOUT's more time.
check "a report of 5,000 cases in less than 3 s" takes_less_than $((3 * ${TEST_TIMEOUT:-120} / 120)) \
    "$ASSAY" report many -o many.html
check "has them all" gives 5000 grep -c '"first_call_ns":' many.html
check "in less than 8 MB" [ "$(wc -c <many.html)" -lt 8000000 ]
# Runs that came from elsewhere, too.
gbench BM_Many 5000 many.json
"$ASSAY" import many.json >/dev/null 2>&1
check "a run of 5,000 cases of another tool" exits 0 "$ASSAY" report many.json -o other.html
check "has them all" gives 5000 grep -c '"first_call_ns":' other.html
query r.sqlite "UPDATE result SET status = 'skipped', time_ns = NULL, reason = 'reason ' || ordinal
    WHERE ordinal <= 20 AND operation LIKE 'BM_Many%'"
check "a long list of what was skipped" exits 0 "$ASSAY" report many.json -o folded.html --no-plots
check "is folded" has folded.html "<details><summary>20 cases were skipped, of 20 variants and reasons</summary>"
check "and whole" gives 20 grep -c '</a></td><td>reason ' folded.html

# ------------------------------------------------------------------ browser
has_browser || exit 0

check "it opens without a word on the console" no_complaint b.html
check "the script ran: headings are buttons" has dom.html '<button type="button">time</button>'
check "and counted the cases" has dom.html '6 of 6 cases shown'
if [ -n "$charts" ]; then check "and names what draws the charts" has dom.html "Charts are drawn by Chart.js 3"; fi
"$ASSAY" compare calm slow --format html -o cmp.html
check "so does a comparison" no_complaint cmp.html
sed 's/"BM_/" BM\\n_/' "$HERE/import/gbench.json" >blank.json
"$ASSAY" import blank.json --db blank.sqlite >/dev/null 2>&1
"$ASSAY" compare latest latest --db blank.sqlite --format html -o blank.html
check "and one of names that begin with a blank or have two lines" no_complaint blank.html
check "a profiled run, too" no_complaint p.html
check "has its kernels" has dom.html 'fill&lt;float&gt;(float*)&lt;/script&gt;'
check "so does a page without charts" no_complaint n.html
check "so does one of hostile names" no_complaint hostile.html
check "whose title is its own" has dom.html "<title>assay: x on "
# The same without the policy: that texts stay texts must hold alone.
for page in hostile sent named; do
    sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' $page.html >open.html
    check "nor does $page act without the page's policy" no_complaint open.html
    check "its title is its own" grep -qE "<title>assay: (x|two) on " dom.html
    check "and no element came of a name" gives 0 grep -c "<img" dom.html
done

# A driver presses what a person would; it may run where the policy is replaced. It tells a page
# around it what came of it, since only a frame can be as narrow as a phone.
cat >driver.js <<'END'
(function () {
  const said = [], tell = text => said.push(text);
  const table = document.querySelector('#cases table'), rows = () => [...table.tBodies[0].rows];
  const head = name => [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === name);
  const visible = cell => cell.offsetWidth > 0 && cell.getBoundingClientRect().right <= window.innerWidth;
  const data = JSON.parse(document.getElementById('run').textContent).rows;
  const times = sign => { const list = rows().map(row => sign * data[row.id.slice(1)].time_ns);
    return list.every((value, at) => !at || value >= list[at - 1]); };
  const press = name => table.tHead.rows[0].cells[head(name)].querySelector('button').click();
  const set = (element, value, event) => { element.value = value; element.dispatchEvent(new Event(event)); };
  tell('cells ' + rows().map(row => ['variant', 'time', 'interval', 'rate', 'of ceiling', 'ceiling', 'speed-up']
    .map(name => row.cells[head(name)].firstChild ? (name === 'variant' ? row.cells[head(name)].firstChild
      : row.cells[head(name)]).textContent : '').join('|')).join('#'));
  tell('time is seen ' + rows().every(row => visible(row.cells[head('time')])));
  const other = document.querySelector('#changes table');
  if (other) {
    const names = [...other.tHead.rows[0].cells].map(cell => cell.textContent);
    const seen = text => [...other.tBodies[0].rows[0].querySelectorAll('*')].some(element =>
      visible(element) && element.textContent === text);
    const box = document.querySelector('#changes input'), all = other.tBodies[0].rows.length;
    set(box, 'OMP n=1000000', 'input');
    tell('searched ' + other.tBodies[0].rows.length + ' of ' + all);
    set(box, '', 'input');
    const first = JSON.parse(document.getElementById('comparison').textContent).rows[0];
    tell('change is seen ' + ['candidate', 'change of time'].every(name =>
      visible(other.tBodies[0].rows[0].cells[names.indexOf(name)])) + ' ' + seen(first.verdict));
  }
  tell('fits ' + (document.documentElement.scrollWidth <= window.innerWidth));
  press('time');
  tell('up ' + times(1) + ' ' + table.tHead.rows[0].cells[head('time')].getAttribute('aria-sort'));
  press('time');
  tell('down ' + times(-1) + ' ' + table.tHead.rows[0].cells[head('time')].getAttribute('aria-sort'));
  tell('one ' + table.querySelectorAll('[aria-sort]').length);
  const words = document.getElementById('words');
  set(words, 'OMP n=1000000', 'input');
  tell('shown ' + rows().length + ' ' + document.getElementById('shown').textContent);
  set(words, 'no such words', 'input');
  tell('none ' + rows().length);
  rows().length || (location.hash = '#r1');
  const chart = typeof Chart === 'undefined' ? null : Chart.getChart(document.querySelector('#cases canvas'));
  const theme = document.getElementById('theme'), colour = () => getComputedStyle(document.body).backgroundColor;
  while (!theme.textContent.includes('light')) theme.click();
  const light = colour();
  theme.click();
  tell('dark ' + (colour() !== light));
  setTimeout(function () {
    const row = document.getElementById('r1'), at = row && row.getBoundingClientRect();
    tell('there ' + (!!row && row.classList.contains('target') && at.top > -1 && at.bottom <= window.innerHeight));
    row.querySelector('button').click();
    const dialog = document.querySelector('dialog[open]');
    tell('dialog ' + dialog.textContent.includes('first call') + ' ' + dialog.textContent.includes(data[1].variant));
    dialog.querySelector('form button').click();
    if (chart) {
      const now = () => Chart.getChart(document.querySelector('#cases canvas')), tools = [...document.querySelectorAll('#cases .tools button')];
      const points = now().data.datasets.reduce((sum, set) => sum + set.data.length, 0);
      tell('points ' + points);
      const kinds = [...document.querySelectorAll('#cases .kinds button')];
      tell('kinds ' + kinds.filter(one => !one.hidden).map(one => one.textContent));
      const size = document.querySelector('#cases select option[value=bytes]');
      if (size) {
        const across = size.parentElement, was = across.value;
        across.value = 'bytes';
        across.dispatchEvent(new Event('change'));
        const box = document.querySelector('#cases .box-label input'), logarithmic = box.checked;
        if (!logarithmic) box.click();
        tell('ticks ' + now().scales.x.ticks.every(tick => Number.isInteger(Math.log2(tick.value))) + ' ' + (now().scales.x.ticks.length > 1));
        if (!logarithmic) box.click();
        across.value = was;
        across.dispatchEvent(new Event('change'));
      }
      document.querySelector('#cases .legend button').click();
      tell('legend ' + now().data.datasets.filter((_, i) => now().isDatasetVisible(i)).length + ' of ' + now().data.datasets.length);
      const before = now().scales.x.max;
      tools[0].click();
      tell('zoomed ' + (now().scales.x.max < before));
      tools[2].click();
      tell('whole ' + (now().scales.x.max === before));
      const log = document.querySelector('#cases .box-label input'), was = now().scales.x.type;
      log.click();
      tell('axis ' + (now().scales.x.type !== was));
      const box = document.querySelector('.boxes input');
      box.click();
      tell('picked ' + document.getElementById('shown').textContent);
      // As a hand does: over a point, then a box dragged around the left half.
      const canvas = now().canvas, frame = canvas.getBoundingClientRect(), area = now().chartArea;
      const point = now().getDatasetMeta(1).data[0];
      const at = (type, x, y) => canvas.dispatchEvent(new (type.startsWith('pointer') ? PointerEvent : MouseEvent)(type,
        {bubbles: true, button: 0, pointerType: 'mouse', clientX: frame.left + x, clientY: frame.top + y}));
      at('mousemove', point.x, point.y);
      setTimeout(function () {
        const shown = now().tooltip, most = now().scales.x.max;
        tell('hover ' + (shown.opacity > 0 && shown.title[0].startsWith('int8_quantize/')) + ' ' +
          ['time: ', 'rate: ', 'speed-up: ', 'samples: '].every(name =>
            shown.body.some(part => part.lines.some(line => line.startsWith(name)))));
        at('pointerdown', area.left + 2, area.top + 2);
        at('pointermove', (area.left + area.right) / 2, area.bottom - 2);
        at('pointerup', (area.left + area.right) / 2, area.bottom - 2);
        tell('dragged ' + (now().scales.x.max < most));
        finish();
      }, 300);
    } else {
      finish();
    }
  }, 500);
  function finish() {
    localStorage.clear();
    window.parent.postMessage(said.join(';'), '*');
  }
})();
END
# The same texts as show prints.
shown_cells() {
    "$ASSAY" show slow --format md | awk -F'|' '/^\| / && !/^\| variant/ && !/:--/ {
        for (i = 2; i <= 8; i++) { gsub(/^ +| +$/, "", $i); gsub(/\\/, "", $i); printf "%s%s", (i > 2 ? "|" : ""), $i }
        print "" }'
}
check "the page can be driven" driven slow.html 1600
check "a heading sorts by figures, upwards" has driven.txt "up true ascending"
check "and downwards" has driven.txt "down true descending"
check "by one column at a time" has driven.txt "one 1"
check "words filter the rows" has driven.txt "shown 1 1 of 6 cases shown"
check "all of them, if none fits" has driven.txt "none 0"
check "a link to a hidden row clears what hides it" has driven.txt "there true"
check "a case opens with all its figures" has driven.txt "dialog true true"
check "colours can be switched" has driven.txt "dark true"
sed -n 's/.*cells //p' driven.txt | tr '#' '\n' >cells.txt
check "the page shows the figures of show" diff cells.txt <(shown_cells)
for width in 390 1024 1600; do
    check "at a width of $width" driven b.html $width
    check "the page is no wider than the window" has driven.txt "fits true"
    check "each case shows its time" has driven.txt "time is seen true"
    check "each change its candidate, change and verdict" has driven.txt "change is seen true true"
    check "changes are searched by words" has driven.txt "searched 1 of 6"
    [ -n "$charts" ] || continue
    check "every case is in the chart" has driven.txt "points 6"
    check "which is no roofline, for the cases have one intensity" has driven.txt "kinds Size,Ranking"
    check "an axis of bytes has ticks at powers of two" has driven.txt "ticks true true"
    check "a point that is pointed at names its figures" has driven.txt "hover true true"
    check "a box that is dragged is zoomed into" has driven.txt "dragged true"
    check "the legend hides a series" has driven.txt "legend 2 of 3"
    check "it zooms" has driven.txt "zoomed true"
    check "and is whole again" has driven.txt "whole true"
    check "its axis can be logarithmic or linear" has driven.txt "axis true"
    check "a variant can be left out" has driven.txt "picked 4 of 6 cases shown"
done
# Until its first frame, by the page's own clock, which must not be the virtual one.
opens() {
    sed "s/script-src [^;]*;/script-src 'unsafe-inline';/" many.html >timed.html
    echo "<script>addEventListener('load', () => requestAnimationFrame(() => setTimeout(() => console.log(
        'opened in ' + Math.round(performance.now()) + ' ms: ' + document.getElementById('shown').textContent))))
        </script>" >>timed.html
    logged timed.html 'opened in .* cases shown' || { echo "# no answer"; return 1; }
    took=$(sed -n 's/.*:CONSOLE.*opened in \([0-9]*\) ms: 5000 of 5000 cases shown.*/\1/p' chrome.log)
    echo "# opened in $took ms"
    [ -n "$took" ] && [ "$took" -lt 2000 ]
}
check "a page of 5,000 cases opens in less than 2 s" takes_less_than 20 once_in_three opens
pictures b.html
