// The charts of the page: what each is called, when it has anything to show, and its controls.
'use strict';

function themeCharts() {
  Chart.defaults.color = cssColor('--quiet');
  Chart.defaults.borderColor = cssColor('--grid');
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.plugins.legend.display = false;  // the page has keys of its own (legend.js)
}

const X_CHOICES = [['time_s', 'simulated time'], ['step', 'steps'], ['bytes', 'bytes sent']];
const LOSSES = [['loss', 'mean over replicas'], ['of_mean', 'averaged weights']];
const LOGS = [['logX', 'log x'], ['logY', 'log y']];
// Only what some curve has: a training that is not replayed yet has steps and no times.
const xChoices = all => X_CHOICES.filter(([x]) => hasCurve(all, {x, y: 'loss'}));
const lossChoices = all => LOSSES.filter(([y]) => hasCurve(all, {x: 'step', y}));
const against = what => state => `${what} against ${X_CHOICES.find(([key]) => key === state.x)[1]}`;
// logX null: logarithmic where the lines end far apart.
const curveState = (x, y) => ({x, y, logX: null, logY: false});

// title: a text or a function of the state; selects: [key of the state, label, choices or a function of the series].
const CHARTS = [
  {
    id: 'loss-time', title: against('Validation loss'), config: curveConfig, has: all => hasCurve(all, {x: 'time_s', y: 'loss'}), state: curveState('time_s', 'loss'),
    selects: [['x', 'x:', xChoices], ['y', 'loss:', lossChoices]], toggles: LOGS,
    caption: 'Simulated time: compute, exchanges and waiting of the replayed network, the clock of the slowest replica. Bands: 95 % t interval of the mean over seeds.',
  },
  {
    id: 'loss-steps', title: against('Validation loss'), config: curveConfig, has: all => hasCurve(all, {x: 'step', y: 'loss'}), state: curveState('step', 'loss'),
    selects: [['x', 'x:', xChoices], ['y', 'loss:', lossChoices]], toggles: LOGS,
    caption: 'Steps of each replica. At an outer step the loss is measured before and after it, hence the jumps.',
  },
  {
    id: 'sync', title: 'Synchronization and wait per exchange', config: syncConfig, state: {logX: false}, toggles: [['logX', 'log x']],
    has: all => all.some(series => seriesNumber(series, 'sync_time_s.mean') !== null),
    key: [['neutral', 'synchronization, mean'], ['light', 'synchronization, 95th percentile'], ['hatched', 'wait for the slowest, mean']],
  },
  {
    id: 'distribution', title: 'How long synchronizations took', config: distributionConfig, state: {logX: true}, toggles: [['logX', 'log x']],
    has: all => all.some(series => series.cases.some(one => one.sync)),
    caption: 'The share of synchronizations that took at most so long, over outer steps and replicas. A vertical line: all took equally long.',
  },
  {
    id: 'breakdown', title: 'Where a synchronization spends its time', config: breakdownConfig, state: {}, has: all => partsOf(all).length > 0,
    key: all => partsOf(all).map((part, _, parts) => [part === 'waiting' ? 'hatched' : partFill(part, parts), PARTS[part] || part]),
    caption: 'Means, which add up to the mean synchronization time.',
  },
  {
    id: 'shares', title: 'Where the time of a replica goes', config: sharesConfig, state: {},
    has: all => all.some(series => seriesNumber(series, 'compute_time_s') !== null),
    key: timeKey,
  },
  {
    id: 'replicas', title: 'Compute, exchange and wait of each replica', config: replicasConfig, state: {method: null},
    selects: [['method', 'method:', all => withReplicas(all).map(series => [series.name, series.name])]],
    has: all => withReplicas(all).length > 0,
    key: timeKey,
    caption: all => {
      const [first] = withReplicas(all);
      const {replicas, shown} = first.cases.find(one => one.replicas).replicas;
      const what = hasStages(all) ? 'workers (stage s of replica r is worker r · stages + s, before any moves)' : 'replicas';
      return (addedPartsOf(all).length > 0 ? 'Idle time is all but compute; the parts add up to the clock.' : 'Idle time is exchange and wait; the three add up to the clock.')
        + (shown.length < replicas ? ` ${shown.length} of ${replicas} ${what}, at evenly spaced ranks of idle time.` : '');
    },
  },
  {
    id: 'spread', title: against('Weight spread'), config: curveConfig, has: all => hasCurve(all, {x: 'step', y: 'spread'}), state: curveState('step', 'spread'),
    selects: [['x', 'x:', xChoices]], toggles: LOGS,
    caption: 'Root mean square distance of the replicas\' weights from their mean. A logarithmic axis leaves out zeros.',
  },
];

const resolved = (what, ...given) => (typeof what === 'function' ? what(...given) : what);

// With what was not chosen decided by what is drawn.
const stateOf = ({state}, series) => (state.logX === null ? {...state, logX: endFarApart(series, state.x)} : state);

function chartControls(chart, state) {
  const set = (key, value) => {
    chart.state[key] = value;
    keepingFocus(chart.figure, () => chart.draw(chart.series));
  };
  const selects = (chart.selects || []).map(([key, label, choices]) =>
    selectBox(label, resolved(choices, chart.series), state[key], value => set(key, value)));
  const toggles = (chart.toggles || []).map(([key, label]) => checkBox(label, state[key], value => set(key, value)));
  return element('div', {class: 'controls'}, ...selects, ...toggles);
}

// `kind`: a class of swatches, or the fill of a bar.
function keySwatch(kind) {
  const made = element('span', {class: `swatch ${typeof kind === 'string' ? kind : ''}`});
  if (kind.fill) made.style.background = kind.fill;
  return made;
}

function drawChart(chart, series) {
  chart.series = series;
  chart.figure.hidden = !chart.has(series);
  if (chart.drawn) chart.drawn.destroy();
  chart.drawn = null;
  if (chart.figure.hidden) return;
  const state = stateOf(chart, series), title = resolved(chart.title, state);
  const canvas = element('canvas', {role: 'img', tabindex: 0,
    'aria-label': `${title}; arrow keys go through its values, and the numbers are in the table of results`});
  const said = element('p', {class: 'only-said', 'aria-live': 'polite'});
  const parts = [element('h3', {}, title), chartControls(chart, state), element('div', {class: 'canvas'}, canvas), said];
  if (chart.key)
    parts.push(element('div', {class: 'key'}, ...resolved(chart.key, series).map(([kind, text]) => element('span', {}, keySwatch(kind), text))));
  const config = chart.config(series, state);
  if (config.type === 'line') parts.push(lineKey(series, config.data.datasets));
  if (chart.caption) parts.push(element('figcaption', {}, resolved(chart.caption, series)));
  chart.figure.replaceChildren(...parts);
  chart.drawn = new Chart(canvas, config);
  followKeys(canvas, chart.drawn, said);
}

// Makes the figure of a chart once; chart.draw(series) fills it.
function chartFigure(chart) {
  chart.figure = element('figure', {id: `chart-${chart.id}`});
  chart.draw = series => drawChart(chart, series);
  return chart.figure;
}
