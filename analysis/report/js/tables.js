// The table of results (all cases, sortable) and that of the busiest links.
'use strict';

const RESULTS = {sort: null, descending: false, onlyChosen: false};

const plain = value => (typeof value === 'string' ? value : String(JSON.stringify(value)));

// The columns that describe a case, before those that measure it.
function describingColumns() {
  const unfinished = one => (one.status === 'done' ? '' : element('span', {class: 'status'}, one.status));
  const columns = [{title: 'Method', value: one => one.variant,
    cell: one => [swatch(methodColor(METHOD_LABELS.indexOf(one.label))), one.variant, unfinished(one)]}];
  if (MANY_RUNS) columns.push({title: 'Run', value: one => runName(one.run)});
  for (const key of DATA.swept) {
    if (key.startsWith('methods.')) continue;  // in the name of the variant
    if (DATA.cases.every(one => plain(one.swept[key]) === plain(DATA.cases[0].swept[key]))) continue;
    const short = key.slice(key.lastIndexOf('.') + 1);
    columns.push({title: short, meaning: key, value: one => (key in one.swept ? one.swept[key] : '')});
  }
  if (new Set(DATA.cases.map(one => one.seed)).size > 1) columns.push({title: 'Seed', value: one => one.seed});
  return columns.map(column => ({cell: one => [plain(column.value(one))], ...column, words: true}));
}

function measuringColumns() {
  return DATA.columns.map((column, i) => ({...column, value: one => one.values[i], best: one => one.best[i],
    cell: one => [one.texts[i] || '–']})).filter((_, i) => DATA.cases.some(one => one.values[i] !== null));
}

function compareValues(a, b) {
  if (a === b) return 0;
  if (a === null || a === '') return 1;  // what is missing stands last
  if (b === null || b === '') return -1;
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', {numeric: true});
}

function sortedCases(indices, columns) {
  if (RESULTS.sort === null) return indices;
  const value = columns[RESULTS.sort].value, sign = RESULTS.descending ? -1 : 1;
  return [...indices].sort((a, b) => sign * compareValues(value(DATA.cases[a]), value(DATA.cases[b])) || a - b);
}

function headerCell(column, index, redraw) {
  const sorted = RESULTS.sort === index ? (RESULTS.descending ? 'descending' : 'ascending') : null;
  const sort = () => {
    RESULTS.descending = RESULTS.sort === index && !RESULTS.descending;
    RESULTS.sort = index;
    redraw(index);
  };
  return element('th', {scope: 'col', class: column.words ? 'words' : null, 'aria-sort': sorted},
    element('button', {type: 'button', title: column.meaning || null, onclick: sort}, column.title));
}

function resultRow(one, columns, isChosen) {
  return element('tr', {class: isChosen ? null : 'aside', title: one.error || null}, ...columns.map((column, i) =>
    element(i === 0 ? 'th' : 'td', {scope: i === 0 ? 'row' : null,
      class: column.words ? 'words' : column.best(one) ? 'best' : null}, ...column.cell(one))));
}

function drawResults(view) {
  const place = document.getElementById('results-table');
  const columns = [...describingColumns(), ...measuringColumns()];
  const chosen = new Set(view.cases);
  const indices = DATA.cases.map((_, i) => i).filter(i => !RESULTS.onlyChosen || chosen.has(i));
  const redraw = focus => {
    drawResults(view);
    if (focus !== undefined) place.querySelectorAll('th button')[focus].focus();
  };
  const table = element('table', {},
    element('thead', {}, element('tr', {}, ...columns.map((column, i) => headerCell(column, i, redraw)))),
    element('tbody', {}, ...sortedCases(indices, columns).map(i => resultRow(DATA.cases[i], columns, chosen.has(i)))));
  const children = [element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-labelledby': 'results-heading'}, table)];
  if (DATA.points.length > 1)
    children.unshift(element('div', {class: 'controls'}, checkBox('only what the charts show', RESULTS.onlyChosen, value => {
      RESULTS.onlyChosen = value;
      redraw();
      place.querySelector('input').focus();
    })));
  const notes = ['A heading sorts by its column.'];
  if (DATA.cases.some(one => one.best.includes(1))) notes.unshift('★ the best among cases of the same seed and sweep point that exchange; columns in which lower is not better have none.');
  children.push(element('p', {class: 'quiet'}, notes.join(' ')));
  place.replaceChildren(...children);
}

const LINKS = {name: null};

function drawLinks(all) {
  const place = document.getElementById('links-table');
  const carriers = all.map(series => ({name: series.name, one: series.cases.find(one => one.links && one.links.used)})).filter(entry => entry.one);
  document.getElementById('links').hidden = carriers.length === 0;
  if (carriers.length === 0) return;
  const chosen = carriers.find(entry => entry.name === LINKS.name) || carriers[0];
  const {links, numbers} = chosen.one;
  const simulated = numbers.simulated_time_s;
  const row = link => element('tr', {},
    element('th', {scope: 'row', class: 'words'}, link.link),
    element('td', {class: 'words'}, link.direction),
    element('td', {}, formatBytes(link.bytes)),
    element('td', {}, formatPercent(link.bytes / links.total_bytes)),
    element('td', {}, formatDuration(link.busy_s)),
    element('td', {}, simulated ? formatPercent(link.busy_s / simulated) : '–'),
    element('td', {}, link.busy_s > 0 ? formatRate(8 * link.bytes / link.busy_s) : '–'));
  const heading = (text, words) => element('th', {scope: 'col', class: words ? 'words' : null}, text);
  place.replaceChildren(
    element('div', {class: 'controls'}, selectBox('links of', carriers.map(entry => [entry.name, entry.name]), chosen.name, value => {
      LINKS.name = value;
      drawLinks(all);
      place.querySelector('select').focus();
    })),
    element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-labelledby': 'links-heading'}, element('table', {},
      element('thead', {}, element('tr', {}, heading('Link', true), heading('Direction', true), heading('On the wire'), heading('Share of all bytes'),
        heading('Busy'), heading('Busy, of the run'), heading('Rate while busy'))),
      element('tbody', {}, ...links.busiest.map(row)))),
    element('p', {class: 'quiet'}, `${links.busiest.length} of ${links.used} directions of links that carried anything; bytes with headers. `
      + 'Forward is from the first to the second name.'));
}
