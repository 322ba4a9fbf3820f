'use strict';
/* page.js - puts the page together from the documents that `assay show`, `show --profile`,
 * `compare` and `history` print as JSON, which stand in it. */

function documentOf(id) {
  const element = document.getElementById(id);
  return element && JSON.parse(element.textContent);
}
const charts = () => typeof Chart !== 'undefined';
const drawn = []; /* called again when the colours change */

/* ------------------------------------------------------------------- theme -- */

function themes() {
  const names = ['system', 'light', 'dark'], root = document.documentElement;
  const control = button('', () => set(names[(names.indexOf(root.dataset.theme) + 1) % 3]), {id: 'theme'});
  function set(name) {
    root.dataset.theme = name;
    control.textContent = 'colours: ' + name;
    try { localStorage.setItem('assay-theme', name); } catch { /* a page without storage */ }
    drawn.forEach(again => again());
  }
  let kept = null;
  try { kept = localStorage.getItem('assay-theme'); } catch { /* the same */ }
  set(names.includes(kept) ? kept : 'system');
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawn.forEach(again => again()));
  document.querySelector('h1').after(control);
}

/* ------------------------------------------------------------------- cases -- */

/* The variant, and where columns for them have no room, operation, shape and caches below it. */
function fillCase(open) {
  return (cell, row) => cell.append(
    button(breakable(markedVariant(row)), () => open(row), {class: 'link'}),
    make('small', {class: 'where'}, `${row.operation} ${whereText(row)}`));
}

function caseColumns(open) {
  const ok = (row, text) => hasTime(row) ? text : '';
  return [
    {name: 'operation', class: 'p2', text: row => row.operation},
    {name: 'shape', class: 'p2 s', text: row => shapeText(row.shape)},
    {name: 'caches', class: 'p2', text: row => row.temperature},
    {name: 'variant', head: true, text: markedVariant, fill: fillCase(open)},
    {name: 'time', class: 'n', text: row => hasTime(row) ? timeText(row.time_ns) : row.status,
     value: row => row.time_ns, fill: (cell, row) => {
       cell.textContent = hasTime(row) ? timeText(row.time_ns) : row.status;
       if (!hasTime(row)) cell.classList.add(row.status === 'skipped' ? 'soft' : 'bad');
     }},
    {name: 'interval', class: 'n p2', text: row => ok(row, spreadText(row)),
     value: row => known(row.lo_ns) ? (row.hi_ns - row.lo_ns) / row.time_ns : null, fill: (cell, row) => {
       cell.textContent = ok(row, spreadText(row));
       if (row.noisy) cell.classList.add('open');
     }},
    {name: 'rate', class: 'n p2', text: row => ok(row, rateText(row.rate, row.rate_unit)), value: row => row.rate},
    {name: 'of ceiling', class: 'n p2', text: row => ok(row, row.ceiling ? percentText(row.ceiling_fraction) : ''),
     value: row => row.ceiling_fraction},
    {name: 'ceiling', class: 'p3', text: row => ok(row, shortCeiling(row.ceiling))},
    {name: 'speed-up', class: 'n', text: row => ok(row, speedupText(row)),
     value: row => isBase(row) ? 1 : row.speedup, fill: (cell, row) => fillInterval(cell, ok(row, speedupText(row)))},
    {name: 'notes', class: 'p3 w', text: row => [hasTime(row) ? row.marks : row.reason, row.note].filter(Boolean).join('; ')},
  ];
}

/* "1.02x [1.01, 1.03]": a line may be broken before the interval but not within it. */
function fillInterval(cell, text) {
  const [head, interval] = text.split(/ (?=\[)/);
  cell.append(head, ...(interval ? [' ', make('span', {class: 'interval'}, interval)] : []));
}

function showCases(run, comparison, profiles) {
  const host = document.getElementById('cases');
  const rows = run.rows;
  rows.forEach((row, at) => { row.id = 'r' + at; });
  const changes = new Map((comparison ? comparison.rows : []).map(row => [caseKey(row), row]));
  const profiled = new Map((profiles ? profiles.rows : []).map(row => [caseKey(row), row]));
  const open = row => openCase(row, {change: changes.get(caseKey(row)), anchor: row.id,
    profile: profiled.get(caseKey(row)), labels: profiles?.labels});
  const picker = make('div'), picture = make('div', {class: 'explorer'});
  host.append(picker, picture);
  const explorer = charts() ? new Explorer(picture, run.run.ceilings, {facts: linesOf, open}) : null;
  const table = new Table(host, caseColumns(open), rows,
    {name: 'Cases', caption: 'Median time with the half width of its interval; speed-up is the time of the ' +
     'group’s baseline, or of its bound where there is none, over this one', id: row => row.id});
  const chooser = new Chooser(picker, rows, shown => { table.filter(shown); explorer?.show(shown); });
  if (explorer) drawn.push(() => explorer.draw());
  const go = () => {
    const row = rows[Number(/^#r(\d+)$/.exec(location.hash)?.[1])];
    if (row && !table.reveal(row)) { chooser.clear(); table.reveal(row); }
  };
  window.addEventListener('hashchange', go);
  go();
  return {open, byKey: new Map(rows.map(row => [caseKey(row), row]))};
}

/* A form with words to search for. The function that it returns makes it filter a table, by the texts
 * of its rows, and hand on what it found. */
function searchForm(host) {
  const words = make('input', {type: 'search', autocomplete: 'off', spellcheck: 'false'});
  const form = make('form', {class: 'filter', role: 'search'}, make('label', {}, 'words that a row must have', words));
  form.addEventListener('submit', event => event.preventDefault());
  host.append(form);
  return (table, text, found = () => {}) => {
    const rows = table.rows.map(row => [row, text(row).toLowerCase()]);
    words.addEventListener('input', () => {
      const wanted = words.value.toLowerCase().split(/\s+/);
      const fit = rows.filter(([, own]) => wanted.every(word => own.includes(word))).map(([row]) => row);
      table.filter(fit);
      found(fit);
    });
  };
}

/* -------------------------------------------------------------- comparison -- */

/* In which class a verdict is shown; what is undecided is `open`. */
const MOODS = {ERROR: 'bad', MISSING: 'bad', REGRESSED: 'bad', IMPROVED: 'good', NEW: '', PASS: ''};
const mood = row => MOODS[row.verdict] ?? 'open';
const CHANGE = {
  name: 'change of time, slower to the right', colour: row => themed({bad: '--bad', good: '--good'}[mood(row)] || '--soft'), text: value => changeText(value + 1), value: row => row.ratio - 1,
  lo: row => known(row.ratio_lo) ? row.ratio_lo - 1 : null, hi: row => known(row.ratio_hi) ? row.ratio_hi - 1 : null,
};

function changeColumns(open, metric) {
  return [
    {name: 'verdict', class: 'p2', text: row => row.verdict, fill: (cell, row) => {
      cell.textContent = row.verdict;
      if (mood(row)) cell.classList.add(mood(row));
    }},
    {name: 'case', head: true, text: caseText, fill: (cell, row) => cell.append(
      make('small', {class: 'where ' + mood(row)}, row.verdict),
      button(breakable(`${row.operation}/${row.variant}`), () => open(row), {class: 'link'}),
      make('small', {}, whereText(row)), make('small', {class: 'where'}, whyText(row)))},
    {name: 'base', class: 'n p2', text: row => timeText(row.base_ns), value: row => row.base_ns},
    {name: 'candidate', class: 'n', text: row => timeText(row.candidate_ns), value: row => row.candidate_ns},
    {name: metric === 'speedup' ? 'change of time/baseline' : 'change of time', class: 'n', value: row => row.ratio,
     text: row => changeText(row.ratio, row.ratio_lo, row.ratio_hi),
     fill: (cell, row) => fillInterval(cell, changeText(row.ratio, row.ratio_lo, row.ratio_hi))},
    {name: 'floor', class: 'n p3', text: row => known(row.ratio) ? percentText(row.floor) : '-', value: row => row.floor},
    {name: 'finds', class: 'n p3', text: row => percentText(row.mde), value: row => row.mde},
    {name: 'launches', class: 'n p3', text: row => String(row.launches), value: row => row.launches},
    {name: 'why', class: 'p2 w', text: whyText},
  ];
}

function showComparison(comparison, open) {
  const host = document.getElementById('changes');
  const changed = ordered(comparison.rows.filter(row => known(row.ratio)), row => Math.abs(Math.log(row.ratio)), -1)
    .slice(0, MOST_BARS);
  const search = searchForm(host);
  if (charts() && changed.length) {
    const picture = make('div', {class: 'explorer'});
    host.append(picture);
    const view = new ChartView(picture, {facts: linesOf, open});
    const draw = () => view.draw(barsOf(ordered(changed, row => row.ratio, -1), CHANGE, false));
    draw();
    drawn.push(draw);
  }
  const table = new Table(host, changeColumns(open, comparison.metric), comparison.rows,
    {name: 'Comparison', caption: 'Slower cases first, then faster, undecided and unchanged ones; + is slower'});
  search(table, row => `${row.verdict} ${caseText(row)} ${whyText(row)}`);
}

/* ---------------------------------------------------------------- profiles -- */

const SHOWN_COUNTERS = ['DRAM', 'L2', 'SM', 'tensor pipe', 'occupancy'];

function showProfiles(profiles, cases) {
  const metrics = SHOWN_COUNTERS.map(label => Object.keys(profiles.labels).find(
    metric => profiles.labels[metric].label === label)).filter(Boolean);
  const rows = profiles.rows.flatMap(row => row.kernels.map(kernel => ({...kernel, case: row})));
  const open = row => cases.open(cases.byKey.get(caseKey(row.case)) || row.case);
  const columns = [
    {name: 'case', head: true, text: row => caseText(row.case), fill: (cell, row) => cell.append(
      button(breakable(`${row.case.operation}/${row.case.variant}`), () => open(row), {class: 'link'}),
      make('small', {}, whereText(row.case)), make('small', {class: 'where'}, kernelName(row)))},
    {name: 'kernel', class: 'p2 k', text: kernelName},
    {name: 'time', class: 'n', text: row => timeText(row.busy_ns), value: row => row.busy_ns},
    {name: 'share', class: 'n', text: row => fixed(100 * row.share, 1) + ' %', value: row => row.share},
    {name: 'count', class: 'n p3', text: row => String(row.count), value: row => row.count},
    {name: 'grid x block', class: 'p3', text: gridText},
    {name: 'registers', class: 'n p3', text: row => known(row.registers) ? String(row.registers) : '', value: row => row.registers},
    ...metrics.map(metric => ({name: profiles.labels[metric].label, class: 'n p2',
      text: row => counterText(profiles.labels[metric].unit, row.counters[metric]), value: row => row.counters[metric]})),
    {name: 'bound', class: 'p2 w', text: row => row.bound || ''},
  ];
  const host = document.getElementById('kernels'), search = searchForm(host);
  const table = new Table(host, columns, rows,
    {name: 'Kernels', caption: 'Kernels of one launch of each case; a case has all counters of its kernels'});
  search(table, row => `${caseText(row.case)} ${kernelName(row)} ${row.bound || ''}`);
}

/* -------------------------------------------------------------------- page -- */

themes();
document.querySelectorAll('table.sortable').forEach(sortStanding);
const run = documentOf('run'), comparison = documentOf('comparison'), profiles = documentOf('profiles');
const trend = documentOf('history');
for (const one of [run, comparison, profiles]) if (one) namePlaces(one.rows);
const cases = run && showCases(run, comparison, profiles);
if (comparison) {
  showComparison(comparison, row => cases?.byKey.has(caseKey(row)) ? cases.open(cases.byKey.get(caseKey(row))) : openCase(row, {}));
}
if (profiles) showProfiles(profiles, cases);
if (trend) showTrend(trend);
if (charts()) document.getElementById('library').textContent = `Charts are drawn by Chart.js ${Chart.version}.`;
