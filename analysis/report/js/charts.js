// The charts that Chart.js draws: curves, and bars.
'use strict';

const AXES = {
  step: {title: 'inner steps', format: formatNumber},
  time_s: {title: 'simulated time', format: formatDuration},
  bytes: {title: 'payload sent per replica', format: formatBytes},
  loss: {title: 'validation loss, nats', format: formatNumber},
  of_mean: {title: 'loss of the averaged weights, nats', format: formatNumber},
  spread: {title: 'weight spread', format: formatNumber},
};

function themeCharts() {
  Chart.defaults.color = cssColor('--quiet');
  Chart.defaults.borderColor = cssColor('--grid');
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.plugins.legend.display = false;  // the boxes above the charts are the legend, for all of them
}

function axis(about, logarithmic, extra = {}) {
  return {
    type: logarithmic ? 'logarithmic' : 'linear',
    title: {display: true, text: about.title},
    ticks: {callback: value => about.format(value), maxTicksLimit: 7, maxRotation: 0},
    ...extra,
  };
}

// Times are read in minutes and hours, so the marks of a linear axis must not be at 1000 s.
function clockTicks(about, logarithmic, datasets) {
  if (about !== AXES.time_s || logarithmic) return {};
  const latest = Math.max(0, ...datasets.flatMap(dataset => dataset.data.map(point => point.x)));
  return latest > 0 ? {ticks: {callback: value => about.format(value), maxRotation: 0, stepSize: tickStep(latest, innerWidth < 600 ? 3 : 6)}} : {};
}

function curveDatasets(series, x, y, logX, logY) {
  const visible = point => point.y !== null && point.x !== null && (!logX || point.x > 0) && (!logY || point.y > 0);
  const dataset = (points, style) => ({
    label: series.name, data: points.filter(visible), borderColor: series.color, backgroundColor: series.color,
    borderDash: series.dash, pointRadius: 0, pointHoverRadius: 4, tension: 0, ...style,
  });
  const curves = series.cases.map(one => one.curve).filter(Boolean);
  if (curves.length === 0) return [];
  if (curves.length === 1)
    return [dataset(curvePoints(curves[0], x, y), {borderWidth: 2, pointRadius: curves[0].step.length > 25 ? 0 : 2})];
  const mean = meanCurve(curves, x, y);
  const thin = {borderWidth: 1, borderColor: faded(toHex(series.color), mean ? 0.4 : 0.9), hoverLabel: 'one seed'};
  const seeds = curves.map(curve => dataset(curvePoints(curve, x, y), thin));
  return mean ? [...seeds, dataset(mean, {borderWidth: 2.5, hoverLabel: 'mean of the seeds'})] : seeds;
}

const toHex = color => (color.startsWith('#') && color.length === 7 ? color : '#808080');

// state: {x, y, logX, logY}
function curveConfig(all, state) {
  const datasets = all.flatMap(series => curveDatasets(series, state.x, state.y, state.logX, state.logY));
  const xAxis = AXES[state.x];
  return {
    type: 'line',
    data: {datasets},
    options: {
      parsing: false,
      normalized: false,
      interaction: {mode: 'nearest', axis: 'x', intersect: false},  // all methods that were evaluated there
      scales: {x: axis(xAxis, state.logX, clockTicks(xAxis, state.logX, datasets)), y: axis(AXES[state.y], state.logY, state.y === 'spread' && !state.logY ? {min: 0} : {})},
      plugins: {tooltip: {callbacks: {
        title: items => (items.length ? `${AXES[state.x].title}: ${AXES[state.x].format(items[0].parsed.x)}` : ''),
        label: item => `${item.dataset.label}${item.dataset.hoverLabel ? ` (${item.dataset.hoverLabel})` : ''}: ${AXES[state.y].format(item.parsed.y)}`,
      }}},
    },
  };
}

function barConfig(all, bars, scale, format) {
  return {
    type: 'bar',
    data: {
      labels: all.map(series => series.name),
      datasets: bars.map(bar => ({
        label: bar.label, data: all.map(bar.value), backgroundColor: all.map(bar.fill), borderColor: all.map(bar.edge),
        borderWidth: 1, maxBarThickness: 26, stack: bar.stack,
      })),
    },
    options: {
      indexAxis: 'y',
      interaction: {mode: 'index', axis: 'y', intersect: false},
      scales: {x: scale, y: {grid: {display: false}, stacked: bars.some(bar => bar.stack)}},
      plugins: {tooltip: {callbacks: {
        label: item => `${item.dataset.label}: ${item.raw === null ? '–' : format(item.raw)}`,
      }}},
    },
  };
}

const solid = series => series.color;
const light = series => faded(toHex(series.color), 0.35);
const waiting = () => hatched(cssColor('--wait'));

// state: {logX}
function syncConfig(all, state) {
  const value = path => series => {
    const number = seriesNumber(series, path);
    return state.logX && number === 0 ? null : number;
  };
  const bars = [
    {label: 'synchronization, mean', value: value('sync_time_s.mean'), fill: solid, edge: solid},
    {label: 'synchronization, 95th percentile', value: value('sync_time_s.p95'), fill: light, edge: solid},
    {label: 'wait, mean', value: value('wait_s.mean'), fill: waiting, edge: () => cssColor('--wait')},
  ];
  return barConfig(all, bars, axis({title: 'time per exchange and replica', format: formatDuration}, state.logX,
    state.logX ? {} : {beginAtZero: true}), formatDuration);
}

function sharesConfig(all) {
  const parts = series => ['compute_time_s', 'exchange_time_s', 'wait_time_s'].map(path => seriesNumber(series, path) || 0);
  const share = index => series => {
    const values = parts(series), total = values.reduce((sum, value) => sum + value, 0);
    return total > 0 ? values[index] / total : null;
  };
  const bars = [
    {label: 'compute', value: share(0), fill: light, edge: light, stack: 'time'},
    {label: 'exchange', value: share(1), fill: solid, edge: solid, stack: 'time'},
    {label: 'wait', value: share(2), fill: waiting, edge: () => cssColor('--wait'), stack: 'time'},
  ];
  const scale = axis({title: 'share of a replica\'s time', format: value => `${Math.round(100 * value)} %`}, false,
    {min: 0, max: 1, stacked: true});
  return barConfig(all, bars, scale, formatPercent);
}

// Each: what it is called, whether the chosen series have anything for it, its state and controls.
const CHARTS = [
  {
    id: 'loss-steps', title: 'Validation loss against steps', config: curveConfig, needs: 'curve',
    state: {x: 'step', y: 'loss', logX: false, logY: false}, y: [['loss', 'mean over replicas'], ['of_mean', 'averaged weights']],
    caption: 'Steps of each replica. At an outer step the loss is measured before and after it, hence the jumps.',
  },
  {
    id: 'loss-time', title: 'Validation loss against simulated time', config: curveConfig, needs: 'curve',
    state: {x: 'time_s', y: 'loss', logX: false, logY: false},
    x: [['time_s', 'simulated time'], ['bytes', 'bytes sent'], ['step', 'steps']],
    y: [['loss', 'mean over replicas'], ['of_mean', 'averaged weights']],
    caption: 'Compute, exchanges and waiting of the replayed network; the clock of the slowest replica.',
  },
  {
    id: 'sync', title: 'Synchronization and wait per exchange', config: syncConfig, needs: 'sync', state: {logX: false}, logX: true,
    key: [['neutral', 'synchronization, mean'], ['light', 'synchronization, 95th percentile'], ['hatched', 'wait for the slowest, mean']],
  },
  {
    id: 'shares', title: 'Where the time of a replica goes', config: sharesConfig, needs: 'shares', state: {},
    key: [['light', 'compute'], ['neutral', 'exchange'], ['hatched', 'wait']],
  },
  {
    id: 'spread', title: 'Weight spread against steps', config: curveConfig, needs: 'curve',
    state: {x: 'step', y: 'spread', logX: false, logY: false},
    caption: 'Root mean square distance of the replicas\' weights from their mean. A logarithmic axis leaves out zeros.',
  },
];

function hasData(chart, all) {
  const {x, y} = chart.state;
  if (chart.needs === 'curve')
    return all.some(series => series.cases.some(one => one.curve && one.curve[y].some((value, i) => value !== null && one.curve[x][i] !== null)));
  if (chart.needs === 'sync') return all.some(series => seriesNumber(series, 'sync_time_s.mean') !== null);
  return all.some(series => seriesNumber(series, 'compute_time_s') !== null);
}

function chartControls(chart, redraw) {
  const set = (key, value) => {
    chart.state[key] = value;
    redraw();
  };
  const controls = [];
  if (chart.x) controls.push(selectBox('x:', chart.x, chart.state.x, value => set('x', value)));
  if (chart.y) controls.push(selectBox('loss:', chart.y, chart.state.y, value => set('y', value)));
  if (chart.needs === 'curve' || chart.logX) controls.push(checkBox('log x', false, value => set('logX', value)));
  if (chart.needs === 'curve') controls.push(checkBox('log y', false, value => set('logY', value)));
  return element('div', {class: 'controls'}, ...controls);
}

// Makes the figure of a chart once; chart.draw(series) fills it.
function chartFigure(chart) {
  const canvas = element('canvas', {role: 'img', 'aria-label': `${chart.title}; the numbers are in the table of results`});
  const figure = element('figure', {id: `chart-${chart.id}`}, element('h3', {}, chart.title));
  figure.append(chartControls(chart, () => chart.draw(chart.series)), element('div', {class: 'canvas'}, canvas));
  if (chart.key)
    figure.append(element('div', {class: 'key'}, ...chart.key.map(([kind, text]) =>
      element('span', {}, element('span', {class: `swatch ${kind}`}), text))));
  if (chart.caption) figure.append(element('figcaption', {}, chart.caption));
  chart.draw = series => {
    chart.series = series;
    figure.hidden = !hasData(chart, series);
    if (chart.drawn) chart.drawn.destroy();
    chart.drawn = figure.hidden ? null : new Chart(canvas, chart.config(series, chart.state));
  };
  return figure;
}
