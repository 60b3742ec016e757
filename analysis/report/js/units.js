// A column of a table in one unit, and a mean with its ± in one unit: "9.480 ± 0.009 s".
'use strict';

// [size, name] of the units that a number may be written in, largest first.
const UNITS = {
  s: [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's'], [1e-3, 'ms'], [1e-6, 'µs']],
  B: [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']],
  '%': [[0.01, '%']],
};

// Below a nanosecond a time is rounding, and no time.
const LEAST = {s: 1e-9, B: 0, '%': 0};
const WIDEST = 1000;  // values further apart than this are not comparable in one unit

// The unit of a column: that in which the smallest value is at least 1 (of times 2: 76 s and no 1.27 min) and no value has
// more than four digits before its point; null where no unit serves, and each cell has its own. `unit`: "s", "B", "%" or
// another, which has one form.
function columnUnit(unit, values) {
  if (!UNITS[unit]) return [1, ''];
  const sizes = values.filter(value => value !== null && Math.abs(value) > LEAST[unit]).map(Math.abs);
  if (unit === '%' || sizes.length === 0) return UNITS[unit][UNITS[unit].length - 1 - (unit === 's' ? 2 : 0)];
  const least = Math.min(...sizes), most = Math.max(...sizes);
  if (most / least > WIDEST) return null;
  const fitting = UNITS[unit].filter(([size]) => most / size < 10000 && most / size >= 1);
  return fitting.find(([size]) => least / size >= (unit === 's' ? 2 : 1)) || fitting[fitting.length - 1] || null;
}

// How many decimals show three digits of a value, and the first digit of its ± unless that takes more than two others.
function decimalsOf(value, half) {
  const after = (number, shown) => (number === 0 ? 0 : Math.max(0, shown - 1 - Math.floor(Math.log10(Math.abs(number)) + 1e-9)));
  const own = after(value, 3), needed = half ? after(half, 1) : 0;
  return needed <= own + 2 ? Math.max(own, needed) : own;
}

// `value` (and `half`, half the width of its interval) in the unit of its column, as columnUnit() gives it.
function inUnit(unit, column, value, half) {
  const [size, name] = column || columnUnit(unit, [value]) || [1, unit];
  const shown = UNITS[unit] && Math.abs(value) < LEAST[unit] ? 0 : value / size;
  const width = half && half >= (LEAST[unit] || 0) ? half / size : 0;
  const decimals = unit === '%' ? Math.max(1, Math.min(3, decimalsOf(shown, width))) : decimalsOf(shown, width);
  const text = shown === 0 && !width ? '0' : shown.toFixed(unit === '%' && !width ? 1 : decimals);
  return `${text}${width ? ` ± ${width.toFixed(decimals)}` : ''}${name ? ` ${name}` : ''}`;
}
