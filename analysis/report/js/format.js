// Numbers as texts for people, alike to core/units.cc.
'use strict';

const digits = (value, count = 3) => Number(value.toPrecision(count)).toString();

function scaled(value, steps) {
  const step = steps.find(([size]) => Math.abs(value) >= size) || steps[steps.length - 1];
  return `${digits(value / step[0])} ${step[1]}`;
}

function formatDuration(seconds) {
  if (seconds === 0) return '0 s';
  if (Math.abs(seconds) < 100) return scaled(seconds, [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs']]);
  if (seconds < 7200) return `${digits(seconds / 60)} min`;
  if (seconds < 172800) return `${digits(seconds / 3600)} h`;
  return `${digits(seconds / 86400)} d`;
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

// Texts without their quotes, everything else as JSON.
const plain = value => (typeof value === 'string' ? value : String(JSON.stringify(value)));

// Steps of 1, 2 or 5 · 10^n, and for times of minutes and hours what a clock has: about `count` of them in `span`.
function tickStep(span, count) {
  const rough = span / count;
  const clock = [30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  if (rough > 20) return clock.find(step => step >= rough) || Math.ceil(rough / 86400) * 86400;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(step => step * power).find(step => step >= rough);
}
