'use strict';
/* table.js - elements, and tables that sort and filter. What is shown of a run is text: nothing of
 * it is ever parsed as markup. */

/* make('td', {class: 'n'}, 'text', element): attributes and children; strings become text. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/* A name in which lines may be broken after a slash or an underscore. */
const breakable = name => name.split(/(?<=[/_])/).flatMap(part => [part, make('wbr')]);

function button(text, action, attributes) {
  const made = make('button', {type: 'button', ...attributes}, ...[text].flat());
  made.addEventListener('click', action);
  return made;
}

/* By figure or by text; what has neither comes last, and what is equal stays in order. */
function ordered(list, key, sign) {
  return list.map((item, at) => ({item, at, key: key(item)})).sort((a, b) => {
    const none = (a.key === null || a.key === '') - (b.key === null || b.key === '');
    const order = none || a.key === null || a.key === '' ? none
      : sign * (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
    return order || a.at - b.at;
  }).map(entry => entry.item);
}

/* Turn the headings of a table into buttons; sort(column, sign) is called when one is pressed. */
function sortable(heads, sort) {
  heads.forEach((head, at) => {
    const name = head.textContent;
    head.replaceChildren(button(name, () => {
      const sign = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', sign > 0 ? 'ascending' : 'descending');
      sort(at, sign);
    }));
  });
}

/* A table that is in the page already; its figures are in data-v. */
function sortStanding(table) {
  const body = table.tBodies[0];
  const key = at => row => {
    const cell = row.cells[at];
    if (!cell.hasAttribute('data-v')) return cell.textContent.trim().toLowerCase();
    return cell.dataset.v === '' ? null : Number(cell.dataset.v);
  };
  sortable([...table.tHead.rows[0].cells],
    (at, sign) => body.append(...ordered([...body.rows], key(at), sign)));
}

/*
 * A table of objects. A column has `name`, `text(row)`, and where they differ from it `value(row)`
 * to sort by and `fill(cell, row)`; `class` is for its cells; `head` makes them headings of their
 * rows. Rows are made as far as the reader scrolls, since a page of thousands takes seconds to lay
 * out. `options`: name, caption, id(row).
 */
const STEP = 150;
class Table {
  constructor(host, columns, rows, options) {
    Object.assign(this, {columns, rows, options, shown: rows, made: 0, sort: null});
    this.body = make('tbody');
    const heads = columns.map(column => make('th', {scope: 'col', class: column.class || ''}, column.name));
    sortable(heads, (at, sign) => { this.sort = {column: columns[at], sign}; this.refresh(); });
    this.scroll = make('div', {class: 'scroll tall', tabindex: 0, role: 'region',
                               'aria-label': options.name},
      make('table', {}, make('caption', {}, options.caption),
        make('thead', {}, make('tr', {}, ...heads)), this.body));
    this.scroll.addEventListener('scroll', () => this.fillView());
    window.addEventListener('beforeprint', () => this.fillTo(this.sorted.length));
    host.append(this.scroll);
    this.refresh();
  }

  filter(rows) {
    this.shown = rows;
    this.refresh();
  }

  refresh() {
    const {column, sign} = this.sort || {};
    this.sorted = column ? ordered(this.shown, row => this.key(column, row), sign) : this.shown;
    this.made = 0;
    this.body.replaceChildren();
    this.fillTo(STEP);
  }

  key(column, row) {
    const value = (column.value || column.text)(row);
    return typeof value === 'string' ? value.toLowerCase() : known(value) ? value : null;
  }

  fillView() {
    const {scrollTop, clientHeight, scrollHeight} = this.scroll;
    if (scrollTop + 2 * clientHeight > scrollHeight) this.fillTo(this.made + STEP);
  }

  fillTo(count) {
    const until = Math.min(count, this.sorted.length);
    const rows = [];
    for (; this.made < until; this.made++) rows.push(this.line(this.sorted[this.made]));
    this.body.append(...rows);
  }

  line(row) {
    const {id} = this.options;
    return make('tr', id ? {id: id(row)} : {}, ...this.columns.map(column => {
      const cell = make(column.head ? 'th' : 'td', {class: column.class || ''});
      if (column.head) cell.scope = 'row';
      if (column.fill) column.fill(cell, row);
      else cell.textContent = column.text(row);
      return cell;
    }));
  }

  /* Make the row of an object and scroll to it. False if it is filtered out. */
  reveal(row) {
    const at = this.sorted.indexOf(row);
    if (at < 0) return false;
    this.fillTo(at + STEP);
    this.body.querySelectorAll('.target').forEach(line => line.classList.remove('target'));
    this.body.rows[at].classList.add('target');
    this.body.rows[at].scrollIntoView({block: 'center'});
    return true;
  }
}
