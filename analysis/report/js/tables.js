// The table of results: methods with means over seeds, or every case; sortable.
'use strict';

const RESULTS = {rows: 'point', sort: null, descending: false};

// What a row says of the state of its cases; '' where all are done.
function unfinished(cases) {
  const open = cases.filter(one => one.status !== 'done');
  if (open.length === 0) return '';
  return cases.length === 1 ? open[0].status : `${cases.length - open.length} of ${cases.length} seeds done`;
}

// A method at a point of the sweep: the mean of its seeds, or its one case.
function meanRow(row) {
  const cases = row.cases.map(index => DATA.cases[index]);
  const one = cases.find(each => each.status === 'done') || cases[0];
  return {...one, ...(row.texts ? row : {}), cases: row.cases, seeds: row.seeds, seed: cases.length > 1 ? `${row.seeds} seeds` : one.seed, state: unfinished(cases)};
}

function tableRows(view) {
  if (RESULTS.rows === 'cases') return DATA.cases.map((one, i) => ({...one, cases: [i], state: unfinished([one])}));
  const points = RESULTS.rows === 'point' ? view.points.map(index => DATA.points[index]) : DATA.points;
  return points.flatMap(point => point.rows.map(meanRow));
}

// The columns that describe a row, before those that measure it.
function describingColumns(rows) {
  const mark = row => (row.state ? element('span', {class: 'status'}, row.state) : '');
  const columns = [{title: 'Method', value: row => row.variant,
    cell: row => [swatch(methodColor(row.label)), row.variant, mark(row)]}];
  if (MANY_RUNS) columns.push({title: 'Run', value: row => runName(row.run)});
  for (const key of DATA.swept) {
    if (key.startsWith('methods.')) continue;  // in the name of the variant
    if (rows.every(row => plain(row.swept[key]) === plain(rows[0].swept[key]))) continue;
    columns.push({title: lastPart(key), meaning: key, value: row => (key in row.swept ? row.swept[key] : '')});
  }
  if (new Set(rows.map(row => row.seed)).size > 1 || rows.some(row => row.seeds > 1)) columns.push({title: 'Seed', value: row => row.seed});
  return columns.map(column => ({cell: row => [plain(column.value(row))], ...column, words: true}));
}

// Their texts are those of the terminal.
function measuringColumns() {
  return DATA.columns.map((column, i) =>
    ({...column, value: row => row.values[i], best: row => row.best[i], cell: row => [row.texts[i] || '–']}))
    .filter((_, i) => DATA.cases.some(one => one.values[i] !== null || one.texts[i]));
}

function compareValues(a, b) {
  if (a === b) return 0;
  if (a === null || a === '') return 1;  // what is missing stands last
  if (b === null || b === '') return -1;
  return typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', {numeric: true});
}

function sortedRows(rows, columns) {
  if (RESULTS.sort === null || !columns[RESULTS.sort]) return rows;
  const {value} = columns[RESULTS.sort], sign = RESULTS.descending ? -1 : 1;
  return rows.map((row, i) => ({row, i})).sort((a, b) => sign * compareValues(value(a.row), value(b.row)) || a.i - b.i).map(({row}) => row);
}

function headerCell(column, index, redraw) {
  const sorted = RESULTS.sort === index ? (RESULTS.descending ? 'descending' : 'ascending') : null;
  const sort = () => {
    RESULTS.descending = RESULTS.sort === index && !RESULTS.descending;
    RESULTS.sort = index;
    redraw();
  };
  return element('th', {scope: 'col', class: column.words ? 'words' : null, 'aria-sort': sorted},
    element('button', {type: 'button', title: column.meaning || null, onclick: sort}, column.title));
}

function resultRow(row, columns, isChosen) {
  return element('tr', {class: isChosen ? null : 'aside', title: row.error || null}, ...columns.map((column, i) =>
    element(i === 0 ? 'th' : 'td', {scope: i === 0 ? 'row' : null,
      class: column.words ? 'words' : column.best(row) ? 'best' : null}, ...column.cell(row))));
}

function rowChoices() {
  const several = DATA.points.some(point => point.rows.some(row => row.cases.length > 1));
  const choices = [['point', DATA.points.length > 1 ? 'the chosen point' : several ? 'means over seeds' : 'all']];
  if (DATA.points.length > 1) choices.push(['means', several ? 'all points, means over seeds' : 'all points']);
  if (several) choices.push(['cases', 'every case']);
  return choices;
}

function resultNotes(rows, view) {
  const notes = ['A heading sorts by its column.'], ofLosses = new Set(view.points.map(point => DATA.points[point].loss_note));
  for (const note of ofLosses) if (note) notes.unshift(`${note[0].toUpperCase()}${note.slice(1)}.`);
  if (rows.some(row => row.seeds > 1)) notes.unshift('±: half the width of the 95 % t interval of the mean over seeds; longhaul compare says which differences it shows.');
  if (rows.some(row => row.best.includes(1)))
    notes.unshift('★ the best at its point of the sweep among methods that exchange: the lowest, of tokens and useful steps a second the highest; columns in which neither is better have none.');
  return notes.join(' ');
}

const MOST_ROWS = 400;  // more would take the browser seconds

function drawResults(view) {
  const place = document.getElementById('results-table');
  const rows = tableRows(view), columns = [...describingColumns(rows), ...measuringColumns()];
  const chosen = new Set(view.cases);
  const redraw = () => keepingFocus(place, () => drawResults(view), 'th button, select');
  const shown = sortedRows(rows, columns).slice(0, MOST_ROWS);
  const table = element('table', {},
    element('thead', {}, element('tr', {}, ...columns.map((column, i) => headerCell(column, i, redraw)))),
    element('tbody', {}, ...shown.map(row => resultRow(row, columns, row.cases.some(index => chosen.has(index))))));
  const children = [scrolling({'aria-labelledby': 'results-heading'}, table)];
  if (rowChoices().length > 1)
    children.unshift(element('div', {class: 'controls'}, selectBox('rows:', rowChoices(), RESULTS.rows, value => {
      RESULTS.rows = value;
      redraw();
    })));
  const cut = shown.length < rows.length ? ` The first ${shown.length} of ${rows.length} rows; summary.json has them all.` : '';
  children.push(element('p', {class: 'quiet'}, resultNotes(shown, view) + cut));
  place.replaceChildren(...children);
}
