'use strict';
/* case.js - what is known of a case: its names, its figures for axes, and all of it in a dialog. */

const shapeText = shape => Object.entries(shape || {}).map(([name, value]) => `${name}=${value}`).join(' ');
const whereText = row => [shapeText(row.shape), row.temperature].filter(Boolean).join(' ') + (row.place || '');
const caseText = row => `${row.operation}/${row.variant} ${whereText(row)}`;
const caseKey = row => [row.device, row.operation, row.variant, shapeText(row.shape), row.temperature].join(' ');

/* Where a variant ran on host and CUDA, its rows are named by that too. */
function namePlaces(rows) {
  const places = new Map();
  for (const row of rows) {
    const name = `${row.operation}/${row.variant}`;
    places.set(name, (places.get(name) || new Set()).add(row.device));
  }
  for (const row of rows)
    row.place = places.get(`${row.operation}/${row.variant}`).size > 1 ? ' ' + row.device : '';
}
const shortCeiling = name => name ? name.replace(/^memory_/, '') : '';
const hasTime = row => row.status === 'ok' || row.status === 'unchecked';
const isBytes = ceiling => /^(memory|cache|link)_/.test(ceiling);
const perSecond = (amount, row) => amount > 0 && row.time_ns > 0 ? amount / row.time_ns * 1e9 : null;
const markedVariant = row => row.variant + ({baseline: ' *', bound: ' ='}[row.kind] || '');
const isBase = row => known(row.against) && row.variant === row.against;
const speedupText = row => !row.against ? '' : isBase(row) ? (row.kind === 'bound' ? 'bound' : 'base')
  : ratioText(row.speedup, row.speedup_lo, row.speedup_hi);

/* What can stand on an axis. `lo` and `hi` are the ends of an interval; `best` says which end of the
 * axis is the good one. */
const rateOf = (key, name, unit) => ({
  key, name, best: 1, text: value => rateText(value, unit),
  value: row => perSecond(key === 'bytes_rate' ? row.bytes : row.ops, row),
  lo: row => known(row.hi_ns) ? perSecond(key === 'bytes_rate' ? row.bytes : row.ops, {time_ns: row.hi_ns}) : null,
  hi: row => known(row.lo_ns) ? perSecond(key === 'bytes_rate' ? row.bytes : row.ops, {time_ns: row.lo_ns}) : null,
});
const FIGURES = [
  {key: 'time', name: 'time', best: -1, text: timeText, value: row => row.time_ns,
   lo: row => row.lo_ns, hi: row => row.hi_ns},
  rateOf('bytes_rate', 'bytes per second', 'B/s'),
  rateOf('ops_rate', 'operations per second', 'OP/s'),
  {key: 'share', name: 'share of the ceiling', best: 1, text: percentText, value: row => row.ceiling_fraction},
  {key: 'speedup', name: 'speed-up over the baseline', best: 1, text: value => figure(value, ['x']),
   value: row => isBase(row) ? 1 : row.speedup, lo: row => row.speedup_lo, hi: row => row.speedup_hi},
  {key: 'bytes', name: 'bytes of the operation', text: bytesText, binary: true, value: row => row.bytes},
  {key: 'intensity', name: 'operations per byte', text: plainText,
   value: row => row.bytes > 0 && row.ops > 0 ? row.ops / row.bytes : null},
  {key: 'energy', name: 'energy', best: -1, text: value => plainText(value) + ' mJ', value: row => row.energy_mj},
];

/* Those that some of the rows have, with their numeric dimensions and metrics. */
function figuresOf(rows) {
  const names = part => [...new Set(rows.flatMap(row => Object.keys(row[part] || {})))];
  const all = FIGURES.concat(
    names('shape').map(name => ({key: 'dim ' + name, name, text: plainText, isSize: true,
      value: row => typeof row.shape[name] === 'number' ? row.shape[name] : null})),
    names('quality').map(name => ({key: 'metric ' + name, name, isMetric: true,
      text: name.endsWith('_ns') ? timeText : plainText, value: row => row.quality[name]})));
  return all.filter(one => rows.some(row => known(one.value(row))));
}

/* All figures of a case as [name, text]. */
function factsOf(row) {
  const interval = known(row.lo_ns) ? `${timeText(row.lo_ns)} to ${timeText(row.hi_ns)}` : '';
  const share = known(row.ceiling_fraction) ? `${percentText(row.ceiling_fraction)} of ${shortCeiling(row.ceiling)}` : '';
  return [
    ['status', row.status === 'ok' ? '' : row.status], ['reason', row.reason], ['time', timeText(row.time_ns)],
    [row.interval, interval], ['rate', known(row.rate) ? rateText(row.rate, row.rate_unit) : ''],
    ['ceiling', share], ['speed-up', speedupText(row)], ['over', isBase(row) ? '' : row.against],
    ['kind', row.kind], ['device', row.device], ['clock', row.clock], ['samples', row.samples], ['launches', row.launches],
    ['by events', timeText(row.event_ns)], ['by the host', timeText(row.wall_ns)],
    ['first call', timeText(row.first_call_ns)], ['least bytes', bytesText(row.bytes)],
    ['operations', plainText(row.ops)], ['workspace', bytesText(row.workspace_bytes)],
    ['energy', known(row.energy_mj) ? plainText(row.energy_mj) + ' mJ' : ''],
    ...Object.entries(row.quality || {}).map(([name, value]) =>
      [name, name.endsWith('_ns') ? timeText(value) : plainText(value)]),
    ['outputs compared', known(row.checked) ? `${row.checked} of ${row.outputs}` : ''], ['note', row.note],
  ].filter(([, text]) => known(text) && text !== '' && text !== '-');
}

/* For the box beside a point: the case, then its figures. */
function linesOf(row) {
  if (known(row.verdict)) return [caseText(row), ...changeFacts(row).map(([name, text]) => `${name}: ${text}`)];
  return [`${row.operation}/${row.variant}`, whereText(row),
          ...factsOf(row).slice(0, 16).map(([name, text]) => `${name}: ${text}`)];
}

const whyText = row => [row.reason, ...(row.tags || [])].filter(Boolean).join(', ');
function changeFacts(row) {
  return [
    ['verdict', row.verdict], ['why', whyText(row)], ['base', timeText(row.base_ns)],
    ['candidate', timeText(row.candidate_ns)], ['change', changeText(row.ratio, row.ratio_lo, row.ratio_hi)],
    ['floor', known(row.ratio) ? percentText(row.floor) : ''], ['finds', percentText(row.mde)],
    ['launches', row.launches], ['evidence', row.evidence],
  ].filter(([, text]) => known(text) && text !== '' && text !== '-');
}

const list = facts => make('dl', {}, ...facts.flatMap(([name, text]) =>
  [make('dt', {}, name), make('dd', {}, String(text))]));

/* ----------------------------------------------------------------- profiles -- */

const dims = three => !three ? '' : three[1] === 1 && three[2] === 1 ? String(three[0]) : `(${three.join(',')})`;
const gridText = kernel => kernel.grid ? `${dims(kernel.grid)} x ${dims(kernel.block)}` : '';
const kernelName = kernel => kernel.name || kernel.activity;

function counterFacts(counters, labels) {
  return Object.entries(counters).filter(([, value]) => known(value)).map(([metric, value]) => {
    const {label, unit} = labels[metric];
    return [unit === 'cycles' ? `waits for ${label}, cycles` : label, counterText(unit, value)];
  });
}

function kernelDetails(kernel, labels) {
  return make('details', {},
    make('summary', {}, `${fixed(100 * kernel.share, 1)} %  ${timeText(kernel.busy_ns)}  `,
      make('code', {}, (kernel.count > 1 ? `${kernel.count} of ` : '') + kernelName(kernel))),
    list([['grid x block', gridText(kernel)], ['registers', kernel.registers],
          ['shared', kernel.grid ? bytesText(kernel.static_shared_bytes + kernel.dynamic_shared_bytes) : ''],
          ['local', kernel.local_bytes > 0 ? bytesText(kernel.local_bytes) : ''],
          ['bound', kernel.bound],
          ...counterFacts(kernel.counters, labels)].filter(([, text]) => known(text) && text !== '')));
}

function profileParts(profile, labels) {
  const whole = counterFacts(profile.counters, labels);
  return [
    make('h3', {}, 'Profile'),
    list([['activities', profile.activities], ['span', timeText(profile.span_ns)],
          ['in gaps', profile.activities > 1 ? timeText(profile.idle_ns) : ''],
          ['DRAM traffic', known(profile.traffic_ratio) ? `${figure(profile.traffic_ratio, ['x'])} what is needed` : ''],
          ['counters', profile.counters_lost], ['bound', profile.bound]]
         .filter(([, text]) => known(text) && text !== '')),
    ...profile.kernels.map(kernel => kernelDetails(kernel, labels)),
    ...(profile.left_out ? [make('p', {}, `and ${profile.left_out} more`)] : []),
    ...(whole.length ? [make('details', {}, make('summary', {}, 'Counters of the whole launch'), list(whole))] : []),
  ];
}

/* The dialog with all that is known of a case. */
function openCase(row, {change, profile, labels, anchor}) {
  const dialog = make('dialog', {'aria-label': caseText(row)});
  dialog.append(
    make('form', {method: 'dialog'}, make('button', {'aria-label': 'close'}, '×')),
    make('h2', {}, `${row.operation}/${row.variant}`), make('p', {class: 'soft'}, whereText(row)),
    ...(known(row.verdict) ? [list(changeFacts(row))] : [list(factsOf(row))]),
    ...(change ? [make('h3', {}, 'Against the other run'), list(changeFacts(change))] : []),
    ...(profile ? profileParts(profile, labels) : []));
  if (anchor) dialog.append(make('p', {}, make('a', {href: '#' + anchor}, 'its row')));
  dialog.addEventListener('click', event => {
    if (event.target === dialog || event.target.tagName === 'A') dialog.close();
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
