// The page of a plan: its sentence, the front as a picture, and the tables.
'use strict';

const plan = JSON.parse(document.getElementById('data').textContent);
const choice = plan.plans[0];
const methods = [...new Set(plan.plans.map(one => one.method))];
const place = id => document.getElementById(id);
const count = value => value.toLocaleString('en', {maximumSignificantDigits: 3});
const money = value => `${count(value)} ${plan.currency}`;
// Plans may differ in the third digit.
const duration = seconds => (seconds < 7200 ? formatDuration(seconds)
  : seconds < 172800 ? `${digits(seconds / 3600, 4)} h`
  : seconds < 63115200 ? `${digits(seconds / 86400, 4)} d` : formatDuration(seconds));
// About so many ticks in a span of time, at what a clock or a calendar has.
function timeStep(span, ticks) {
  const steps = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 432000, 864000];
  return steps.find(step => step >= span / ticks) || Math.ceil(span / ticks / 864000) * 864000;
}

// What takes three times as long as the choice would press all others together.
const drawn = plan.plans.filter(one => one.time_s <= 3 * choice.time_s);

// Cells are texts; a column is {heading, words}.
function table(columns, rows, classes = () => '') {
  const cell = (column, text) => element('td', {class: column.words ? 'words' : false}, text);
  return element('div', {class: 'scroll', tabindex: '0'},
    element('table', {},
      element('thead', {}, element('tr', {},
        ...columns.map(column => element('th', {scope: 'col', class: column.words ? 'words' : false}, column.heading)))),
      element('tbody', {}, ...rows.map((row, index) =>
        element('tr', {class: classes(index) || false}, ...row.map((text, i) => cell(columns[i], text)))))));
}

const costColumns = () => (plan.has_prices ? [{heading: 'Cost'}, {heading: 'Egress'}] : []);
const costCells = one => (plan.has_prices ? [money(one.cost), money(one.egress_cost)] : []);

function fillPlans() {
  // What a plan is stands beside its name, where no narrow page cuts it off.
  const columns = [{heading: 'Plan', words: true}, {heading: '', words: true}, {heading: 'Time'}, {heading: 'From'}, {heading: 'To'},
    {heading: 'Computes'}, ...costColumns(), {heading: 'Leaves sites'}, {heading: 'Accelerator hours'}];
  const state = (one, index) => (index === 0 ? 'taken' : one.is_on_front ? 'front' : one.left_out && 'left out');
  place('plans-table').append(table(columns, plan.plans.map((one, index) => [
    one.words, state(one, index), duration(one.time_s), duration(one.time_low_s), duration(one.time_high_s),
    formatPercent(one.utilization), ...costCells(one), formatBytes(one.bytes_leaving_sites), count(one.accelerator_hours)]), index => (plan.plans[index].is_on_front ? '' : 'aside')));
}

function fillInnerSteps() {
  if (plan.choice_by_inner_steps.length < 2) return;
  place('inner-steps').hidden = false;
  const columns = [{heading: 'H'}, {heading: 'Time'}, {heading: 'Computes'}, ...costColumns(), {heading: 'Leaves sites'}, {heading: '', words: true}];
  place('inner-steps-table').append(table(columns, plan.choice_by_inner_steps.map(one => [
    String(one.inner_steps), duration(one.time_s), formatPercent(one.utilization), ...costCells(one),
    formatBytes(one.bytes_leaving_sites), one.words === choice.words ? 'taken' : ''])));
}

function fillLinks() {
  place('upgrades-table').append(table(
    [{heading: 'Change', words: true}, {heading: 'From'}, {heading: 'To'}, {heading: 'Saves'}],
    plan.upgrades.map(one => [one.what, formatRate(one.from_bps), formatRate(one.to_bps),
      one.saved_s > 1e-3 * choice.time_s ? formatDuration(one.saved_s) : 'nothing'])));
  place('links-table').append(table(
    [{heading: 'Link', words: true}, {heading: 'Direction', words: true}, {heading: 'Rate'}, {heading: 'Bytes a step'}, {heading: 'Full'}],
    plan.links.map(one => [one.link, one.direction, formatRate(one.rate_bps), formatBytes(one.bytes_per_step), formatPercent(one.busy)])));
  place('bytes-table').append(table([{heading: 'Site', words: true}, {heading: 'Leaves it'}],
    Object.entries(choice.leaving).map(([site, bytes]) => [site, formatBytes(bytes)])));
}

function fillFacts() {
  const facts = [
    ['Nodes', `${plan.nodes}${plan.accelerators_per_node > 1 ? ` of ${plan.accelerators_per_node} ${plan.accelerator || 'accelerators'}` : ''}`],
    ['Model', `${count(plan.parameters)} parameters`],
    ['Tokens', `${count(choice.tokens)}: ${count(choice.steps)} steps of ${count(plan.tokens_per_step * plan.nodes)}`],
    ['Compute of a step', formatDuration(plan.step_s)],
    ['Accelerator hours', count(choice.accelerator_hours)],
    ['Searched', `${plan.candidates} candidates, ${plan.replays} of them replayed with flow`],
  ];
  place('facts').append(...facts.flatMap(([name, text]) => [element('dt', {}, name), element('dd', {}, text)]));
}

// Horizontal bars from the lowest to the highest time of each plan.
const ranges = {
  id: 'ranges',
  beforeDatasetsDraw(chart) {
    const {ctx, scales} = chart;
    ctx.save();
    ctx.lineWidth = 1.5;
    chart.data.datasets.forEach(set => set.data.forEach(point => {
      if (point.low === undefined) return;
      ctx.strokeStyle = faded(toHex(set.borderColor), 0.6);
      const y = scales.y.getPixelForValue(point.y);
      ctx.beginPath();
      ctx.moveTo(scales.x.getPixelForValue(point.low), y);
      ctx.lineTo(scales.x.getPixelForValue(point.high), y);
      ctx.stroke();
    }));
    ctx.restore();
  },
};

const yOf = one => (plan.has_prices ? one.cost : one.bytes_leaving_sites);
const yText = value => (plan.has_prices ? money(value) : formatBytes(value));

function dataset(method) {
  const all = drawn.filter(one => one.method === method);
  const color = methodColor(methods.indexOf(method));
  return {
    label: method,
    data: all.map(one => ({x: one.time_s, y: yOf(one), low: one.time_low_s, high: one.time_high_s, one})),
    borderColor: color,
    backgroundColor: all.map(one => (one.is_on_front ? color : 'transparent')),
    borderWidth: 2,
    pointRadius: all.map(one => (one === choice ? 8 : 5)),
    pointHoverRadius: 8,
    pointStyle: ['circle', 'rect', 'triangle', 'rectRot', 'star'][methods.indexOf(method) % 5],
  };
}

function draw() {
  const text = cssColor('--quiet'), grid = cssColor('--grid');
  // Where all marks read alike, as with one plan, the middle one is enough.
  const once = format => (value, index, ticks) => {
    const isRepeated = ticks.every(tick => format(tick.value) === format(value)) || (index > 0 && format(ticks[index - 1].value) === format(value));
    return isRepeated && index !== Math.floor(ticks.length / 2) ? '' : format(value);
  };
  const axis = (title, format, stepSize) => ({
    type: 'linear',
    grace: '10%',
    title: {display: true, text: title, color: text},
    grid: {color: grid},
    ticks: {color: text, maxTicksLimit: 7, stepSize, callback: once(format)},
  });
  const times = drawn.flatMap(one => [one.time_low_s, one.time_high_s]);
  const step = timeStep(Math.max((Math.max(...times) - Math.min(...times)) * 1.2, choice.time_s * 0.05), 5);
  return new Chart(place('chart'), {
    type: 'scatter',
    data: {datasets: methods.map(dataset)},
    plugins: [ranges],
    options: {
      animation: false,
      maintainAspectRatio: false,
      // Bars stay between the axes.
      scales: {x: {...axis('time of the whole training', duration, step), suggestedMin: Math.min(...times), suggestedMax: Math.max(...times)},
        y: axis(place('against').textContent, yText)},
      plugins: {
        legend: {display: false},
        tooltip: {callbacks: {label: item => [item.raw.one.words, `${duration(item.raw.x)}, ${yText(item.raw.y)}`]}},
      },
    },
  });
}

document.title = `${plan.name} – Longhaul plan`;
place('name').textContent = plan.name;
place('description').textContent = plan.description || '';
place('decision').textContent = plan.decision;
place('against').textContent = plan.has_prices ? `cost (${plan.currency})` : 'bytes that leave a site';
place('front-words').textContent = plan.front;
place('not-drawn').textContent = drawn.length < plan.plans.length
  ? ` ${plan.plans.length - drawn.length} that take more than three times as long are in the table alone.` : '';
place('memory').textContent = `Memory: ${plan.memory.words}.`;
place('placement').textContent = `Ranks: ${plan.placement}.`;
place('caveats').append(...plan.caveats.map(text => element('li', {}, text)));
place('plan-file').textContent = JSON.stringify(plan.plan, null, 2);
fillFacts();
fillPlans();
fillInnerSteps();
fillLinks();

let chart = null;
function redraw() {
  if (chart) chart.destroy();
  place('key').replaceChildren(...methods.filter(method => drawn.some(one => one.method === method)).map(method => {
    const mark = swatch(methodColor(methods.indexOf(method)));
    return element('span', {}, mark, method);
  }));
  chart = draw();
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
matchMedia('print').addEventListener('change', redraw);  // colours and widths of the paper
redraw();
