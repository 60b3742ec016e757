// What the charts draw: the cases of the chosen point of the sweep, gathered into series. A series is one method (and
// variant of it, and run); its cases are its seeds.
'use strict';

const DATA = JSON.parse(document.getElementById('data').textContent);

const MANY_RUNS = DATA.runs.length > 1;

// Variants and runs of one method share its colour. Dashes and markers tell all lines apart, without colour too.
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [14, 4]];
const MARKERS = ['circle', 'triangle', 'rect', 'rectRot', 'crossRot', 'star'];
const VARIANTS = [...new Set(DATA.cases.map(one => one.variant))];

// The look of a line, the same in every chart. `run`: its number where lines of several runs are in one picture.
function lineStyle(variant, label, run = 0) {
  const place = VARIANTS.indexOf(variant) + run * VARIANTS.length;
  return {color: methodColor(label), dash: DASHES[place % DASHES.length], marker: MARKERS[place % MARKERS.length], place};
}

const runName = index => {
  const run = DATA.runs[index];
  const twins = DATA.runs.filter(other => other.name === run.name).length > 1;
  return twins ? `${run.name} (${run.folder})` : run.name;
};

// The entries of the select box. Runs of a single point each can stand in one picture.
function chartViews() {
  const views = DATA.points.map((point, index) => {
    const parts = [MANY_RUNS ? runName(point.run) : '', point.label].filter(Boolean);
    return {label: parts.join(': ') || 'all cases', cases: point.cases, points: [index], run: point.run};
  });
  if (MANY_RUNS && DATA.points.length === DATA.runs.length)
    views.unshift({label: 'all runs together', cases: DATA.points.flatMap(point => point.cases),
      points: DATA.points.map((_, index) => index), run: null});
  return views;
}

const VIEWS = chartViews();
const CHOICE = {view: 0, hidden: {}};

function seriesOf(view) {
  const found = new Map();
  for (const index of view.cases) {
    const one = DATA.cases[index];
    const name = view.run === null ? `${one.variant}, ${runName(one.run)}` : one.variant;
    if (!found.has(name)) found.set(name, {name, label: one.label, run: one.run, cases: [], ...lineStyle(one.variant, one.label, view.run === null ? one.run : 0)});
    found.get(name).cases.push(one);
  }
  return [...found.values()];
}

// The name of the site at which a replica of a case stands; '' where there are no sites.
function siteOfReplica(one) {
  const network = DATA.networks[one.network];
  return replica => (network && network.sites[network.site_of[replica]]) || '';
}

// The mean of one number over the seeds of a series; null if no case has it.
function seriesNumber(series, path) {
  const values = series.cases.map(one => one.numbers[path]).filter(value => value !== null && value !== undefined);
  return values.length ? mean(values) : null;
}

const curvePoints = (curve, x, y) => curve[x].map((value, i) => ({x: value, y: curve[y][i]}));

// The mean curve of several seeds, with half of its 95 % interval; null unless they were evaluated at the same steps.
function meanCurve(curves, x, y) {
  const [first] = curves;
  const alike = curves.every(curve => curve.step.length === first.step.length
    && curve.step.every((step, i) => step === first.step[i]));
  if (!alike) return null;
  const average = (key, i) => (curves.some(curve => curve[key][i] === null) ? null : mean(curves.map(curve => curve[key][i])));
  return first.step.map((_, i) => ({x: average(x, i), y: average(y, i), half: halfWidth(curves.map(curve => curve[y][i]))}));
}
