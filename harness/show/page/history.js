'use strict';
/* history.js - cases over runs: a chart each, with the interval of every run, the levels, and where a
 * level changed, conditions did, or a change was acknowledged. */

const MOST_CHARTS = 6;
const dayText = at => (at || '').slice(0, 10);
const commitText = one => known(one.commit) ? one.commit.slice(0, 7) : (one.run || '').slice(0, 8);
const isBorder = change => change.kind === 'border';
const changeNote = change => isBorder(change) ? change.reason || 'border' : changeText(change.ratio);
const newest = series => series.points[series.points.length - 1];
const newestChange = series => series.changes.filter(change => !isBorder(change)).pop();
const largestChange = series => series.changes.filter(change => !isBorder(change))
  .reduce((most, change) => Math.max(most, Math.abs(Math.log(change.ratio))), 0);

function pointFacts(point, settings) {
  const {device, driver, clock} = settings[point.setting];
  return [`${dayText(point.started_at)} ${(point.started_at || '').slice(11, 16)}`, `time: ${timeText(point.time_ns)}`,
    ...(known(point.lo_ns) ? [`${point.interval}: ${timeText(point.lo_ns)} to ${timeText(point.hi_ns)}`] : []),
    `commit: ${point.commit ? point.commit.slice(0, 12) : 'not known'}`, `run: ${(point.run || '').slice(0, 8)}`,
    ...(point.label ? [`label: ${point.label}`] : []), `launches: ${point.launches}`,
    `device: ${device}${driver ? ', driver ' + driver : ''}, clock ${clock}`];
}

/* Around the medians, with half of their range on each side: one wide interval must not hide the rest. */
function rangeOf(values) {
  const least = Math.min(...values), most = Math.max(...values);
  const more = Math.max((most - least) / 2, 0.01 * most);
  return [Math.max(0, least - more), most + more];
}

/* As many digits as tell the ticks of a narrow range apart. */
function tickText([least, most]) {
  const unit = Math.max(0, Math.min(Math.trunc(Math.log10(most) / 3), TIMES.length - 1)), scale = 1000 ** unit;
  const places = Math.max(0, Math.ceil(1 - Math.log10((most - least) / scale)));
  return value => (value / scale).toFixed(places) + TIMES[unit];
}

function trendOf(series) {
  const points = series.points, range = rangeOf(points.map(point => point.time_ns));
  const levels = series.changes.map((change, at, all) => ({from: change.at - 0.5,
    to: (at + 1 < all.length ? all[at + 1].at : points.length) - 0.5, at: change.after_ns}));
  if (levels.length) levels.unshift({from: -0.5, to: levels[0].from, at: series.changes[0].before_ns});
  const behind = date => points.findIndex(point => dayText(point.started_at) > dayText(date));
  const lines = series.changes.map(change => isBorder(change)
    ? {x: change.at - 0.5, text: changeNote(change), colour: '--soft', dash: [2, 4]}
    : {x: change.at - 0.5, text: changeNote(change), colour: change.ratio > 1 ? '--bad' : '--good', dash: []});
  for (const ack of series.acks) {
    const at = behind(ack.set_at);
    lines.push({x: (at < 0 ? points.length : at) - 0.5, text: 'acknowledged', colour: '--open', dash: [8, 4]});
  }
  return {
    kind: 'points', title: `${caseText(series)}: ${points.length} runs, newest ${timeText(newest(series).time_ns)}`,
    series: [{name: 'runs', look: look(0), radius: points.length > 50 ? 2 : 3.5, points: points.map((point, at) =>
      ({x: at, y: point.time_ns, lo: point.lo_ns, hi: point.hi_ns, row: point}))}],
    limits: [], marks: {levels, lines},
    x: {name: 'runs, oldest first: day, and commit or else id', range: [-0.5, points.length - 0.5],
        text: at => points[at] ? [dayText(points[at].started_at), commitText(points[at])] : null},
    y: {name: 'time', text: tickText(range), range},
  };
}

/* What the lines of a chart are, in words. */
function trendNotes(series) {
  return make('ul', {class: 'notes'},
    ...series.changes.map(change => make('li', {}, `${dayText(change.started_at)} `,
      make('b', {class: isBorder(change) ? 'soft' : change.ratio > 1 ? 'bad' : 'good'}, changeNote(change)),
      ` ${timeText(change.before_ns)} to ${timeText(change.after_ns)}, from ${commitText(change)} on`)),
    ...series.acks.map(ack => make('li', {}, `${dayText(ack.set_at)} `, make('b', {class: 'open'}, 'acknowledged'),
      ` ${ack.reason || ''}${ack.expires_at ? `, until ${dayText(ack.expires_at)}` : ''}`)));
}

function trendColumns(trend, open) {
  const when = series => newestChange(series);
  return [
    {name: 'case', head: true, text: caseText, fill: (cell, row) => cell.append(
      button(breakable(`${row.operation}/${row.variant}`), () => open(row), {class: 'link'}), make('small', {}, whereText(row)))},
    {name: 'device', class: 'p2', text: row => newest(row) ? trend.settings[newest(row).setting].device || '' : ''},
    {name: 'runs', class: 'n p2', text: row => String(row.runs), value: row => row.runs},
    {name: 'failed', class: 'n p3', text: row => row.failed ? String(row.failed) : '', value: row => row.failed},
    {name: 'newest', class: 'n', text: row => newest(row) ? timeText(newest(row).time_ns) : 'no time',
     value: row => newest(row) ? newest(row).time_ns : null},
    {name: 'last change', class: 'n', text: row => when(row) ? changeText(when(row).ratio) : '',
     value: row => when(row) ? when(row).ratio : null, fill: (cell, row) => {
       cell.textContent = when(row) ? changeText(when(row).ratio) : '';
       if (when(row)) cell.classList.add(when(row).ratio > 1 ? 'bad' : 'good');
     }},
    {name: 'since', class: 'p2', text: row => when(row) ? `${dayText(when(row).started_at)} ${commitText(when(row))}` : ''},
    {name: 'acknowledged', class: 'p3 w', text: row => row.acks.map(ack => ack.reason).filter(Boolean).join('; ')},
  ];
}

/* The most changed cases first, then those of the most runs; a search, or a press on a case, chooses which are drawn. */
function showTrend(trend) {
  const host = document.getElementById('trend');
  const series = trend.series.map(one => ({...one, device: one.place}));
  const all = ordered(ordered(series, one => one.runs, -1), largestChange, -1);
  namePlaces(all);
  const search = searchForm(host);
  const said = make('p', {class: 'soft', role: 'status'}), pictures = make('div', {class: 'trend'});
  host.append(said, pictures);
  let shown = [], views = [];
  const draw = rows => {
    views.forEach(view => view.chart?.destroy());
    shown = rows.filter(newest).slice(0, MOST_CHARTS);
    said.textContent = `${shown.length} of ${all.length} cases drawn, the most changed first`;
    pictures.replaceChildren();
    views = shown.map(series => {
      const frame = make('section', {class: 'explorer'}, make('h3', {}, caseText(series)));
      pictures.append(frame);
      if (!charts()) return {draw() {}};
      return new ChartView(frame, {facts: point => pointFacts(point, trend.settings), open() {}});
    });
    views.forEach((view, at) => { view.draw(trendOf(shown[at])); pictures.children[at].append(trendNotes(shown[at])); });
  };
  const table = new Table(host, trendColumns(trend, row => { draw([row]); pictures.scrollIntoView(); }), all,
    {name: 'Cases', caption: 'A case over its runs; + is slower. A case that is pressed is drawn alone'});
  search(table, caseText, draw);
  draw(all);
  drawn.push(() => draw(shown));
}
