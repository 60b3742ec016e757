// One outer step of each method, a lane a replica: an all-reduce meets once, pairs meet two by two.
'use strict';

const LANES = {zoom: true, sameScale: true, all: false};
const MOST_LANES = 32;  // unfolded

// "r12", and the site where it stands where sites are known.
const laneName = (lane, siteOf) => `r${lane.replica}${siteOf(lane.replica) ? ` ${siteOf(lane.replica)}` : ''}`;

// Whole groups while they fit; of one that does not, evenly spaced lanes, and in any case the one that was ready last, for
// which the others wait.
function foldedLanes(lanes) {
  if (lanes.length <= MOST_LANES) return lanes;
  const kept = [];
  for (const group of new Set(lanes.map(lane => lane.group))) {
    const members = lanes.filter(lane => lane.group === group), room = MOST_LANES - kept.length;
    if (members.length <= room) kept.push(...members);
    else if (kept.length === 0) {
      const last = members.reduce((latest, lane, i) => (lane.ready > members[latest].ready ? i : latest), 0);
      const chosen = Array.from({length: room}, (_, i) => Math.round(i * (members.length - 1) / (room - 1)));
      if (!chosen.includes(last)) chosen[Math.round(last * (room - 1) / (members.length - 1))] = last;
      return members.filter((_, i) => chosen.includes(i));
    } else return kept;
  }
  return kept;
}

// The part of time that is drawn, and what the axis calls 0: when the first replica is ready, or went on from the outer
// step before.
function laneWindow(outer) {
  const first = Math.min(...outer.lanes.map(lane => lane.from));
  const end = Math.max(...outer.lanes.map(lane => lane.done));
  if (!LANES.zoom) return {start: first, zero: first, end};
  const zero = Math.min(...outer.lanes.map(lane => lane.ready));
  return {start: Math.max(first, zero - 0.06 * (end - zero || 1)), zero, end};
}

function laneTitle(series, outer, drawn) {
  const lanes = outer.lanes;
  const length = Math.max(...lanes.map(lane => lane.done)) - Math.min(...lanes.map(lane => lane.ready));
  const shown = drawn < outer.replicas ? `; ${drawn} of ${outer.replicas} replicas shown` : '';
  return `step ${outer.step}, outer step ${outer.index} of ${outer.count}; ${formatDuration(length)} from the first that is `
    + `ready to the last that goes on${shown}`;
}

// Group by group, with a gap between groups.
function laneRows(lanes, height) {
  let y = 4;
  return lanes.map((lane, i) => {
    if (i > 0 && lanes[i - 1].group !== lane.group) y += 6;
    const row = {lane, y};
    y += height;
    return row;
  });
}

function laneBars(series, row, x, height, siteOf) {
  const {lane, y} = row;
  const bar = (from, to, fill, what, top = y, thick = height - 3) => {
    const left = x(from), right = x(to);
    if (right - left <= 0) return null;
    return element('svg:rect', {x: left, y: top, width: Math.max(right - left, 0.75), height: thick, fill},
      element('svg:title', {}, `replica ${lane.replica}${siteOf(lane.replica) ? ` (${siteOf(lane.replica)})` : ''}: ${what} ${formatDuration(to - from)}`));
  };
  const ahead = (lane.ahead || []).map(([start, done]) =>
    bar(start, done, series.color, 'exchange that overlaps with compute,', y + height - 6, 3));
  return [
    bar(lane.from, lane.ready, faded(toHex(series.color), 0.35), 'compute'),
    bar(lane.ready, lane.start, 'url(#hatch)', 'waits'),
    bar(lane.start, lane.done, series.color, 'exchanges'),
    ...ahead,
  ].filter(Boolean);
}

// The moment at which the last of a group is ready: a line through the lanes that had to meet.
function meetings(rows, x, height) {
  const groups = new Map();
  for (const row of rows) groups.set(row.lane.group, [...(groups.get(row.lane.group) || []), row]);
  return [...groups.values()].filter(group => group.length > 1).map(group => {
    const at = x(group[0].lane.start);
    return element('svg:line', {class: 'meeting', x1: at, x2: at, y1: group[0].y - 2, y2: group[group.length - 1].y + height - 1});
  });
}

function timeAxis(window, x, top, bottom) {
  const step = tickStep(window.end - window.start, Math.max(2, Math.min(6, Math.floor((x(window.end) - x(window.start)) / 70))));
  const marks = [];
  for (let tick = 0; window.zero + tick <= window.end; tick += step) {
    const at = x(window.zero + tick);
    marks.push(element('svg:line', {class: 'grid', x1: at, x2: at, y1: top, y2: bottom}));
    marks.push(element('svg:text', {x: at, y: bottom + 13, 'text-anchor': 'middle'}, markDuration(Number(tick.toPrecision(8)))));
  }
  return marks;
}

function laneDrawing(series, outer, lanes, window, width, siteOf) {
  const height = lanes.length > 16 ? 13 : 16;
  const rows = laneRows(lanes, height);
  const bottom = rows[rows.length - 1].y + height;
  const labelWidth = Math.min(0.3 * width, 16 + 6.2 * Math.max(...lanes.map(lane => laneName(lane, siteOf).length)));
  const mostLetters = Math.floor((labelWidth - 8) / 6), shortened = text => (text.length > mostLetters ? `${text.slice(0, mostLetters - 1)}…` : text);
  const scale = (width - labelWidth - 22) / (window.end - window.start || 1);
  const x = time => labelWidth + (Math.min(Math.max(time, window.start), window.end) - window.start) * scale;
  const drawing = element('svg:svg', {width, height: bottom + 20, viewBox: `0 0 ${width} ${bottom + 20}`, role: 'img',
    'aria-label': `${series.name}: ${laneTitle(series, outer, lanes.length)}`});
  drawing.append(...timeAxis(window, x, 0, bottom));
  for (const row of rows) {
    drawing.append(element('svg:text', {x: labelWidth - 6, y: row.y + height - 4, 'text-anchor': 'end'}, shortened(laneName(row.lane, siteOf))));
    drawing.append(...laneBars(series, row, x, height, siteOf));
  }
  drawing.append(...meetings(rows, x, height));
  return drawing;
}

function hatchDefinition() {
  const color = cssColor('--wait');
  const pattern = element('svg:pattern', {id: 'hatch', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'},
    element('svg:line', {x1: 0, x2: 0, y1: 0, y2: 5, stroke: color, 'stroke-width': 3}));
  return element('svg:svg', {width: 0, height: 0, 'aria-hidden': 'true', style: 'position:absolute'}, element('svg:defs', {}, pattern));
}

function laneKey(drawn) {
  const parts = [['light', 'compute'], ['hatched', 'wait for the others'], ['neutral', 'exchange']];
  if (drawn.some(({outer}) => outer.lanes.some(lane => lane.ahead))) parts.push(['neutral thin', 'exchange that overlaps with compute']);
  return element('div', {class: 'key'}, ...parts.map(([kind, text]) =>
    element('span', {}, element('span', {class: `swatch ${kind}`}), text)));
}

function drawLanes(all) {
  const place = document.getElementById('lanes');
  const drawn = all.map(series => ({series, one: series.cases.find(one => one.outer_step)})).filter(entry => entry.one)
    .map(({series, one}) => ({series, outer: one.outer_step, siteOf: siteOfReplica(one)}));
  document.getElementById('outer-step').hidden = drawn.length === 0;
  if (drawn.length === 0) return;
  const windows = drawn.map(({outer}) => laneWindow(outer));
  const longest = Math.max(...windows.map(window => window.end - window.start));
  const redraw = () => drawLanes(all);
  const controls = element('div', {class: 'controls'},
    selectBox('show', [['zoom', 'the synchronization'], ['whole', 'the whole outer step, with its compute']],
      LANES.zoom ? 'zoom' : 'whole', value => { LANES.zoom = value === 'zoom'; redraw(); }),
    checkBox('the same time scale for all', LANES.sameScale, value => { LANES.sameScale = value; redraw(); }),
    ...(drawn.some(({outer}) => outer.lanes.length > MOST_LANES) ? [checkBox('every lane', LANES.all, value => { LANES.all = value; redraw(); })] : []));
  const width = Math.max(260, place.clientWidth - 30);
  const figures = drawn.map(({series, outer, siteOf}, i) => {
    const lanes = LANES.all ? outer.lanes : foldedLanes(outer.lanes);
    const window = LANES.sameScale ? {...windows[i], end: windows[i].start + longest} : windows[i];
    return element('figure', {}, element('h3', {}, swatch(series.color), series.name), laneDrawing(series, outer, lanes, window, width, siteOf),
      element('figcaption', {}, laneTitle(series, outer, lanes.length)));
  });
  keepingFocus(place, () => place.replaceChildren(
    element('p', {class: 'quiet'}, `A lane a replica. Time runs from the moment the first ${LANES.zoom ? 'is ready' : 'went on from the outer step before'}; `
      + 'a vertical line joins the replicas that have to meet, when the last of them is ready.'),
    controls,
    laneKey(drawn),
    hatchDefinition(), element('div', {class: 'lanes'}, ...figures)));
}
