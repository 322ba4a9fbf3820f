'use strict';
/* explorer.js - chooses cases, and what a chart of them has on its axes. */

const MOST_BARS = 24;
const LEAST_INTENSITIES = 4; /* with fewer that a third tells apart, a roofline is a few upright lines */
const option = (value, text) => make('option', {value}, text || value);
const distinct = (rows, key) => [...new Set(rows.map(key))];

/* The value that most rows have. */
function commonest(rows, key) {
  const counts = new Map();
  for (const row of rows) counts.set(key(row), (counts.get(key(row)) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

function select(name, choices, action) {
  const made = make('select', {}, ...choices);
  made.addEventListener('change', action);
  return {made, label: make('label', {}, name, made)};
}

/* Choosers of operation, shape, caches, status and variants, and words to search for. `changed(rows)`
 * is called with those that fit. */
class Chooser {
  constructor(host, rows, changed) {
    Object.assign(this, {rows, changed});
    const again = () => this.apply();
    const choice = (name, key) => {
      const values = distinct(rows, key);
      const {made, label} = select(name, [option('', 'any'), ...values.map(value => option(value))], again);
      label.hidden = values.length < 2;
      return {made, label, key};
    };
    this.choices = [choice('operation', row => row.operation), choice('shape', row => shapeText(row.shape)),
                    choice('caches', row => row.temperature), choice('status', row => row.status)];
    this.operation = this.choices[0].made;
    this.operation.addEventListener('change', () => this.narrow());
    this.words = make('input', {type: 'search', autocomplete: 'off', spellcheck: 'false', id: 'words'});
    this.words.addEventListener('input', again);
    this.variants = make('details', {class: 'variants'});
    this.said = make('span', {role: 'status', id: 'shown'});
    const form = make('form', {class: 'filter', role: 'search'},
      ...this.choices.map(one => one.label), this.variants,
      make('label', {}, 'words that a case must have', this.words),
      button('all', () => this.clear()), this.said);
    form.addEventListener('submit', event => event.preventDefault());
    host.append(form);
    this.texts = new Map(rows.map(row => [row, [caseText(row), markedVariant(row), row.kind, row.status, row.ceiling,
      row.reason, row.note].filter(known).join(' ').toLowerCase()]));
    this.narrow();
  }

  /* Offer the variants and shapes of the chosen operation only. */
  narrow() {
    const rows = this.rows.filter(row => !this.operation.value || row.operation === this.operation.value);
    const shapes = this.choices[1];
    const values = distinct(rows, shapes.key);
    shapes.made.replaceChildren(option('', 'any'), ...values.map(value => option(value)));
    this.boxes = distinct(rows, row => row.variant).map(variant => {
      const box = make('input', {type: 'checkbox', value: variant});
      box.checked = true;
      return box;
    });
    const tick = on => { this.boxes.forEach(box => { box.checked = on; }); this.apply(); };
    this.variants.replaceChildren(make('summary', {}, `variants (${this.boxes.length})`),
      make('div', {class: 'boxes'}, button('all', () => tick(true)), button('none', () => tick(false)),
        ...this.boxes.map(box => make('label', {}, box, ' ' + box.value))));
    this.boxes.forEach(box => box.addEventListener('change', () => this.apply()));
    this.apply();
  }

  apply() {
    const words = this.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const off = new Set(this.boxes.filter(box => !box.checked).map(box => box.value));
    const shown = this.rows.filter(row =>
      this.choices.every(one => !one.made.value || one.key(row) === one.made.value) &&
      !off.has(row.variant) && words.every(word => this.texts.get(row).includes(word)));
    this.said.textContent = `${shown.length} of ${this.rows.length} cases shown`;
    this.changed(shown);
  }

  clear() {
    for (const one of this.choices) one.made.value = '';
    this.words.value = '';
    this.narrow();
  }
}

/* The chart of the chosen cases. */
class Explorer {
  constructor(host, ceilings, view) {
    Object.assign(this, {ceilings, rows: []});
    const again = () => this.draw();
    this.kind = null;
    this.kinds = [['size', 'Size'], ['ranking', 'Ranking'], ['roofline', 'Roofline'], ['quality', 'Quality']]
      .map(([kind, name]) => button(name, () => { this.kind = kind; this.preset(); }, {'data-kind': kind}));
    this.x = select('across', [], again);
    this.y = select('up', [], again);
    this.at = select('at', [], again);
    this.log = ['x', 'y'].map(axis => {
      const box = make('input', {type: 'checkbox'});
      box.addEventListener('change', again);
      return {box, label: make('label', {class: 'box-label'}, box, ` log ${axis}`)};
    });
    this.note = make('p', {class: 'soft'});
    host.append(
      make('div', {class: 'kinds', role: 'group', 'aria-label': 'Kind of chart'}, ...this.kinds),
      make('div', {class: 'filter'}, this.x.label, this.y.label, this.at.label, ...this.log.map(one => one.label)));
    this.view = new ChartView(host, view);
    host.append(this.note);
  }

  show(rows) {
    const operations = distinct(rows, row => row.operation);
    const was = this.operations;
    this.operations = operations.length;
    this.rows = rows.filter(row => hasTime(row) && known(row.time_ns));
    this.figures = figuresOf(this.rows);
    const of = this.at.made.value;
    if (!this.possible(this.kind) || was !== this.operations || this.of !== operations[0]) this.kind = null;
    this.of = operations[0];
    this.preset(of);
  }

  figure(key) { return this.figures.find(one => one.key === key); }
  sizes() { return this.figures.filter(one => one.isSize && distinct(this.rows, one.value).length > 1); }
  metrics() { return this.figures.filter(one => one.isMetric); }

  possible(kind) {
    return {ranking: () => this.rows.length > 0,
            size: () => this.sizes().length > 0 || (this.figure('bytes') && this.operations > 1),
            roofline: () => this.figure('intensity') &&
              distinct(this.rows, row => Math.round(Math.log2(this.figure('intensity').value(row)) / Math.log2(4 / 3))).length >=
                LEAST_INTENSITIES,
            quality: () => this.metrics().length > 0}[kind]?.();
  }

  /* What a kind of chart has on its axes at first. */
  preset() {
    const order = this.operations > 1 ? ['roofline', 'size', 'ranking'] : ['size', 'ranking'];
    this.kind = this.kind || order.find(kind => this.possible(kind)) || 'ranking';
    for (const one of this.kinds) {
      one.hidden = !this.possible(one.dataset.kind);
      one.setAttribute('aria-pressed', one.dataset.kind === this.kind);
    }
    const rate = commonest(this.rows, row => row.rate_unit) === 'B/s' ? 'bytes_rate' : 'ops_rate';
    const sizes = this.sizes();
    const widest = sizes.sort((a, b) =>
      distinct(this.rows, b.value).length - distinct(this.rows, a.value).length)[0];
    const [x, y] = {
      ranking: [null, this.ranked()],
      size: [widest && this.operations === 1 ? widest.key : 'bytes', rate],
      roofline: ['intensity', 'ops_rate'],
      quality: ['time', this.metrics()[0]?.key],
    }[this.kind];
    this.offer(this.x, x);
    this.offer(this.y, this.figure(y) ? y : 'time');
    this.x.label.hidden = this.log[1].label.hidden = this.kind === 'ranking';
    this.offerPlaces();
    this.log[0].box.checked = this.kind !== 'ranking' && this.wants(x);
    this.log[1].box.checked = this.wants(y);
    this.draw();
  }

  /* Times of several shapes cannot be ranked; shares and ratios can. */
  ranked() {
    if (distinct(this.rows, row => row.operation + whereText(row)).length === 1) return 'time';
    return ['speedup', 'share', 'time'].find(key => this.figure(key));
  }

  offer(chooser, key) {
    chooser.made.replaceChildren(...this.figures.map(one => option(one.key, one.name)));
    if (key) chooser.made.value = key;
  }

  /* A logarithmic axis, where the figures span a factor of 20 and none is 0 or less. */
  wants(key) {
    const figure = this.figure(key);
    const values = figure ? this.rows.map(figure.value).filter(known) : [];
    const least = values.reduce((a, b) => Math.min(a, b), Infinity);
    return least > 0 && values.reduce((a, b) => Math.max(a, b), 0) > 20 * least;
  }

  /* What stays the same along a curve: the rest of the shape, and the caches. */
  place(row) {
    const size = this.x.made.value;
    return [...Object.entries(row.shape).filter(([name]) => 'dim ' + name !== size)
      .map(([name, value]) => `${name}=${value}`), row.temperature].join(' ');
  }

  offerPlaces() {
    const sweep = this.kind === 'size' && this.x.made.value.startsWith('dim ');
    const places = sweep ? distinct(this.rows, row => this.place(row)) : [];
    this.at.label.hidden = places.length < 2;
    this.at.made.replaceChildren(option('', 'all'), ...places.map(place => option(place)));
    if (places.length > 1) this.at.made.value = commonest(this.rows, row => this.place(row));
  }

  draw() {
    if (!this.rows.length) {
      this.note.textContent = 'No case that was chosen has a time.';
      this.view.frame.hidden = true;
      return;
    }
    this.view.frame.hidden = false;
    this.view.draw(this.kind === 'ranking' ? this.bars() : this.points());
  }

  bars() {
    const figure = this.figure(this.y.made.value);
    const rows = ordered(this.rows.filter(row => known(figure.value(row))), figure.value, figure.best === -1 ? 1 : -1);
    this.note.textContent = rows.length > MOST_BARS
      ? `The best ${MOST_BARS} of ${rows.length}: choose fewer cases to see others.` : '';
    return barsOf(rows.slice(0, MOST_BARS), figure, this.log[0].box.checked);
  }

  points() {
    const x = this.figure(this.x.made.value), y = this.figure(this.y.made.value);
    const several = this.operations > 1, key = row => several ? row.operation : row.variant;
    const drawable = this.rows.filter(row => known(x.value(row)) && known(y.value(row)) &&
      (!this.at.made.value || this.at.label.hidden || this.place(row) === this.at.made.value));
    const rows = several && this.kind !== 'quality' ? bestOf(drawable) : drawable;
    const names = distinct(rows, key), line = x.isSize && !several;
    const groups = new Map();
    for (const row of rows) {
      const id = line ? JSON.stringify([row.variant, this.place(row)]) : key(row);
      groups.set(id, (groups.get(id) || []).concat(row));
    }
    const series = [...groups.values()].map(group => ({
      name: several ? key(group[0]) : markedVariant(group[0]), look: look(names.indexOf(key(group[0]))), line,
      dash: {baseline: [6, 4], bound: [2, 3]}[group[0].kind] || [],
      points: ordered(group, x.value, 1).map(row => ({
        x: x.value(row), y: y.value(row), row, lo: y.lo?.(row), hi: y.hi?.(row)})),
    }));
    const limit = this.limits(rows, x, y);
    this.note.textContent = [
      rows.length < drawable.length ? 'The fastest of each operation, shape and temperature; choose an operation to see all.' : '',
      y.key.endsWith('_rate') && !limit.length ? 'The run measured no ceiling of these cases.' : ''].join(' ');
    return {kind: 'points', series, limits: limit, title: `${y.name} against ${x.name}, ${rows.length} cases`,
            x: {...x, log: this.log[0].box.checked}, y: {...y, log: this.log[1].box.checked}};
  }

  /* The ceilings that bind these rows, where the upright axis has their unit. */
  limits(rows, x, y) {
    return distinct(rows, row => row.ceiling).filter(name => name && known(this.ceilings[name])).flatMap(name => {
      const rate = this.ceilings[name], bytes = isBytes(name), label = shortCeiling(name);
      if (y.key === 'bytes_rate' && bytes) return [{name: label, at: () => rate}];
      if (y.key !== 'ops_rate') return [];
      if (!bytes) return [{name: label, at: () => rate}];
      return x.key === 'intensity' ? [{name: label, at: value => rate * value}] : [];
    });
  }
}

/* The fastest of each group: one operation, shape and temperature. */
function bestOf(rows) {
  const best = new Map();
  for (const row of rows) {
    const group = `${row.operation} ${whereText(row)}`;
    if (!best.has(group) || row.time_ns < best.get(group).time_ns) best.set(group, row);
  }
  return [...best.values()];
}

/* Bars of one figure, the first on top; their names leave out what all share. */
function barsOf(rows, figure, log) {
  const words = row => whereText(row).split(' ');
  const shared = word => rows.every(row => words(row).includes(word));
  const differing = new Set(distinct(rows.flatMap(words), word => word).filter(word => !shared(word)));
  const oneOperation = distinct(rows, row => row.operation).length === 1;
  const name = row => [(oneOperation ? '' : row.operation + '/') + markedVariant(row),
                       ...words(row).filter(word => differing.has(word))].join(' ');
  const colour = figure.colour || (row => row.kind === 'kernel' ? HUES[0] : HUES[7]);
  const points = rows.map(row => ({x: figure.value(row), y: name(row), row, colour: colour(row),
                                   lo: figure.lo?.(row), hi: figure.hi?.(row)}));
  return {kind: 'bars', series: [{name: figure.name, points, look: look(0)}], limits: [], x: {...figure, log},
          title: `${figure.name} of ${rows.length} cases, the first: ${points[0].y}`};
}
