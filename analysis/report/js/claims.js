// What the verdicts rest on: each claim over the sweep, as a table and against its threshold.
'use strict';

const CLAIM = {chosen: 0};
const PICTURES = DATA.runs.flatMap((run, index) => run.claim_pictures.map(picture => ({...picture, run: index})));
const SHAPES = ['circle', 'rect', 'triangle', 'rectRot', 'cross', 'star'];

const lastPart = key => key.slice(key.lastIndexOf('.') + 1);

function cellText([low, , holds, undecided, fails, , , range]) {
  if (low === null) return range;
  const counts = [[holds, 'holds', 'hold'], [undecided, 'undecided', 'undecided'], [fails, 'fails', 'fail']].filter(([count]) => count > 0);
  const verdict = counts.length === 1 ? counts[0][1] : counts.map(([count, , word]) => `${count} ${word}`).join(', ');
  return [range, element('span', {class: 'judged'}, verdict)];
}

const cellClass = cell => (!cell || cell[0] === null ? null : cell[3] + cell[4] === 0 ? 'holds' : cell[2] + cell[3] === 0 ? 'fails' : 'mixed');

function matrixTable(picture) {
  const corner = [picture.row_key && lastPart(picture.row_key), lastPart(picture.column_key)].filter(Boolean).join(' \\ ');
  const row = (name, cells) => element('tr', {}, element('th', {scope: 'row', class: 'words'}, name || 'all'),
    ...cells.map(cell => element('td', {class: cellClass(cell)}, ...(cell ? [cellText(cell)].flat() : ['']))));
  return scrolling({'aria-label': 'Verdicts over the sweep'}, element('table', {class: 'matrix'},
    element('thead', {}, element('tr', {}, element('th', {scope: 'col', class: 'words', title: `${picture.row_key} \\ ${picture.column_key}`}, corner),
      ...picture.columns.map(column => element('th', {scope: 'col'}, column)))),
    element('tbody', {}, ...picture.rows.map((name, i) => row(name, picture.cells[i])))));
}

// A line a row of the matrix: the highest that was measured, with a band of all that was measured, widened by the network
// model's error. Rows are no methods, so
// they have shapes and dashes instead of colours.
function claimConfig(picture) {
  const ink = cssColor('--text'), quiet = cssColor('--quiet');
  const xs = picture.numbers ? picture.columns.map(Number) : picture.columns.map((_, i) => i);
  const datasets = picture.rows.map((name, i) => {
    const data = xs.flatMap((x, j) => {
      const cell = picture.cells[i][j];
      return cell && cell[1] > 0 ? [{x, y: cell[1], low: cell[0], possible: [cell[5], cell[6]], cell}] : [];
    }).sort((a, b) => a.x - b.x);
    const color = i % 2 ? quiet : ink;
    return {label: name || 'all points', data, borderColor: color, backgroundColor: color, borderWidth: 1.5, borderDash: DASHES[i % DASHES.length], tension: 0,
      pointStyle: SHAPES[i % SHAPES.length], pointRadius: 4, band: data.filter(point => point.possible[0] !== null && point.possible[1] !== null).map(({x, possible: [low, high]}) => ({x, low, high})), bandColor: faded(toHex(color), 0.08)};
  }).filter(dataset => dataset.data.length);
  const values = datasets.flatMap(dataset => dataset.data.map(point => point.y));
  const span = list => Math.max(...list) / Math.min(...list);
  const logX = picture.numbers && Math.min(...xs) > 0 && span(xs) >= 20;
  const where = value => (picture.numbers ? formatNumber(value) : picture.columns[value]);
  const room = {suggestedMax: picture.threshold * 1.15, suggestedMin: Math.min(...values, picture.threshold) / 1.15};
  const scales = {x: sweepScale(picture.column_key, picture.numbers, picture.columns, logX),
    y: axis({title: 'measured', format: formatNumber}, span([...values, picture.threshold]) >= 20, room)};
  return lineConfig(datasets, scales, {
    title: items => (items.length ? `${picture.column_key} = ${where(items[0].parsed.x)}` : ''),
    label: item => `${item.dataset.label}: ${item.raw.cell[7]}`,
  }, {plugins: [BANDS, THRESHOLDS], options: {
    legend: {display: datasets.length > 1, labels: {usePointStyle: true, boxHeight: 7}},
    thresholds: {lines: [{value: picture.threshold, text: `${picture.bound.replace('_', ' ')} ${picture.threshold}`}]},
  }});
}

function drawClaims() {
  const place = document.getElementById('claim');
  document.getElementById('claims-sweep').hidden = PICTURES.length === 0;
  if (PICTURES.length === 0) return;
  const picture = PICTURES[CLAIM.chosen] || PICTURES[0];
  const name = one => `${MANY_RUNS ? `${runName(one.run)}: ` : ''}${one.id}`;
  if (CLAIM.drawn) CLAIM.drawn.destroy();
  const canvas = element('canvas', {role: 'img', tabindex: 0, 'aria-label': 'What was measured, against the bound of the claim; the numbers are in the table above'});
  const said = element('p', {class: 'only-said', 'aria-live': 'polite'});
  place.replaceChildren(
    element('div', {class: 'controls'}, selectBox('claim', PICTURES.map((one, i) => [String(i), name(one)]), String(CLAIM.chosen), value => {
      CLAIM.chosen = Number(value);
      keepingFocus(place, drawClaims);
    })),
    element('p', {}, picture.statement ? `${withoutStop(picture.statement)}: ` : '', picture.words, `. ${counted(picture.points, 'point')}.`),
    element('ul', {}, ...picture.frontier.map(line => element('li', {}, line))),
    matrixTable(picture),
    element('p', {class: 'quiet'}, 'Rows and columns are the two swept keys that explain most of what was measured; a cell is the range over all others. Bands in the picture are that range, widened by the network model\'s error.'),
    element('figure', {}, element('div', {class: 'canvas'}, canvas), said));
  CLAIM.drawn = new Chart(canvas, claimConfig(picture));
  followKeys(canvas, CLAIM.drawn, said);
}
