// Curves of loss and weight spread: a line a case, and over several seeds their mean with its interval.
'use strict';

const AXES = {
  step: {title: 'inner steps', format: formatNumber},
  time_s: {title: 'simulated time', format: formatDuration},
  bytes: {title: 'payload sent per replica', format: formatBytes},
  loss: {title: 'validation loss, nats a token', format: formatNumber, isLoss: true},
  of_mean: {title: 'loss of the averaged weights, nats a token', format: formatNumber, isLoss: true},
  spread: {title: 'weight spread', format: formatNumber},
};

// The 95 % t interval of a mean of some values; t from the table that comes with the data.
function halfWidth(values) {
  const n = values.length;
  if (n < 2) return 0;
  const middle = mean(values), variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (n - 1);
  return DATA.t95[Math.min(n - 2, DATA.t95.length - 1)] * Math.sqrt(variance / n);
}

// Fills `dataset.band` ([{x, low, high}]) behind the lines. It does not move the axes: with two seeds the interval of a
// mean is a dozen times as wide as their difference.
const BANDS = {
  id: 'bands',
  beforeDatasetsDraw(chart) {
    const {ctx, chartArea, scales} = chart;
    const y = value => (scales.y.type === 'logarithmic' && value <= 0 ? chartArea.bottom : scales.y.getPixelForValue(value));
    ctx.save();
    ctx.beginPath();
    ctx.rect(chartArea.left, chartArea.top, chartArea.width, chartArea.height);
    ctx.clip();
    for (const {band, bandColor} of chart.data.datasets) {
      if (!band || band.length < 2) continue;
      ctx.beginPath();
      band.forEach((point, i) => ctx[i ? 'lineTo' : 'moveTo'](scales.x.getPixelForValue(point.x), y(point.high)));
      [...band].reverse().forEach(point => ctx.lineTo(scales.x.getPixelForValue(point.x), y(point.low)));
      ctx.closePath();
      ctx.fillStyle = bandColor;
      ctx.fill();
    }
    ctx.restore();
  },
};

// About eight markers on a line of so many points, at other places on each line.
function markers(series, count) {
  const every = Math.max(1, Math.round(count / 8)), first = Math.floor(every * (series.place % 4) / 4);
  return {pointStyle: series.marker, pointRadius: Array.from({length: count}, (_, i) => (i % every === first ? 3.5 : 0)), pointHoverRadius: 4, pointBorderWidth: 1.5};
}

function curveDatasets(series, x, y, logX, logY) {
  const visible = point => point.y !== null && point.x !== null && (!logX || point.x > 0) && (!logY || point.y > 0);
  const dataset = (points, style) => ({
    label: series.name, data: points.filter(visible), borderColor: series.color, backgroundColor: series.color,
    borderDash: series.dash, ...markers(series, points.filter(visible).length), tension: 0, ...style,
  });
  const curves = series.cases.map(one => one.curve).filter(Boolean);
  if (curves.length === 0) return [];
  if (curves.length === 1)
    return [dataset(curvePoints(curves[0], x, y), {borderWidth: 2})];
  const middle = meanCurve(curves, x, y);
  const thin = {borderWidth: 1, borderColor: faded(toHex(series.color), middle ? 0.4 : 0.9), pointRadius: 0, hoverLabel: 'one seed',
    ...(middle ? {borderDash: []} : {})};
  const seeds = curves.map(curve => dataset(curvePoints(curve, x, y), thin));
  if (!middle) return seeds;
  const band = middle.filter(visible).map(point => ({x: point.x, low: point.y - point.half, high: point.y + point.half}));
  return [...seeds, dataset(middle, {borderWidth: 2.5, hoverLabel: 'mean of the seeds', band, bandColor: faded(toHex(series.color), 0.18)})];
}

// Whether a line ends at ten times what another one ends at: on a linear axis the shorter ones share a tenth of it.
function endFarApart(series, x) {
  const ends = series.flatMap(one => one.cases).filter(one => one.curve)
    .map(one => Math.max(...one.curve[x].filter(value => value !== null))).filter(end => end > 0 && Number.isFinite(end));
  return ends.length > 1 && Math.max(...ends) >= 10 * Math.min(...ends) * (1 - 1e-9);
}

// Beside a loss in nats a token, where every token is a byte: the same in bits, at the other side of the chart.
function bitsAxis(logarithmic) {
  return {...axis({title: 'bits a byte', format: formatNumber}, logarithmic), position: 'right', grid: {drawOnChartArea: false},
    afterDataLimits: scale => {
      const {min, max} = scale.chart.scales.y;
      scale.min = min / Math.LN2;
      scale.max = max / Math.LN2;
    },
    ...(logarithmic ? {} : {bounds: 'data', afterBuildTicks: scale => { scale.ticks = linearMarks(scale.min, scale.max, 5).map(value => ({value})); }})};
}

// A chart of lines; callbacks: of its tooltip, on what is nearest along an axis.
function lineConfig(datasets, scales, callbacks, {plugins = [], options = {}, along = 'x'}) {
  return {type: 'line', data: {datasets}, plugins,
    options: {parsing: false, interaction: {mode: 'nearest', axis: along, intersect: false}, scales, plugins: {...options, tooltip: {callbacks}}}};
}

// state: {x, y, logX, logY}
function curveConfig(all, state) {
  const datasets = all.flatMap(series => curveDatasets(series, state.x, state.y, state.logX, state.logY));
  const xAxis = AXES[state.x], format = AXES[state.y].format;
  const interval = point => (point.half ? ` ± ${format(point.half)}` : '');
  const inBits = AXES[state.y].isLoss && all.every(series => DATA.runs[series.run].byte_tokens);
  const bits = value => (inBits ? ` (${format(value / Math.LN2)} bits a byte)` : '');
  const scales = {x: axis(xAxis, state.logX), y: axis(AXES[state.y], state.logY, state.y === 'spread' && !state.logY ? {min: 0} : {}),
    ...(inBits ? {bits: bitsAxis(state.logY)} : {})};
  return lineConfig(datasets, scales, {
    title: items => (items.length ? `${xAxis.title}: ${xAxis.format(items[0].parsed.x)}` : ''),
    label: item => `${item.dataset.label}${item.dataset.hoverLabel ? ` (${item.dataset.hoverLabel})` : ''}: ${format(item.parsed.y)}${interval(item.raw)}${bits(item.parsed.y)}`,
  }, {plugins: [BANDS, THRESHOLDS, CROSSINGS], options: targetOf(all, state)});
}

const hasCurve = (all, {x, y}) =>
  all.some(series => series.cases.some(one => one.curve && one.curve[y].some((value, i) => value !== null && one.curve[x][i] !== null)));
