'use strict';
/* chart.js - one chart, of points or of bars, drawn by Chart.js: intervals, ceilings, zoom, legend,
 * colours of the theme. What a chart shows is text and figures, never markup. */

/* Okabe and Ito's colours without yellow, told apart by colour-blind readers; beyond them the shape
 * of a point changes, so that no two series look alike. */
const HUES = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#7a5cc0', '#8c8c8c'];
const SHAPES = ['circle', 'triangle', 'rect', 'rectRot', 'star', 'cross', 'crossRot'];
const look = index => ({colour: HUES[index % HUES.length],
                        shape: SHAPES[Math.trunc(index / HUES.length) % SHAPES.length]});
const themed = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* The interval of each point, as a line through it. */
const intervals = {
  id: 'intervals',
  afterDatasetsDraw(chart) {
    const {ctx, chartArea: area, scales} = chart, sideways = chart.options.indexAxis === 'y';
    const scale = sideways ? scales.x : scales.y;
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    ctx.clip();
    ctx.lineWidth = 1.5;
    chart.data.datasets.forEach((set, at) => {
      if (!chart.isDatasetVisible(at)) return;
      ctx.strokeStyle = sideways ? themed('--fg') : set.borderColor;
      chart.getDatasetMeta(at).data.forEach((point, i) => {
        const {lo, hi} = set.data[i];
        if (!known(lo) || !known(hi)) return;
        const from = scale.getPixelForValue(lo), to = scale.getPixelForValue(hi);
        if (Math.abs(to - from) < 2) return;
        ctx.beginPath();
        ctx.moveTo(sideways ? from : point.x, sideways ? point.y : from);
        ctx.lineTo(sideways ? to : point.x, sideways ? point.y : to);
        ctx.stroke();
      });
    });
    ctx.restore();
  },
};

/* Limits: {name, at(x)}, a value on the upright axis. A name stands on its line, as far right as
 * there is room for it. */
const limits = {
  id: 'limits',
  /* The lines, under the points. */
  beforeDatasetsDraw(chart, _, options) {
    const {ctx, chartArea: area, scales: {x, y}} = chart;
    const line = limit => Array.from({length: 129}, (_, step) => {
      const px = area.left + (area.right - area.left) * step / 128;
      return {px, py: y.getPixelForValue(limit.at(x.getValueForPixel(px)))};
    });
    ctx.save();
    ctx.strokeStyle = themed('--soft');
    ctx.setLineDash([6, 4]);
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    ctx.clip();
    chart.limitLines = options.list.map(line);
    for (const points of chart.limitLines) {
      ctx.beginPath();
      points.forEach(({px, py}) => ctx.lineTo(px, py));
      ctx.stroke();
    }
    ctx.restore();
  },

  /* The names, above them. */
  afterDatasetsDraw(chart, _, options) {
    const {ctx, chartArea: area} = chart, taken = [];
    ctx.save();
    ctx.font = '12px system-ui, sans-serif';
    ctx.textAlign = 'right';
    ctx.lineWidth = 4;
    ctx.strokeStyle = themed('--bg');
    ctx.fillStyle = themed('--fg');
    options.list.forEach(({name}, at) => {
      const wide = ctx.measureText(name).width;
      const free = chart.limitLines[at].reverse().find(({px, py}) =>
        py > area.top + 16 && py < area.bottom && px - wide > area.left &&
        !taken.some(other => px - wide - 8 < other.px && px > other.px - other.wide - 8 && Math.abs(py - other.py) < 16));
      if (!free) return;
      taken.push({...free, wide});
      ctx.strokeText(name, free.px - 4, free.py - 4);
      ctx.fillText(name, free.px - 4, free.py - 4);
    });
    ctx.restore();
  },
};

/* What a history has on its chart: levels {from, to, at}, and upright lines {x, text, colour, dash} whose
 * texts stand in the first of four rows that has room for them. */
const marks = {
  id: 'marks',
  afterDatasetsDraw(chart, _, {levels, lines}) {
    const {ctx, chartArea: area, scales: {x, y}} = chart, ends = [-Infinity, -Infinity, -Infinity, -Infinity];
    const stroke = (colour, width, dash, x1, y1, x2, y2) => {
      Object.assign(ctx, {strokeStyle: themed(colour), lineWidth: width});
      ctx.setLineDash(dash);
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      ctx.lineTo(x2, y2);
      ctx.stroke();
    };
    ctx.save();
    ctx.beginPath();
    ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
    ctx.clip();
    for (const {from, to, at} of levels) {
      const height = y.getPixelForValue(at);
      stroke('--fg', 1.5, [], x.getPixelForValue(from), height, x.getPixelForValue(to), height);
    }
    for (const {x: at, colour, dash} of lines)
      stroke(colour, 1.5, dash, x.getPixelForValue(at), area.top, x.getPixelForValue(at), area.bottom);
    ctx.setLineDash([]);
    ctx.font = '12px system-ui, sans-serif';
    for (const {x: at, text, colour} of ordered(lines, line => line.x, 1)) {
      const px = x.getPixelForValue(at), wide = ctx.measureText(text).width;
      const left = px + 4 + wide > area.right ? px - 4 - wide : px + 4, row = ends.findIndex(end => end < left);
      if (px < area.left - 1 || px > area.right + 1 || left < area.left || row < 0) continue;
      ends[row] = left + wide + 8;
      ctx.fillStyle = themed('--bg');
      ctx.fillRect(left - 2, area.top + 2 + 15 * row, wide + 4, 14);
      ctx.fillStyle = themed(colour);
      ctx.fillText(text, left, area.top + 13 + 15 * row);
    }
    ctx.restore();
  },
};

/* Drag a box over the canvas to zoom into it. */
function dragToZoom(canvas, box, zoom) {
  let from = null;
  const place = event => {
    const frame = canvas.getBoundingClientRect();
    return {x: event.clientX - frame.left, y: event.clientY - frame.top};
  };
  canvas.addEventListener('pointerdown', event => {
    if (event.button === 0 && event.pointerType !== 'touch') from = place(event);
  });
  canvas.addEventListener('pointermove', event => {
    if (!from) return;
    const to = place(event);
    Object.assign(box.style, {
      left: Math.min(from.x, to.x) + 'px', top: Math.min(from.y, to.y) + 'px',
      width: Math.abs(from.x - to.x) + 'px', height: Math.abs(from.y - to.y) + 'px'});
    box.hidden = false;
  });
  window.addEventListener('pointerup', event => {
    if (!from) return;
    const start = from, to = place(event);
    from = null;
    box.hidden = true;
    if (Math.abs(start.x - to.x) > 8 && Math.abs(start.y - to.y) > 8) zoom(start, to);
  });
}

/*
 * draw(content): {kind: 'points' or 'bars', x, y: axes {name, text(value), log}, series: [{name,
 * points: [{x, y, lo, hi, row}], line, dash, look, radius}], limits, title}. Bars have one series, whose y
 * are names. An axis may have its `range`, and `binary`, ticks at powers of two; `marks` are levels and upright lines. `facts(row)` are the lines of the box beside a point, open(row) is a click.
 */
class ChartView {
  constructor(host, {facts, open}) {
    Object.assign(this, {facts, open, chart: null, content: null});
    this.canvas = make('canvas', {role: 'img'});
    this.legend = make('div', {class: 'legend', role: 'group', 'aria-label': 'Series'});
    const box = make('div', {class: 'box', hidden: ''});
    this.frame = make('div', {class: 'canvas'}, this.canvas, box);
    this.tools = make('div', {class: 'tools'},
      button('+', () => this.scaleBy(0.6), {'aria-label': 'zoom in'}),
      button('−', () => this.scaleBy(1 / 0.6), {'aria-label': 'zoom out'}),
      button('whole', () => this.draw(this.content), {'aria-label': 'show the whole chart'}));
    host.append(this.tools, this.frame, this.legend);
    dragToZoom(this.canvas, box, (from, to) => this.zoomTo(from, to));
    this.canvas.addEventListener('dblclick', () => this.draw(this.content));
  }

  draw(content) {
    if (this.chart) this.chart.destroy();
    this.content = content;
    const bars = content.kind === 'bars';
    this.frame.style.height = bars ? 90 + (this.narrow() ? 36 : 24) * content.series[0].points.length + 'px' : '';
    this.canvas.setAttribute('aria-label', content.title);
    const points = content.series.flatMap(one => one.points);
    const level = content.limits.map(limit => limit.at(1)).filter((value, at) => value === content.limits[at].at(2));
    this.chart = new Chart(this.canvas, {
      type: bars ? 'bar' : 'scatter',
      data: {datasets: content.series.map(one => this.dataset(one, bars))},
      options: {
        animation: false, responsive: true, maintainAspectRatio: false,
        indexAxis: bars ? 'y' : 'x', color: themed('--fg'),
        interaction: {mode: 'nearest', intersect: false, axis: bars ? 'y' : 'xy'},
        onClick: (_, hits) => { if (hits.length) this.open(this.raw(hits[0]).row); },
        scales: {x: this.axis(content.x, points.map(point => point.x), bars),
                 y: bars ? this.names(content) : this.axis(content.y, points.map(point => point.y).concat(level), true)},
        plugins: {
          legend: {display: false},
          limits: {list: content.limits}, marks: content.marks || {levels: [], lines: []},
          tooltip: {displayColors: false, callbacks: {
            title: items => this.facts(items[0].raw.row)[0],
            label: item => this.facts(item.raw.row).slice(1)}},
        },
      },
      plugins: [intervals, limits, marks],
    });
    this.drawLegend(bars ? [] : content.series);
  }

  raw(hit) {
    return this.chart.data.datasets[hit.datasetIndex].data[hit.index];
  }

  dataset(series, bars) {
    const {colour, shape} = series.look;
    return {
      data: series.points, parsing: false, normalized: true,
      borderColor: colour, backgroundColor: bars ? series.points.map(point => point.colour) : colour, borderWidth: bars ? 0 : 1.5,
      pointStyle: shape, pointRadius: series.radius || 4, pointHoverRadius: 7, pointHitRadius: 6,
      showLine: !!series.line, borderDash: series.dash || [], barPercentage: 0.8, categoryPercentage: 0.9,
    };
  }

  /* Around the values; upright and linear, it begins at 0, and so do bars. */
  axis({name, text, log, range, binary}, values, fromZero) {
    const colours = {color: themed('--fg')};
    const least = values.reduce((a, b) => Math.min(a, b), Infinity), most = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const count = this.narrow() ? 6 : 14, octaves = Math.ceil(Math.log2(most / least) / count) || 1;
    const powers = ({min, max}) => Array.from({length: count + 2}, (_, i) =>
      ({value: 2 ** (octaves * (Math.ceil(Math.log2(min) / octaves) + i))})).filter(({value}) => value <= max);
    const labelled = this.narrow() && most > 100 * least ? /^1(\.0+)?e/ : /^[125](\.0+)?e/;
    return {
      ...(range ? {min: range[0], max: range[1]} : log ? {min: least / 1.3, max: most * 1.6} : {beginAtZero: fromZero && least >= 0, suggestedMax: most}),
      type: log ? 'logarithmic' : 'linear',
      ...(log && binary ? {afterBuildTicks: scale => { scale.ticks = powers(scale); }} : {}),
      title: {display: true, text: name, ...colours},
      grid: {color: themed('--line')},
      ticks: {...colours, maxRotation: 0, autoSkip: !log, includeBounds: !range, callback: value =>
        !log || binary || labelled.test(value.toExponential(6)) ? text(value) : null},
    };
  }

  narrow() {
    return this.frame.clientWidth <= 600;
  }

  /* Where there is little room, the variant, and what tells it from others below. */
  names(content) {
    const cut = (name, most) => name.length > most ? name.slice(0, most - 1) + '…' : name;
    const narrow = this.narrow();
    return {type: 'category', labels: content.series[0].points.map(point => point.y),
            grid: {display: false}, ticks: {color: themed('--fg'), autoSkip: false, callback(at) {
              const name = this.getLabelForValue(at), [, own, rest] = /^(?:[^ /]*\/)?(\S*(?: [*=])?) ?(.*)$/s.exec(name);
              return narrow ? [own, rest].filter(Boolean).map(line => cut(line, 20)) : cut(name, 48);
            }}};
  }

  /* A button for each name, which may have several series. */
  drawLegend(series) {
    const names = [...new Set(series.map(one => one.name))];
    this.legend.replaceChildren(...names.map(name => {
      const own = series.map((one, at) => [one, at]).filter(([one]) => one.name === name);
      const mark = make('span', {class: 'mark ' + own[0][0].look.shape});
      mark.style.color = own[0][0].look.colour;
      const made = button('', () => {
        const shown = made.getAttribute('aria-pressed') !== 'true';
        made.setAttribute('aria-pressed', shown);
        own.forEach(([, at]) => this.chart.setDatasetVisibility(at, shown));
        this.chart.update('none');
      }, {'aria-pressed': 'true'});
      made.append(mark, name);
      return made;
    }));
  }

  zoomTo(from, to) {
    for (const [scale, a, b] of this.zoomable(from, to)) {
      const values = [scale.getValueForPixel(a), scale.getValueForPixel(b)].sort((p, q) => p - q);
      [scale.options.min, scale.options.max] = values;
    }
    this.chart.update('none');
  }

  /* Those that can be zoomed: the names of bars cannot. */
  zoomable(from, to) {
    const {x, y} = this.chart.scales;
    return this.content.kind === 'bars' ? [[x, from.x, to.x]] : [[x, from.x, to.x], [y, from.y, to.y]];
  }

  scaleBy(factor) {
    const {left, right, top, bottom} = this.chart.chartArea;
    const wide = (right - left) * (1 - factor) / 2, high = (bottom - top) * (1 - factor) / 2;
    this.zoomTo({x: left + wide, y: top + high}, {x: right - wide, y: bottom - high});
  }
}
