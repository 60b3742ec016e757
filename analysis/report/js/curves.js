// Curves of loss and weight spread: a line a case, and over several seeds their mean with its interval.
'use strict';

const AXES = {
  step: {title: 'inner steps', format: formatNumber},
  time_s: {title: 'simulated time', format: formatDuration},
  bytes: {title: 'payload sent per replica', format: formatBytes},
  loss: {title: 'validation loss, nats', format: formatNumber},
  of_mean: {title: 'loss of the averaged weights, nats', format: formatNumber},
  spread: {title: 'weight spread', format: formatNumber},
};

// Marks at 1, 2 and 5 · 10^n of a logarithmic axis; others would run into each other.
const isRoundDecimal = value => [1, 2, 5].includes(Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toPrecision(6)));

// Times are read in minutes and hours, so the marks of a linear axis must not be at 1000 s.
function clockTicks(scale) {
  const step = tickStep(scale.max - scale.min || 1, scale.isHorizontal() && innerWidth < 600 ? 3 : 6);
  scale.ticks = [];
  for (let mark = Math.ceil(scale.min / step - 1e-9); mark * step <= scale.max * (1 + 1e-9); ++mark) scale.ticks.push({value: mark * step});
}

// As many digits as tell the marks apart: losses from 5.5461 to 5.5464 are not all 5.546.
function markText(about, value, marks) {
  const step = marks && marks.length > 1 ? Math.abs(marks[1].value - marks[0].value) : 0;
  if (about.format !== formatNumber || step === 0 || step >= Math.abs(value) * 1e-3 || Math.abs(value) >= 1e6) return about.format(value);
  return value.toFixed(Math.min(12, Math.max(0, Math.ceil(-Math.log10(step)))));
}

function axis(about, logarithmic, extra = {}) {
  return {
    type: logarithmic ? 'logarithmic' : 'linear',
    title: {display: true, text: about.title},
    ticks: {callback: (value, _, marks) => (!logarithmic ? markText(about, value, marks) : isRoundDecimal(value) ? about.format(value) : null), maxTicksLimit: 7, maxRotation: 0},
    ...(about.format === formatDuration && !logarithmic ? {afterBuildTicks: clockTicks} : {}),
    ...extra,
  };
}

// The 95 % t interval of a mean of some values; t from the table that comes with the data.
function halfWidth(values) {
  const n = values.length;
  if (n < 2) return 0;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
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
  if (!mean) return seeds;
  const band = mean.filter(visible).map(point => ({x: point.x, low: point.y - point.half, high: point.y + point.half}));
  return [...seeds, dataset(mean, {borderWidth: 2.5, hoverLabel: 'mean of the seeds', band, bandColor: faded(toHex(series.color), 0.18)})];
}

// state: {x, y, logX, logY}
function curveConfig(all, state) {
  const datasets = all.flatMap(series => curveDatasets(series, state.x, state.y, state.logX, state.logY));
  const xAxis = AXES[state.x], format = AXES[state.y].format;
  const interval = point => (point.half ? ` ± ${format(point.half)}` : '');
  return {
    type: 'line',
    data: {datasets},
    plugins: [BANDS, TARGETS],
    options: {
      parsing: false,
      normalized: false,
      interaction: {mode: 'nearest', axis: 'x', intersect: false},  // all methods that were evaluated there
      scales: {x: axis(xAxis, state.logX), y: axis(AXES[state.y], state.logY, state.y === 'spread' && !state.logY ? {min: 0} : {})},
      plugins: {targets: targetOf(all, state), tooltip: {callbacks: {
        title: items => (items.length ? `${xAxis.title}: ${xAxis.format(items[0].parsed.x)}` : ''),
        label: item => `${item.dataset.label}${item.dataset.hoverLabel ? ` (${item.dataset.hoverLabel})` : ''}: ${format(item.parsed.y)}${interval(item.raw)}`,
      }}},
    },
  };
}

const hasCurve = (all, {x, y}) =>
  all.some(series => series.cases.some(one => one.curve && one.curve[y].some((value, i) => value !== null && one.curve[x][i] !== null)));
