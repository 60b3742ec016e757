// The first block, what to conclude, and the losses after the same time and bytes. All sentences come from
// analysis/comparison/decision.cc; this file only places them.
'use strict';

const SHARES = ['a quarter', 'half', 'all'];

// The question and who is ahead, and below it each comparison with its badge.
function decisionItem({opening, parts}) {
  const part = ({badge, words}) => element('li', {},
    element('span', {class: `verdict ${badge.startsWith('shown') ? 'holds' : 'undecided'}`}, badge), element('span', {}, words));
  return element('li', {}, element('span', {class: 'opening'}, opening), parts.length ? element('ul', {class: 'parts'}, ...parts.map(part)) : '');
}

// Made when it is opened: of a sweep there may be a thousand points.
function pointsOf(points) {
  const details = element('details', {class: 'points'}, element('summary', {}, `At each of the ${points.length} points`));
  details.addEventListener('toggle', () => {
    if (!details.open || details.children.length > 1) return;
    details.append(...points.map(({at, decisions}) =>
      element('div', {}, element('h4', {}, at || 'all cases'), element('ul', {class: 'decisions'}, ...decisions.map(decisionItem)))));
  });
  return details;
}

function fillConclusions() {
  const place = document.getElementById('conclusions-of-runs');
  document.getElementById('conclusions').hidden = !DATA.runs.some(run => run.conclusions);
  DATA.runs.forEach((run, i) => {
    if (!run.conclusions) return;
    const {conditions, everywhere, points, grounds} = run.conclusions;
    if (MANY_RUNS) place.append(element('h4', {}, runName(i)));
    place.append(element('p', {class: 'conditions'}, conditions));
    const items = everywhere.length ? everywhere.map(sentence => element('li', {}, sentence)) : points[0].decisions.map(decisionItem);
    place.append(element('ul', {class: 'decisions'}, ...items));
    if (everywhere.length) place.append(pointsOf(points));
    place.append(element('p', {class: 'quiet'}, grounds));
  });
}

const verdictMark = verdict => element('span', {class: `verdict ${verdict}`}, verdict);

// A claim that is judged at each point is one item: the counts first, its points folded.
function claimItems(claims, where) {
  return [...new Set(claims.map(claim => claim.id))].map(id => {
    const same = claims.filter(claim => claim.id === id), [{statement, verdict, grounds}] = same;
    if (same.length === 1) return element('li', {}, verdictMark(verdict), `${where}${withoutStop(statement) || id}: ${grounds}`);
    const count = word => same.filter(claim => claim.verdict === word).length;
    const whole = ['holds', 'fails'].find(word => count(word) === same.length) || 'undecided';
    const judged = count(whole) === same.length
      ? `${whole === 'undecided' ? 'is undecided' : whole} at all ${same.length} points.`
      : `of ${same.length} points ${count('holds')} hold, ${count('undecided')} are undecided, ${count('fails')} fail.`;
    return element('li', {}, verdictMark(whole), `${where}${withoutStop(statement) || id}: ${judged}`,
      element('details', {class: 'points'}, element('summary', {}, 'Each point'),
        element('ul', {class: 'decisions'}, ...same.map(claim => element('li', {class: 'decision'}, verdictMark(claim.verdict), element('span', {}, claim.grounds))))));
  });
}

function equalTable({kind, first, columns, rows}) {
  const caption = `${kind === 'time' ? 'Loss after the same simulated time' : 'Loss after the same bytes sent by a replica'} (until ${first} ends)`;
  const heads = columns.map((column, i) => element('th', {scope: 'col'}, column, element('span', {class: 'judged'}, SHARES[i])));
  return element('div', {class: 'equal'}, element('h3', {}, caption),
    scrolling({'aria-label': caption}, element('table', {},
      element('thead', {}, element('tr', {}, element('th', {scope: 'col', class: 'words'}, 'Method'), ...heads)),
      element('tbody', {}, ...rows.map(({name, label, cells}) => element('tr', {},
        element('th', {scope: 'row', class: 'words'}, swatch(methodColor(label)), name),
        ...cells.map(cell => element('td', {}, cell))))))));
}

function drawEqual(view) {
  const tables = view.points.length === 1 ? DATA.points[view.points[0]].equal || [] : [];
  document.getElementById('equal').hidden = tables.length === 0;
  document.getElementById('equal-tables').replaceChildren(...tables.map(equalTable));
}

// In a picture of losses, on the line of the target: a ring where each method gets there.
const CROSSINGS = {
  id: 'crossings',
  afterDatasetsDraw(chart, _, {loss, crossings}) {
    const {ctx, chartArea, scales} = chart, y = loss === null ? NaN : scales.y.getPixelForValue(loss);
    if (!(y >= chartArea.top && y <= chartArea.bottom)) return;
    ctx.save();
    for (const {x, color} of crossings) {
      const at = scales.x.getPixelForValue(x);
      if (!(at >= chartArea.left && at <= chartArea.right)) continue;
      ctx.beginPath();
      ctx.arc(at, y, 5.5, 0, 2 * Math.PI);
      ctx.fillStyle = cssColor('--panel');
      ctx.fill();
      ctx.lineWidth = 2.5;
      ctx.strokeStyle = color;
      ctx.stroke();
    }
    ctx.restore();
  },
};

// The options of that picture: nothing is drawn where there is no one target, or the picture is of something else.
function targetOf(all, {x, y}) {
  const cases = all.flatMap(series => series.cases);
  const goals = [...new Set(cases.map(one => one.target && one.target.loss).filter(goal => typeof goal === 'number'))];
  if (y !== 'loss' || goals.length !== 1) return {crossings: {loss: null, crossings: []}};
  const crossings = x !== 'time_s' ? [] : all.flatMap(series => {
    const times = series.cases.filter(one => one.status === 'done').map(one => (one.target ? one.target.time_s : null));
    return times.length && times.every(time => typeof time === 'number') ? [{x: mean(times), color: series.color}] : [];
  });
  return {thresholds: {lines: [{value: goals[0], text: `target ${formatNumber(goals[0])}`}]}, crossings: {loss: goals[0], crossings}};
}
