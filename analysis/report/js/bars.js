// Where time goes: synchronization and wait, shares of a replica's time, the same for each replica, the parts of a
// synchronization, and how long synchronizations took.
'use strict';

function barConfig(labels, bars, scale, format, vertical = false) {
  const category = {grid: {display: false}, stacked: bars.some(bar => bar.stack), ticks: {autoSkip: vertical, maxRotation: 0}};
  return {
    type: 'bar',
    data: {
      labels,
      datasets: bars.map(bar => ({
        label: bar.label, data: bar.data, backgroundColor: bar.fill, borderColor: bar.edge,
        borderWidth: 1, maxBarThickness: 26, stack: bar.stack,
      })),
    },
    options: {
      indexAxis: vertical ? 'x' : 'y',
      interaction: {mode: 'index', axis: vertical ? 'x' : 'y', intersect: false},
      scales: vertical ? {x: category, y: scale} : {x: scale, y: category},
      plugins: {tooltip: {callbacks: {
        label: item => `${item.dataset.label}: ${item.raw === null ? '–' : format(item.raw)}`,
      }}},
    },
  };
}

const names = all => all.map(series => series.name);
const colors = all => all.map(series => series.color);
const lightColors = all => all.map(series => faded(toHex(series.color), 0.35));
const waiting = () => ({fill: hatched(cssColor('--wait')), edge: cssColor('--wait')});

// state: {logX}
function syncConfig(all, state) {
  const values = path => all.map(series => {
    const number = seriesNumber(series, path);
    return state.logX && number === 0 ? null : number;
  });
  const bars = [
    {label: 'synchronization, mean', data: values('sync_time_s.mean'), fill: colors(all), edge: colors(all)},
    {label: 'synchronization, 95th percentile', data: values('sync_time_s.p95'), fill: lightColors(all), edge: colors(all)},
    {label: 'wait, mean', data: values('wait_s.mean'), ...waiting()},
  ];
  const scale = axis({title: 'time per exchange and replica', format: formatDuration}, state.logX, state.logX ? {} : {beginAtZero: true});
  return barConfig(names(all), bars, scale, formatDuration);
}

const TIME_PARTS = ['compute', 'bubble', 'stage_wait', 'inside_wait', 'batch_wait', 'exchange', 'wait'];
// What stages and collectives inside a step add: no part has the colour of a method.
const bubble = () => ({fill: faded(toHex(cssColor('--text')), 0.12), edge: cssColor('--quiet')});
const stageWait = () => ({fill: faded(toHex(cssColor('--text')), 0.55), edge: cssColor('--quiet')});
const ADDED_PARTS = {bubble: ['bubble', bubble], stage_wait: ['wait for a stage\'s message', stageWait], inside_wait: ['wait inside a step', stageWait],
  batch_wait: ['wait for samples', bubble]};
const addedParts = has => Object.keys(ADDED_PARTS).filter(has);
const addedPartsOf = all => addedParts(part => all.some(series => seriesNumber(series, `${part}_time_s`) !== null));
const hasStages = all => addedPartsOf(all).includes('bubble');
const timeKey = all => [['light', 'compute'], ...addedPartsOf(all).map(part => [ADDED_PARTS[part][1](), ADDED_PARTS[part][0]]),
  ['neutral', 'exchange'], ['hatched', 'wait']];

// The parts of a time on top of each other. values: the list of a part; color: of exchanges, light: of compute.
function timeBars(values, color, light, added) {
  const bar = (part, label, look) => ({label, data: values(part), ...look, stack: 'time'}), plain = fill => ({fill, edge: fill});
  return [
    bar('compute', 'compute', plain(light)),
    ...added.map(part => bar(part, ADDED_PARTS[part][0], ADDED_PARTS[part][1]())),
    bar('exchange', 'exchange', plain(color)),
    bar('wait', 'wait', waiting()),
  ];
}

function sharesConfig(all) {
  const share = part => all.map(series => {
    const seconds = one => seriesNumber(series, `${one}_time_s`) || 0, total = TIME_PARTS.reduce((sum, one) => sum + seconds(one), 0);
    return total > 0 ? seconds(part) / total : null;
  });
  const bars = timeBars(share, colors(all), lightColors(all), addedPartsOf(all));
  const scale = axis({title: 'share of a replica\'s time, mean over replicas', format: value => `${Math.round(100 * value)} %`}, false,
    {min: 0, max: 1, stacked: true});
  return barConfig(names(all), bars, scale, formatPercent);
}

const withReplicas = all => all.filter(series => series.cases.some(one => one.replicas));

// The replicas of one site beside each other.
function bySite(replicas, siteOf) {
  const order = replicas.shown.map((replica, i) => ({site: siteOf(replica), i}));
  const first = new Map();
  for (const {site} of order) if (!first.has(site)) first.set(site, first.size);
  order.sort((a, b) => first.get(a.site) - first.get(b.site) || a.i - b.i);
  return Object.fromEntries(Object.entries(replicas).map(([key, list]) => [key, Array.isArray(list) ? order.map(({i}) => list[i]) : list]));
}

// Writes the site under each block of bars of one site, shortened to the block's width, and a line between blocks.
const SITE_NAMES = {
  id: 'siteNames',
  afterDraw(chart, _, {names: sites}) {
    if (!sites || !sites.some(Boolean)) return;
    const {ctx, chartArea, scales: {x}} = chart, half = (x.getPixelForValue(1) - x.getPixelForValue(0)) / 2 || chartArea.width / 2;
    ctx.save();
    ctx.fillStyle = ctx.strokeStyle = cssColor('--quiet');
    ctx.font = `11px ${Chart.defaults.font.family}`;
    ctx.textAlign = 'center';
    for (let from = 0, to; from < sites.length; from = to) {
      for (to = from; to < sites.length && sites[to] === sites[from];) ++to;
      const left = x.getPixelForValue(from) - half, right = x.getPixelForValue(to - 1) + half;
      let text = sites[from];
      while (text.length > 1 && ctx.measureText(text).width > right - left - 4) text = `${text.replace(/…$/, '').slice(0, -1)}…`;
      if (text.length > 2) ctx.fillText(text, (left + right) / 2, chart.height - 5);
      if (from > 0) ctx.fillRect(left - 0.5, x.bottom, 1, chart.height - x.bottom);
    }
    ctx.restore();
  },
};

// state: {method}
function replicasConfig(all, state) {
  const candidates = withReplicas(all);
  const series = candidates.find(one => one.name === state.method) || candidates[0];
  const chosen = series.cases.find(one => one.replicas), siteOf = chosen.replicas.bubble ? () => '' : siteOfReplica(chosen), replicas = bySite(chosen.replicas, siteOf);
  const bars = timeBars(part => replicas[part], series.color, faded(toHex(series.color), 0.35), addedParts(part => replicas[part]));
  const scale = axis({title: 'time', format: formatDuration}, false, {beginAtZero: true, stacked: true});
  const config = barConfig(replicas.shown.map(replica => `${replicas.bubble ? 'w' : 'r'}${replica}`), bars, scale, formatDuration, true);
  config.plugins = [SITE_NAMES];
  config.options.plugins.siteNames = {names: replicas.shown.map(siteOf)};
  config.options.plugins.tooltip.callbacks.title = items => (items.length ? `replica ${replicas.shown[items[0].dataIndex]}${siteOf(replicas.shown[items[0].dataIndex]) ? `, ${siteOf(replicas.shown[items[0].dataIndex])}` : ''}` : '');
  if (replicas.shown.some(siteOf)) config.options.layout = {padding: {bottom: 18}};
  return config;
}

// The parts of a synchronization in the order in which they are drawn; a part that is not here comes last.
const PARTS = {bytes: 'bytes', latency: 'latency', startup: 'start-up', sharing: 'sharing', congestion: 'congestion', message: 'message times',
  waiting: 'waiting inside the exchange', rest: 'rest'};

// Those that took any time with some method.
function partsOf(all) {
  const found = new Set(all.flatMap(series => series.cases.flatMap(one => Object.entries(one.breakdown || {}).filter(([, seconds]) => seconds > 0).map(([part]) => part))));
  const known = Object.keys(PARTS).filter(part => found.has(part));
  return [...known, ...[...found].filter(part => !(part in PARTS))];
}

// Greys from dark to light, so that no part has the colour of a method; what waits is hatched as everywhere.
function partFill(part, parts) {
  if (part === 'waiting') return waiting();
  const grey = parts.filter(other => other !== 'waiting');
  const fill = faded(toHex(cssColor('--text')), 0.9 - 0.8 * grey.indexOf(part) / Math.max(1, grey.length - 1));
  return {fill, edge: cssColor('--quiet')};
}

function breakdownConfig(all) {
  const parts = partsOf(all), shown = all.filter(series => series.cases.some(one => one.breakdown));
  const value = (series, part) =>
    mean(series.cases.map(one => one.breakdown).filter(Boolean).map(one => one[part] || 0));
  const bars = parts.map(part => ({label: PARTS[part] || part, data: shown.map(series => value(series, part)), ...partFill(part, parts), stack: 'sync'}));
  const scale = axis({title: 'time per exchange and replica, mean', format: formatDuration}, false, {beginAtZero: true, stacked: true});
  return barConfig(names(shown), bars, scale, formatDuration);
}

// A line a case: the share of all synchronizations that took at most so long. state: {logX}
function distributionConfig(all, state) {
  const points = quantiles => (quantiles.length === 1 ? [{x: quantiles[0], y: 0}, {x: quantiles[0], y: 1}]
    : quantiles.map((value, i) => ({x: value, y: DATA.levels[i]}))).filter(point => !state.logX || point.x > 0);
  const datasets = all.flatMap(series => series.cases.filter(one => one.sync).map(one => ({
    label: series.name, data: points(one.sync), borderColor: series.color, backgroundColor: series.color, borderDash: series.dash,
    borderWidth: series.cases.length > 1 ? 1.25 : 2, ...markers(series, points(one.sync).length), tension: 0, hoverLabel: series.cases.length > 1 ? `seed ${one.seed}` : '',
  })));
  const scale = axis({title: 'synchronization time', format: formatDuration}, state.logX, state.logX ? {} : {beginAtZero: true});
  const shares = axis({title: 'share of synchronizations', format: value => `${Math.round(100 * value)} %`}, false, {min: 0, max: 1});
  return lineConfig(datasets, {x: scale, y: shares}, {
    title: () => '',
    label: item => `${item.dataset.label}${item.dataset.hoverLabel ? ` (${item.dataset.hoverLabel})` : ''}: ${Math.round(100 * item.parsed.y)} % took at most ${formatDuration(item.parsed.x)}`,
  }, {along: 'xy'});
}
