'use strict';
/* figures.js - figures with their units, digit for digit as base/units.c writes them. */

/* printf rounds an exact half to the even digit, JavaScript up. `long` has 40 digits more than
 * `short`, which is enough to know a half. */
const HALF = '5' + '0'.repeat(39);
function halfToEven(short, long) {
  const cut = long.slice(0, -40).replace(/\.$/, '');
  return long.endsWith(HALF) && '02468'.includes(cut.slice(-1)) ? cut : short;
}

function fixed(value, places) {
  return halfToEven(value.toFixed(places), value.toFixed(places + 40));
}

function scientific(value) {
  const [short, exponent] = value.toExponential(2).split('e');
  const [long, below] = value.toExponential(42).split('e');
  const digits = halfToEven(short, long);
  return [digits, Number(digits === short ? exponent : below)];
}

/* Three significant digits, in the largest of the units that leaves a figure of 1 or more. */
function figure(value, units) {
  if (value === null || value === undefined || !isFinite(value)) return '-';
  const [digits, exponent] = scientific(value);
  const unit = Math.max(0, Math.min(Math.trunc(exponent / 3), units.length - 1));
  const left = exponent - 3 * unit;
  const text = left < -6 || left > 6
    ? digits + 'e' + (left < 0 ? '-' : '+') + String(Math.abs(left)).padStart(2, '0')
    : Number(digits + 'e' + left).toFixed(left < 2 ? 2 - left : 0);
  return text + units[unit];
}

const scale = unit => ['', 'k', 'M', 'G', 'T', 'P'].map(prefix => ' ' + prefix + unit);
const PER_SECOND = {'B/s': scale('B/s'), 'FLOP/s': scale('FLOP/s'), 'OP/s': scale('OP/s')};
const TIMES = [' ns', ' us', ' ms', ' s'];

const timeText = ns => figure(ns, TIMES);
const rateText = (perSecond, unit) => figure(perSecond, PER_SECOND[unit] || scale(unit));
const percentText = fraction => figure(fraction === null ? null : 100 * fraction, [' %']);

/* "500k", "3.14M"; a figure below 10000 has no prefix. */
function plainText(value) {
  if (!known(value)) return '-';
  const size = Math.abs(value), unit = size < 10000 ? 0 : Math.min(Math.trunc(Math.log10(size) / 3), 5);
  return Number((value / 1000 ** unit).toPrecision(unit ? 3 : 4)) + ['', 'k', 'M', 'G', 'T', 'P'][unit];
}

const known = value => value !== null && value !== undefined;

function bytesText(bytes) {
  if (!known(bytes)) return '-';
  const units = [' B', ' KiB', ' MiB', ' GiB', ' TiB'];
  let unit = 0;
  for (; Math.abs(bytes) >= 1023.5 && unit < units.length - 1; unit++) bytes /= 1024;
  const size = Math.abs(bytes);
  const plain = size < 1024 && (size >= 1000 || (unit === 0 && Number.isInteger(bytes)));
  return plain ? fixed(bytes, 0) + units[unit] : figure(bytes, [units[unit]]);
}

/* Three significant digits of a ratio, and one more if its interval would round to a point. */
function ratioText(mid, lo, hi) {
  if (!known(mid)) return '-';
  let places = mid > 0 ? 2 - Math.floor(Math.log10(mid)) : 2;
  if (mid > 0 && places >= 0 && known(lo) && known(hi) && hi - lo < 2 * 10 ** -places) places++;
  places = Math.max(0, Math.min(places, 4));
  const interval = known(lo) && known(hi) ? ` [${fixed(lo, places)}, ${fixed(hi, places)}]` : '';
  return fixed(mid, places) + 'x' + interval;
}

/* A change between two runs, of the time: "+2.4 % [+2.1, +2.7]" is slower. */
function changeText(ratio, lo, hi) {
  if (!known(ratio)) return '-';
  const signed = x => {
    const tenths = Math.sign(x - 1) * Math.round(Math.abs(1000 * (x - 1)));
    return (tenths > 0 ? '+' : '') + (tenths / 10 || 0).toFixed(1);
  };
  return signed(ratio) + ' %' + (known(lo) && known(hi) ? ` [${signed(lo)}, ${signed(hi)}]` : '');
}

function spreadText(row) {
  if (!known(row.lo_ns) || !known(row.hi_ns)) return '';
  const half = Math.max(row.hi_ns - row.time_ns, row.time_ns - row.lo_ns);
  return '±' + fixed(100 * half / row.time_ns, half < 0.1 * row.time_ns ? 2 : 0) + ' %';
}

/* Hardware counters by their unit, as counter_sets.c writes them. */
const COUNTER_TEXT = {
  ns: timeText,
  bytes: value => {
    let unit = 0;
    for (; value >= 999.5 && unit < 4; unit++) value /= 1000;
    return Number(value.toPrecision(3)) + [' B', ' kB', ' MB', ' GB', ' TB'][unit];
  },
  pct: value => fixed(value, value < 9.95 ? 1 : 0) + ' %',
  hz: value => fixed(value / 1e6, 0) + ' MHz',
  cycles: value => fixed(value, value < 9.95 ? 1 : 0),
  plain: value => String(Number(value.toPrecision(4))),
};
const counterText = (unit, value) => known(value) ? COUNTER_TEXT[unit](value) : '-';
