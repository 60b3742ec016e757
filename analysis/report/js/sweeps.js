// One number against one swept key, the other keys as at the chosen point of the sweep.
'use strict';

// logX null: logarithmic where the values are doublings or decades.
const SWEEP = {key: null, metric: 'sync_time_s.mean', logX: null, logY: true};

const sharedKeys = () => DATA.swept.filter(key => !key.startsWith('methods.'));

// The values of a key at the cases of a run that are like `here` in every other shared key.
function neighbours(run, here, key) {
  const others = sharedKeys().filter(other => other !== key);
  return DATA.cases.filter(one => one.run === run && key in one.swept
    && others.every(other => plain(one.swept[other]) === plain(here[other])));
}

const valuesOf = (cases, key) => [...new Map(cases.map(one => [plain(one.swept[key]), one.swept[key]])).values()];

// The keys that can be on the axis at this view.
function sweepKeys(view) {
  if (view.run === null || view.cases.length === 0) return [];
  const here = DATA.cases[view.cases[0]].swept;
  return sharedKeys().filter(key => key in here && valuesOf(neighbours(view.run, here, key), key).length > 1);
}

function sweepSeries(view, key, column, hidden) {
  const cases = neighbours(view.run, DATA.cases[view.cases[0]].swept, key);
  const values = valuesOf(cases, key);
  const numbers = values.every(value => typeof value === 'number');
  if (numbers) values.sort((a, b) => a - b);
  const found = new Map();
  for (const one of cases) {
    if (hidden[one.variant]) continue;
    if (!found.has(one.variant)) found.set(one.variant, {name: one.variant, label: one.label, points: new Map()});
    const {points} = found.get(one.variant), value = one.values[column];
    const place = numbers ? one.swept[key] : values.findIndex(other => plain(other) === plain(one.swept[key]));
    if (value !== null && one.status === 'done') points.set(place, [...(points.get(place) || []), value]);
  }
  const series = [...found.values()].map(one => ({...one, points: [...one.points].sort((a, b) => a[0] - b[0]).map(([x, all]) => ({
    x, y: mean(all), half: halfWidth(all), count: all.length}))}));
  return {series, numbers, values};
}

// The bounds of claims about this very number: [{value, text}].
function thresholds(run, path) {
  return DATA.runs[run].bounds.filter(bound => bound.metric === path).map(bound => ({value: bound.threshold, text: `${bound.id}: ${bound.words}`}));
}

// Draws dashed lines at `thresholds` of a chart's options.
const THRESHOLDS = {
  id: 'thresholds',
  afterDatasetsDraw(chart, _, {lines}) {
    const {ctx, chartArea, scales} = chart;
    for (const {value, text} of lines || []) {
      const y = scales.y.getPixelForValue(value);
      if (!(y >= chartArea.top && y <= chartArea.bottom)) continue;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = cssColor('--text');
      ctx.setLineDash([6, 4]);
      ctx.beginPath();
      ctx.moveTo(chartArea.left, y);
      ctx.lineTo(chartArea.right, y);
      ctx.stroke();
      ctx.font = `12px ${Chart.defaults.font.family}`;
      ctx.textAlign = 'right';
      ctx.fillText(text, chartArea.right - 4, y - chartArea.top > 16 ? y - 4 : y + 14, chartArea.width - 8);
      ctx.restore();
    }
  },
};

const MOST_VALUES_MARKED = 16;

// The scale of a swept key: its numbers, or its values in the order of the sweep. Marks are at the values themselves,
// those whose labels would run into others left out.
function sweepScale(key, numbers, values, logarithmic) {
  const text = value => (numbers ? formatNumber(Number(value)) : plain(values[value]));
  const marked = numbers ? values.map(Number) : values.map((_, i) => i);
  const atValues = scale => {
    const at = value => (logarithmic ? Math.log(value) : value), span = at(scale.max) - at(scale.min) || 1;
    scale.ticks = apart(marked, value => scale.maxWidth * (at(value) - at(scale.min)) / span, value => 7 * text(value).length).map(value => ({value}));
  };
  const ticks = {autoSkip: false, maxRotation: 0, callback: text}, title = {display: true, text: key};
  if (!numbers) return {type: 'linear', title, min: -0.2, max: values.length - 0.8, ticks, afterBuildTicks: atValues};
  if (values.length > MOST_VALUES_MARKED) return axis({title: key, format: formatNumber}, logarithmic);
  return {...axis({title: key, format: formatNumber}, logarithmic), ticks, afterBuildTicks: atValues};
}

function sweepConfig(view, state, hidden) {
  const column = DATA.columns.findIndex(one => one.path === state.metric);
  const {series, numbers, values} = sweepSeries(view, state.key, column, hidden);
  const format = formatOf(DATA.columns[column].unit), logX = numbers && (state.logX === null ? isGeometric(values) : state.logX);
  const datasets = series.filter(one => one.points.length).map(one => {
    const {color, dash, marker} = lineStyle(one.name, one.label);
    const data = one.points.filter(point => !state.logY || point.y > 0);
    return {label: one.name, data, borderColor: color, backgroundColor: color, borderDash: dash, borderWidth: 2, pointStyle: marker, pointRadius: 4, pointBorderWidth: 1.5, tension: 0,
      band: data.map(point => ({x: point.x, low: point.y - point.half, high: point.y + point.half})), bandColor: faded(toHex(color), 0.18)};
  });
  const where = value => (numbers ? formatNumber(value) : plain(values[value]));
  const scales = {x: sweepScale(state.key, numbers, values, logX), y: axis({title: DATA.columns[column].title, format}, state.logY)};
  return lineConfig(datasets, scales, {
    title: items => (items.length ? `${state.key} = ${where(items[0].parsed.x)}` : ''),
    label: item => `${item.dataset.label}: ${format(item.parsed.y)}${item.raw.half ? ` ± ${format(item.raw.half)}` : ''}`,
  }, {plugins: [BANDS, THRESHOLDS], options: {thresholds: {lines: thresholds(view.run, state.metric)}}});
}

function drawSweep(view, hidden) {
  const section = document.getElementById('sweep'), place = document.getElementById('sweep-chart');
  const keys = sweepKeys(view);
  const metrics = DATA.columns.filter((_, i) => DATA.cases.some(one => one.values[i] !== null));
  section.hidden = keys.length === 0 || metrics.length === 0;
  if (SWEEP.drawn) SWEEP.drawn.destroy();
  SWEEP.drawn = null;
  if (section.hidden) return;
  const state = SWEEP;
  if (!keys.includes(state.key)) state.key = keys[0];
  if (!metrics.some(one => one.path === state.metric)) state.metric = metrics[0].path;
  const set = (key, value) => {
    state[key] = value;
    keepingFocus(place, () => drawSweep(view, hidden));
  };
  const config = sweepConfig(view, state, hidden), logX = config.options.scales.x.type === 'logarithmic';
  const canvas = element('canvas', {role: 'img', tabindex: 0, 'aria-label': 'The number against the swept key; arrow keys go through its values'});
  const said = element('p', {class: 'only-said', 'aria-live': 'polite'});
  place.replaceChildren(element('div', {class: 'controls'},
    selectBox('y:', metrics.map(one => [one.path, one.title]), state.metric, value => set('metric', value)),
    selectBox('against', keys.map(key => [key, key]), state.key, value => set('key', value)),
    checkBox('log x', logX, value => set('logX', value)), checkBox('log y', state.logY, value => set('logY', value))),
  element('div', {class: 'canvas'}, canvas), said, lineKey(config.data.datasets.map(one => ({name: one.label, color: one.borderColor, dash: one.borderDash, marker: one.pointStyle})), config.data.datasets),
  element('figcaption', {}, `The other swept keys as at the chosen point${view.label ? ` (${view.label})` : ''}. Means over seeds with their 95 % t interval. `
    + 'Dashed: the bound of a claim about this number.'));
  SWEEP.drawn = new Chart(canvas, config);
  followKeys(canvas, SWEEP.drawn, said);
}
