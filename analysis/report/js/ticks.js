// Axes and their marks: round numbers in the unit that the label is written in, as many as there is room for.
'use strict';

// Marks of times above a second at which a logarithmic axis is labelled, and whether they are among the few (1, 10, 100).
const CLOCK_MARKS = [[1, true], [2], [5], [10, true], [20], [60, true], [120], [300], [600, true], [1200], [3600, true], [7200], [18000], [36000],
  [86400, true], [172800], [432000]];

// 1, 2, 5 times each power of ten from `low` to `high` (powers of ten): [[value, is a power of ten]].
function decimalMarks(low, high) {
  const marks = [];
  for (let power = low; power <= high; ++power) for (const digit of [1, 2, 5]) marks.push([Number(`${digit}e${power}`), digit === 1]);
  return marks;
}

const power = value => Math.floor(Math.log10(value) + 1e-9);

function candidateMarks(min, max, isTime) {
  if (!isTime) return decimalMarks(power(min), power(max));
  return [...(min < 1 ? decimalMarks(power(min), -1) : []), ...CLOCK_MARKS, ...(max >= 864000 ? decimalMarks(1, power(max / 86400)).map(([days, few]) => [86400 * days, few]) : [])];
}

// Where a logarithmic axis from `min` to `max` has marks: at 1, 2 and 5, or at 1, 10 and 100 where those are more than
// `most`; over less than a decade at equal steps, if 1, 2 and 5 would be one or two marks.
function logMarks(min, max, most, isTime) {
  const inside = candidateMarks(min, max, isTime).filter(([value]) => value >= min * (1 - 1e-9) && value <= max * (1 + 1e-9));
  if (inside.length < 3) return linearMarks(min, max, Math.min(most, 5), isTime);
  if (inside.length <= most) return inside.map(([value]) => value);
  const few = inside.filter(([, isFew]) => isFew).map(([value]) => value);
  if (few.length < 2) return [inside[0][0], inside[inside.length - 1][0]];
  const every = Math.ceil(few.length / most);
  return few.filter((_, i) => i % every === 0);
}

// Steps of 1, 2 or 5 · 10^n: about `count` of them in `span`.
function decimalStep(span, count) {
  const rough = span / count, scale = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map(step => step * scale).find(step => step >= rough);
}

// The same of times: of minutes and hours what a clock has.
function tickStep(span, count) {
  const rough = span / count;
  const clock = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  return rough <= 10 ? decimalStep(span, count) : clock.find(step => step >= rough) || Math.ceil(rough / 86400) * 86400;
}

function linearMarks(min, max, count, isTime = false) {
  const step = (isTime ? tickStep : decimalStep)(max - min || 1, count), marks = [];
  for (let mark = Math.ceil(min / step - 1e-9); mark * step <= max * (1 + 1e-9); ++mark) marks.push(Number((mark * step).toPrecision(12)));
  return marks;
}

// How many labels fit on a scale of Chart.js, of so many pixels each.
function roomFor(scale, wide) {
  return scale.isHorizontal() ? Math.max(2, Math.floor(scale.maxWidth / wide)) : Math.max(2, Math.floor(scale.maxHeight / 26));
}

const LABEL_PIXELS = 62;

// Times are read in minutes and hours, so the marks of a linear axis must not be at 1000 s.
function clockTicks(scale) {
  const count = Math.min(6, roomFor(scale, 80));
  scale.ticks = linearMarks(scale.min, scale.max, count, true).map(value => ({value}));
}

// As many digits as tell the marks apart: losses from 5.5461 to 5.5464 are not all 5.546.
function markText(about, value, marks) {
  const step = marks && marks.length > 1 ? Math.abs(marks[1].value - marks[0].value) : 0;
  if (about.format !== formatNumber || step === 0 || step >= Math.abs(value) * 1e-3 || Math.abs(value) >= 1e6) return about.format(value);
  return value.toFixed(Math.min(12, Math.max(0, Math.ceil(-Math.log10(step)))));
}

// about: {title, format}. A logarithmic axis ends where its data end, not at the next power of ten.
function axis(about, logarithmic, extra = {}) {
  const isTime = about.format === formatDuration, format = isTime ? markDuration : about.format;
  const title = {display: true, text: about.title};
  if (logarithmic)
    return {type: 'logarithmic', bounds: 'data', title, ticks: {callback: value => format(value), maxRotation: 0, autoSkip: false},
      afterBuildTicks: scale => { scale.ticks = logMarks(scale.min, scale.max, roomFor(scale, LABEL_PIXELS), isTime).map(value => ({value})); }, ...extra};
  return {type: 'linear', title, ticks: {callback: (value, _, marks) => markText({format}, value, marks), maxTicksLimit: 7, maxRotation: 0},
    ...(isTime ? {afterBuildTicks: clockTicks} : {}), ...extra};
}

// Of marks at these values those whose labels do not run into each other, the last one first: it is the largest.
function apart(values, place, width) {
  const kept = [];
  for (const value of [...values].reverse())
    if (kept.length === 0 || place(kept[0]) - place(value) >= (width(kept[0]) + width(value)) / 2 + 8) kept.unshift(value);
  return kept;
}

// Doublings and decades: three values at least, spaced more evenly by ratio than by difference, or a factor of 20 and more.
function isGeometric(values) {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length < 2 || !(sorted[0] > 0)) return false;
  if (sorted[sorted.length - 1] >= 20 * sorted[0]) return true;
  if (sorted.length < 3) return false;
  const unevenness = steps => Math.max(...steps) / Math.min(...steps);
  const steps = take => sorted.slice(1).map((value, i) => take(value, sorted[i]));
  return unevenness(steps((a, b) => Math.log(a / b))) < unevenness(steps((a, b) => a - b));
}
