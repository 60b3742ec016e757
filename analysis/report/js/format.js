// Numbers as texts for people, alike to core/base/units.cc.
'use strict';

const digits = (value, count = 3) => Number(value.toPrecision(count)).toString();

function scaled(value, steps) {
  const step = steps.find(([size]) => Math.abs(value) >= size) || steps[steps.length - 1];
  return `${digits(value / step[0])} ${step[1]}`;
}

// Below a nanosecond a time is what rounding left of none.
function formatDuration(seconds) {
  if (Math.abs(seconds) < 1e-9) return '0 s';
  if (Math.abs(seconds) < 100) return scaled(seconds, [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs']]);
  const whole = Math.round(seconds), pair = (high, highName, low, lowName) => `${high} ${highName} ${low} ${lowName}`;
  if (whole < 3600) return pair(Math.floor(whole / 60), 'min', whole % 60, 's');
  const minutes = Math.round(seconds / 60);
  if (whole < 172800) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  return whole < 63115200 ? `${(seconds / 86400).toFixed(1)} d` : `${(seconds / 31557600).toFixed(1)} years`;
}

// A mark of an axis: one unit, and no more digits than it needs.
function markDuration(seconds) {
  const [size, name] = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']].find(([least]) => Math.abs(seconds) >= least) || [0, ''];
  return size ? `${digits(seconds / size)} ${name}` : formatDuration(seconds);
}

function formatBytes(bytes) {
  return bytes === 0 ? '0' : scaled(bytes, [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']]);
}

function formatRate(bitsPerSecond) {
  return scaled(bitsPerSecond, [[1e12, 'Tb/s'], [1e9, 'Gb/s'], [1e6, 'Mb/s'], [1e3, 'kb/s'], [1, 'b/s']]);
}

const formatPercent = fraction => `${(100 * fraction).toFixed(1)} %`;

function formatNumber(value) {
  if (value === 0) return '0';
  return Math.abs(value) < 1e-4 || Math.abs(value) >= 1e6 ? value.toExponential(1) : digits(value, 4);
}

// How a number of this unit is written.
const formatOf = unit => ({s: formatDuration, B: formatBytes, '%': formatPercent})[unit] || formatNumber;

const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;

// "1 point", "2 points".
const counted = (count, what) => `${count} ${what}${count === 1 ? '' : 's'}`;

// A sentence before a colon.
const withoutStop = sentence => sentence.replace(/\.$/, '');

// Texts without their quotes, everything else as JSON.
const plain = value => (typeof value === 'string' ? value : String(JSON.stringify(value)));
