#!/usr/bin/env bash
# assay history --format html: the document in the page, and what it does in a browser.
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/page/browser.sh
. "$HERE/cli/page/browser.sh"

export ASSAY_DB=h.sqlite
"$HERE/history_db.sh" "$ASSAY" h.sqlite 200 20
query h.sqlite "UPDATE result SET lo_ns = 0.99 * time_ns, hi_ns = 1.02 * time_ns"
"$ASSAY" ack 'op_0/v3' --reason 'wanted <b>so</b>' --until 2099-01-01 >/dev/null
query h.sqlite "UPDATE ack SET set_at = '2026-01-06T00:00:00.000Z'"
"$ASSAY" history 'op_*' --format html >t.html
"$ASSAY" history 'op_*' --format json >t.json

check "a page is written" has t.html '<h1>op_* over runs</h1>'
check "--filter is named as the words are" says '<h1>op_* over runs</h1>' "$ASSAY" history --filter 'op_*' --format html
check "with how much happened" has t.html "20 cases, 10 changes of level, 20 borders"
check "its document is that of JSON" same_document history t.html t.json
check "no name is markup" fails has t.html "<b>so"
check "the same history gives the same page" cmp t.html <("$ASSAY" history 'op_*' --format html)
check "no such case is exit 4" exits 4 "$ASSAY" history nosuch --format html

has_browser || exit 0
check "it opens without a word on the console" no_complaint t.html
check "and has the reason of an ack as text" has dom.html 'wanted &lt;b&gt;so&lt;/b&gt;'
# As names that the document may hold: it cannot end its element.
sed -e 's/"op_0"/"\\u003cimg src=x onerror=document.title=2>"/g' -e 's/c0ffee/\\u003cimg src=y>/g' \
    -e 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' t.html >hostile.html
check "hostile names do nothing without the page's policy" no_complaint hostile.html
check "and are shown" has dom.html '&lt;img src=x onerror=document.title=2&gt;'
check "as text" fails has dom.html '<img'
check "the title is its own" has dom.html '<title>assay: op_* over runs</title>'
cat >driver.js <<'END'
(function () {
  const said = [], tell = text => said.push(text.replace(/->/g, 'to')), has = typeof Chart !== 'undefined';
  const sections = () => [...document.querySelectorAll('#trend section')];
  const chart = at => Chart.getChart(sections()[at].querySelector('canvas'));
  const table = document.querySelector('#trend table'), words = document.querySelector('#trend input');
  const set = value => { words.value = value; words.dispatchEvent(new Event('input')); };
  const visible = element => element.offsetWidth > 0 && element.getBoundingClientRect().right <= window.innerWidth;
  tell('fits ' + (document.documentElement.scrollWidth <= window.innerWidth));
  tell('drawn ' + sections().length + ', rows ' + table.tBodies[0].rows.length);
  tell('row is seen ' + [...table.tBodies[0].rows[0].cells].filter(visible).map(cell => cell.textContent).join('|'));
  set('v3 n=4000');
  tell('found ' + sections().map(one => one.querySelector('h3').textContent).join('|') + ', rows ' + table.tBodies[0].rows.length);
  tell('notes ' + [...sections()[0].querySelectorAll('.notes b')].map(one => one.textContent).join('|'));
  if (has) {
    const now = chart(0), data = now.data.datasets[0].data, {lines, levels} = now.options.plugins.marks;
    tell('points ' + data.length + ' ' + data.every(point => point.lo < point.y && point.y < point.hi));
    tell('lines ' + lines.map(line => line.x + ' ' + line.text).join('|'));
    tell('levels ' + levels.map(level => level.from + ' to ' + level.to).join('|'));
    const ticks = now.scales.x.ticks.map(tick => tick.label).filter(Boolean), times = now.scales.y.ticks.map(tick => tick.label);
    tell('axis ' + (ticks.length > 1 && ticks.every(([day, commit]) => /^2026-01-0\d$/.test(day) && commit === 'c0ffee')) +
      ' ' + (times.length > 2 && new Set(times).size === times.length));
    tell('facts ' + now.options.plugins.tooltip.callbacks.label({raw: data[50]}).join('|'));
  }
  set('');
  const second = table.tBodies[0].rows[1].querySelector('button');
  second.click();
  tell('pressed ' + sections().length + ' ' + sections()[0].querySelector('h3').textContent.startsWith(second.textContent));
  const theme = document.getElementById('theme'), colour = () => getComputedStyle(document.body).backgroundColor;
  while (!theme.textContent.includes('light')) theme.click();
  const light = colour(), axis = has && chart(0).options.color;
  theme.click();
  tell('dark ' + (colour() !== light) + ' ' + (!has || chart(0).options.color !== axis) + ' ' + sections().length);
  set('no such words');
  tell('none ' + sections().length);
  localStorage.clear();
  window.parent.postMessage(said.join(';'), '*');
})();
END
for width in 390 1024 1600; do
    check "at a width of $width it can be driven" driven t.html $width
    check "it is no wider than the window" has driven.txt "fits true"
    check "the most changed cases are drawn, and all listed" has driven.txt "drawn 6, rows 20"
    check "a row shows case, newest time and last change" grep -qE 'row is seen op_.*us.*\|\+10\.[0-9] %' driven.txt
    check "words choose what is drawn and listed" has driven.txt "found op_0/v3 n=4000 cold, rows 1"
    check "what happened stands below in words" has driven.txt "notes +10.0 %|driver 570 to 580|acknowledged"
    check "a case that is pressed is drawn alone" has driven.txt "pressed 1 true"
    check "colours can be switched, of charts too" has driven.txt "dark true true 1"
    check "nothing found, nothing drawn" has driven.txt "none 0"
    grep -q 'id="library"' t.html || continue
    check "every run has its interval" has driven.txt "points 199 true"
    check "changes, borders and acks have lines" grep -qE '^lines 98.5 \+10.0 %\|148.5 driver 570 to 580\|142.5 acknowledged$' driven.txt
    check "levels lie between them" has driven.txt "levels -0.5 to 98.5|98.5 to 148.5|148.5 to 198.5"
    check "the axes have days, commits and times that differ" has driven.txt "axis true true"
    check "a point names its figures" grep -qE '^facts time: .*us\|95 % confidence: .* to .*\|commit: c0ffee\|run: ' driven.txt
done
pictures t.html
