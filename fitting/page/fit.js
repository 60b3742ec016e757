// The page of a fit: what was found, and the residuals as a picture and a table.
'use strict';

const fit = JSON.parse(document.getElementById('data').textContent);
const place = id => document.getElementById(id);
const isPredicted = fit.values.length === 0 && fit.choices.length === 0;  // nothing was fitted
// "+3.1 %", "−0.4 %", "0.0 %".
function percent(ratio) {
  const size = Math.abs(100 * (ratio - 1)).toFixed(1);
  return `${Number(size) === 0 ? '' : ratio >= 1 ? '+' : '−'}${size} %`;
}
const amount = (one, value) => (value === null ? '' : one.unit === 's' ? formatDuration(value) : digits(value, 4));

// Cells are texts; a column is {heading, words}.
function table(columns, rows) {
  return scrolling({role: false},
    element('table', {},
      element('thead', {}, element('tr', {}, ...columns.map(column =>
        element('th', {scope: 'col', class: column.words ? 'words' : false}, column.heading)))),
      element('tbody', {}, ...rows.map(row => element('tr', {}, ...row.map((text, i) =>
        element('td', {class: columns[i].words ? 'words' : false}, text)))))));
}

function fillValues() {
  place('notes').append(...fit.notes.map(text => element('li', {}, text)));
  if (isPredicted) {
    place('values-heading').textContent = 'Notes';
    place('values').hidden = fit.notes.length === 0;
    return;
  }
  const chosen = Object.entries(fit.choices.length > 0 ? fit.choices[0].values : {}).map(([path, value]) => [path, String(value), '', '']);
  const end = (words, isBounded) => (isBounded && words !== null ? words : 'not bounded');
  const numbers = fit.values.map(one => [one.path, one.words, end(one.low_words, one.is_bounded_below), end(one.high_words, one.is_bounded_above)]);
  place('values-table').append(table([{heading: 'Unknown', words: true}, {heading: 'Value'}, {heading: 'Low'}, {heading: 'High'}],
    [...chosen, ...numbers]));
  place('variance').textContent = `Intervals of ${(100 * fit.confidence).toFixed(0)} %, from ${fit.variance_in_words}` +
    (fit.deviation > 0 ? `: ${digits(100 * fit.deviation, 2)} % a time.` : '.');
}

function fillResiduals() {
  const role = one => (one.is_fitted ? 'fitted' : one.low === null ? 'predicted' :
    one.observed >= one.low && one.observed <= one.high ? 'predicted, inside' : 'predicted, outside');
  place('residuals-table').append(table(
    [{heading: 'What', words: true}, {heading: 'Times'}, {heading: 'Observed'}, {heading: 'Predicted'}, {heading: 'Off'}, {heading: 'From'},
      {heading: 'To'}, {heading: '', words: true}],
    fit.residuals.map(one => [one.what, String(one.count), amount(one, one.observed), amount(one, one.predicted),
      percent(one.predicted / one.observed), amount(one, one.low), amount(one, one.high), role(one)])));
}

function fillChoices() {
  if (fit.choices.length < 2) return;
  place('choices').hidden = false;
  place('choices-table').append(table([{heading: 'Values', words: true}, {heading: 'Left, %'}, {heading: '', words: true}],
    fit.choices.map((one, index) => [Object.entries(one.values).map(([path, value]) => `${path} ${value}`).join(', '),
      digits(100 * one.spread, 3), index === 0 ? 'taken' : one.is_possible ? 'fits nearly as well' : ''])));
}

// Vertical bars from the lowest to the highest prediction of each.
const ranges = {
  id: 'ranges',
  beforeDatasetsDraw(chart) {
    const {ctx, scales} = chart;
    ctx.save();
    ctx.lineWidth = 1.5;
    chart.data.datasets.forEach(set => set.data.forEach(point => {
      if (point.low === null) return;
      ctx.strokeStyle = faded(toHex(set.borderColor), 0.6);
      const x = scales.x.getPixelForValue(point.x);
      ctx.beginPath();
      ctx.moveTo(x, scales.y.getPixelForValue(point.low));
      ctx.lineTo(x, scales.y.getPixelForValue(point.high));
      ctx.stroke();
    }));
    ctx.restore();
  },
};

function draw() {
  const text = cssColor('--quiet'), grid = cssColor('--grid'), color = cssColor('--text');
  const ratio = (one, value) => (value === null ? null : value / one.observed);
  const points = fit.residuals.map((one, index) => ({x: index + 1, y: ratio(one, one.predicted), low: ratio(one, one.low),
    high: ratio(one, one.high), one}));
  const all = points.flatMap(point => [point.y, point.low ?? point.y, point.high ?? point.y, 1]);
  return new Chart(place('chart'), {
    type: 'scatter',
    data: {datasets: [{
      data: points, borderColor: color, borderWidth: 2, pointRadius: 5,
      backgroundColor: points.map(point => (point.one.is_fitted ? color : 'transparent')),
    }]},
    plugins: [ranges],
    options: {
      animation: false,
      maintainAspectRatio: false,
      scales: {
        x: {type: 'linear', min: 0, max: points.length + 1, grid: {display: false}, title: {display: true, text: 'row of the table', color: text},
          ticks: {color: text, stepSize: 1, precision: 0, callback: value => (value >= 1 && value <= points.length ? String(value) : '')}},
        y: {type: 'linear', suggestedMin: Math.min(...all), suggestedMax: Math.max(...all), grid: {color: grid},
          title: {display: true, text: 'predicted over observed', color: text}, ticks: {color: text, maxTicksLimit: 7}},
      },
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {label: item => [item.raw.one.what, percent(item.raw.y)]}},
      },
    },
  });
}

const product = isPredicted ? 'Longhaul: predicted beside observed' : 'Longhaul fit';
place('product').textContent = product;
document.title = `${fit.name} – ${product}`;
place('name').textContent = fit.name;
place('source').textContent = `${fit.scenario}, ${fit.observations} ${fit.observations === 1 ? 'observation' : 'observations'} of ${fit.observed}` +
  (fit.replays > 0 ? `, ${fit.replays} replays` : '');
fillValues();
fillResiduals();
fillChoices();
let chart = null;
function redraw() {
  if (chart) chart.destroy();
  chart = fit.residuals.length > 0 ? draw() : null;
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
matchMedia('print').addEventListener('change', redraw);  // colours of the paper
redraw();
