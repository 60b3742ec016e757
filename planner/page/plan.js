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

const TIMES = [['years', 31557600, 2], ['d', 86400, 2], ['h', 3600, 2], ['min', 60, 2], ['s', 1, 0]];
const BYTES = [['PB', 1e15, 1], ['TB', 1e12, 1], ['GB', 1e9, 1], ['MB', 1e6, 0]];
const RATES = [['Tb/s', 1e12, 1], ['Gb/s', 1e9, 1], ['Mb/s', 1e6, 0]];
// Amounts of one unit, that of the first one, as texts in which the least has so many digits: {unit, text}.
function inOneUnit(units, amounts, shown = 3) {
  const [unit, size] = units.find(([, each, least]) => !(amounts[0] < least * each));
  const least = Math.min(...amounts.filter(amount => amount > 0)) / size;
  const decimals = Number.isFinite(least) ? Math.min(3, Math.max(0, shown - 1 - Math.floor(Math.log10(least)))) : 0;
  const write = new Intl.NumberFormat('en', {minimumFractionDigits: decimals, maximumFractionDigits: decimals});
  return {unit, text: amount => write.format(amount / size)};
}

// Cells are texts; a column is {heading, words, about}.
function table(columns, rows, classes = () => '') {
  const cell = (column, text) => element('td', {class: column.words ? 'words' : false}, text);
  return scrolling({role: false},
    element('table', {},
      element('thead', {}, element('tr', {},
        ...columns.map(column => element('th', {scope: 'col', class: column.words ? 'words' : false, title: column.about || false}, column.heading)))),
      element('tbody', {}, ...rows.map((row, index) =>
        element('tr', {class: classes(index) || false}, ...row.map((text, i) => cell(columns[i], text)))))));
}

// What plans cost, with a unit in the heading: columns, and the cells of one plan.
function figures(plans) {
  const times = inOneUnit(TIMES, plans.flatMap(one => [one.time_s, one.time_low_s, one.time_high_s]), 4);
  const bytes = inOneUnit(BYTES, plans.map(one => one.bytes_leaving_sites));
  const prices = plan.has_prices
    ? [{heading: `Cost, ${plan.currency}`, about: 'Compute, waiting included, and egress'}, {heading: `Egress, ${plan.currency}`}] : [];
  const range = `${plan.range[0].toUpperCase()}${plan.range.slice(1)}`;
  return {
    columns: [{heading: `Time, ${times.unit}`}, {heading: `Low, ${times.unit}`, about: range}, {heading: `High, ${times.unit}`, about: range},
      {heading: 'Computes, %', about: 'Share of the time in which a node computes'}, ...prices,
      {heading: `Leaves sites, ${bytes.unit}`}],
    cells: one => [times.text(one.time_s), times.text(one.time_low_s), times.text(one.time_high_s), (100 * one.utilization).toFixed(0),
      ...(plan.has_prices ? [count(one.cost), count(one.egress_cost)] : []), bytes.text(one.bytes_leaving_sites)],
  };
}

function fillPlans() {
  // What a plan is stands beside its name, where no narrow page cuts it off.
  const {columns, cells} = figures(plan.plans);
  const state = (one, index) => (index === 0 ? 'taken' : one.is_on_front ? 'front' : one.left_out && 'left out');
  place('plans-table').append(table([{heading: 'Plan', words: true}, {heading: '', words: true}, ...columns],
    plan.plans.map((one, index) => [one.words, state(one, index), ...cells(one)]), index => (plan.plans[index].is_on_front ? '' : 'aside')));
}

// What the choice and its rival take where the search had fair queues.
function fillVerification() {
  if (!plan.verification) return;
  place('verification').hidden = false;
  const {plans, residual} = plan.verification, replayed = plans.filter(one => one.seeds > 0);
  const times = inOneUnit(
      TIMES,
      [
        ...plans.map(one => one.estimated_s),
        ...replayed.flatMap(one => [one.time_s, one.time_low_s, one.time_high_s])
      ],
      4);
  const text = (one, key) => (one.seeds > 0 ? times.text(one[key]) : '–');
  place('verification-table')
      .append(table(
          [
            {heading: 'Plan', words: true}, {heading: `With fair queues, ${times.unit}`},
            {heading: `Behind FIFOs, ${times.unit}`, about: 'Mean over seeds'},
            {heading: `Least, ${times.unit}`}, {heading: `Most, ${times.unit}`}, {heading: 'Seeds'},
            {heading: 'Segments a replay'}
          ],
          plans.map(
              one =>
                  [one.words, times.text(one.estimated_s), text(one, 'time_s'), text(one, 'time_low_s'),
                   text(one, 'time_high_s'), String(one.seeds), count(one.segments)])));
  place('verification-words').textContent = 'Fidelity linux, segment by segment' +
      (residual < 1 ? `, measured to ${(100 * residual).toFixed(0)} % there.` :
                      '; it was not measured there.');
}

function fillInnerSteps() {
  if (plan.choice_by_inner_steps.length < 2) return;
  place('inner-steps').hidden = false;
  const {columns, cells} = figures(plan.choice_by_inner_steps);
  place('inner-steps-table').append(table([{heading: 'H'}, ...columns, {heading: '', words: true}],
    plan.choice_by_inner_steps.map(one => [String(one.inner_steps), ...cells(one), one.words === choice.words ? 'taken' : ''])));
}

// An interrupted plan has none.
function fillLinks() {
  if (plan.upgrades.length === 0 && plan.links.length === 0) return;
  place('links').hidden = false;
  const saved = plan.upgrades.map(one => (one.saved_s > 1e-3 * choice.time_s ? one.saved_s : 0));
  const tried = inOneUnit(RATES, plan.upgrades.flatMap(one => [one.from_bps, one.to_bps, one.from_most_bps, one.to_most_bps])), saves = inOneUnit(TIMES, saved);
  const span = (least, most) => (least === most ? tried.text(least) : `${tried.text(least)} – ${tried.text(most)}`);
  place('upgrades-table').append(table(
    [{heading: 'Change', words: true}, {heading: `Rate now, ${tried.unit}`}, {heading: `Rate tried, ${tried.unit}`}, {heading: `Saves, ${saves.unit}`}],
    plan.upgrades.map((one, index) => [one.what, span(one.from_bps, one.from_most_bps), span(one.to_bps, one.to_most_bps), saved[index] > 0 ? saves.text(saved[index]) : 'nothing'])));
  const rates = inOneUnit(RATES, plan.links.map(one => one.rate_bps)), bytes = inOneUnit(BYTES, plan.links.map(one => one.bytes_per_step));
  place('links-table').append(table(
    [{heading: 'Link', words: true}, {heading: 'Direction', words: true}, {heading: `Rate, ${rates.unit}`},
      {heading: `Bytes a step, ${bytes.unit}`}, {heading: 'Full, %', about: 'Share of the time that these bytes fill at this rate'}],
    plan.links.map(one => [one.link, one.direction, rates.text(one.rate_bps), bytes.text(one.bytes_per_step), (100 * one.busy).toFixed(0)])));
}

// What each site gives and takes; where the plan file has no sites, what leaves the network's.
function fillSites() {
  const leaving = inOneUnit(BYTES, Object.values(choice.leaving));
  const given = new Map(plan.sites.map(one => [one.site, one]));
  const times = inOneUnit(TIMES, [choice.time_s, ...plan.sites.flatMap(one => (one.without ? [one.without.time_s] : []))], 4);
  const byBatch = plan.sites.some(one => one.tokens_per_step !== plan.tokens_per_step);
  const columns = [{heading: 'Site', words: true}, {heading: `Leaves it, ${leaving.unit}`}];
  if (given.size > 0)
    columns.push({heading: 'Accelerators', words: true}, ...(byBatch ? [{heading: 'Tokens a step', about: 'Of each of its nodes'}] : []),
      {heading: 'Computes, %', about: 'Share of the time in which its nodes compute'},
      ...(plan.has_prices ? [{heading: `Rent, ${plan.currency}`}, {heading: `Egress, ${plan.currency}`}] : []),
      {heading: `Time without it, ${times.unit}`}, ...(plan.has_prices ? [{heading: `Cost without it, ${plan.currency}`}] : []));
  const cells = one => [`${one.accelerators} ${one.accelerator}`, ...(byBatch ? [count(one.tokens_per_step)] : []), (100 * one.computes).toFixed(0),
    ...(plan.has_prices ? [count(one.rent), count(one.egress_cost)] : []),
    one.without ? times.text(one.without.time_s) : one.why_not, ...(plan.has_prices ? [one.without ? count(one.without.cost) : ''] : [])];
  place('sites-table').append(table(columns, Object.entries(choice.leaving).map(([site, amount]) =>
    [site, leaving.text(amount), ...(given.has(site) ? cells(given.get(site)) : [])])));
}

function fillFaults() {
  if (plan.with_faults.length === 0) return;
  place('faults').hidden = false;
  const times = inOneUnit(TIMES, plan.with_faults.flatMap(one => [one.time_s, one.time_low_s, one.time_high_s]), 4);
  place('faults-table').append(table([{heading: 'Plan', words: true}, {heading: `Time, ${times.unit}`}, {heading: `Low, ${times.unit}`},
    {heading: `High, ${times.unit}`}, {heading: 'Goodput, %', about: 'Share of the time that faults do not cost'}],
  plan.with_faults.map(one => [one.words, times.text(one.time_s), times.text(one.time_low_s), times.text(one.time_high_s),
    (100 * one.goodput).toFixed(1)])));
}

function fillFacts() {
  const facts = [
    ['Nodes', `${plan.nodes}, together ${plan.accelerators} ${plan.accelerator || 'accelerators'}`],
    ['Model', `${count(plan.parameters)} parameters` + (plan.active_parameters < plan.parameters
      ? `, of which ${count(plan.active_parameters)} compute a token` : '')],
    ['Tokens', `${count(choice.tokens)}: ${count(choice.steps)} steps of ${count(plan.tokens_per_step * plan.nodes)} tokens`],
    ['Compute of a step', formatDuration(choice.step_s)],
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
  const color = methodColor(method);
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
place('in-short').textContent = plan.in_short;
place('against').textContent = plan.has_prices ? `cost (${plan.currency})` : 'bytes that leave a site';
place('front-words').textContent = plan.front;
const slow = plan.plans.length - drawn.length;
place('not-drawn').textContent = slow === 0 ? ''
  : ` ${slow} that ${slow === 1 ? 'takes' : 'take'} more than three times as long ${slow === 1 ? 'is' : 'are'} in the table alone.`;
place('memory').textContent = `Memory: ${plan.memory.words}.`;
place('placement').textContent = `Ranks: ${plan.placement}.`;
place('caveats').append(...plan.caveats.map(text => element('li', {}, text)));
place('plan-file').textContent = JSON.stringify(plan.plan, null, 2);
// The plan travels behind the address's #, which browser/page/request.js reads.
if (PLANNER) {
  const bytes = new TextEncoder().encode(JSON.stringify({name: plan.name, plan: plan.plan}));
  const text = btoa(Array.from(bytes, byte => String.fromCodePoint(byte)).join(''));
  place('planner').href = `${PLANNER}#plan=${text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
  place('change').hidden = false;
}
fillFacts();
fillPlans();
fillVerification();
fillInnerSteps();
fillLinks();
fillSites();
fillFaults();

let chart = null;
function redraw() {
  if (chart) chart.destroy();
  place('key').replaceChildren(...methods.filter(method => drawn.some(one => one.method === method)).map(method => {
    const mark = swatch(methodColor(method));
    return element('span', {}, mark, method);
  }));
  chart = draw();
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
matchMedia('print').addEventListener('change', redraw);  // colours and widths of the paper
redraw();
