// The schematic map of the network: each link as thick as the time in which it carried something.
'use strict';

const busyTime = direction => (direction ? direction[1] : 0);
const fullness = ([bytes, busy, rate]) => (rate && busy ? `, ${formatPercent(8 * bytes / rate / busy)} of its ${formatRate(rate)} meanwhile` : '');

// Places nodes by springs, always from the same beginning, so that the same network has the same picture.
function springLayout(count, edges) {
  const places = Array.from({length: count}, (_, i) => ({x: Math.cos(2 * Math.PI * i / count), y: Math.sin(2 * Math.PI * i / count)}));
  if (count < 4) return places;
  const ideal = 2 / Math.sqrt(count);
  for (let round = 0; round < 150; ++round) {
    const moves = places.map(() => ({x: 0, y: 0}));
    const push = (a, b, strength) => {
      const dx = places[a].x - places[b].x, dy = places[a].y - places[b].y, length = Math.hypot(dx, dy) || 1e-6;
      const force = strength(length) / length;
      moves[a].x += dx * force;
      moves[a].y += dy * force;
      moves[b].x -= dx * force;
      moves[b].y -= dy * force;
    };
    for (let a = 0; a < count; ++a) for (let b = a + 1; b < count; ++b) push(a, b, length => ideal * ideal / length);
    for (const [a, b] of edges) push(a, b, length => -length * length / ideal);
    const most = 0.15 * (1 - round / 150);
    places.forEach((place, i) => {
      const length = Math.hypot(moves[i].x, moves[i].y) || 1, step = Math.min(length, most) / length;
      place.x += moves[i].x * step;
      place.y += moves[i].y * step;
    });
  }
  return places;
}

// Into the box from −1 to 1.
function fitted(places) {
  const middle = key => (Math.max(...places.map(place => place[key])) + Math.min(...places.map(place => place[key]))) / 2;
  const center = {x: middle('x'), y: middle('y')};
  const reach = Math.max(...places.map(place => Math.max(Math.abs(place.x - center.x), Math.abs(place.y - center.y)))) || 1;
  return places.map(place => ({x: (place.x - center.x) / reach, y: (place.y - center.y) / reach}));
}

// Routers by springs, the replicas of each in a fan outside of it; without routers the replicas on a circle.
function mapLayout(map) {
  const isReplica = new Set(map.replicas), routers = map.nodes.map((_, i) => i).filter(i => !isReplica.has(i));
  const circle = i => ({x: Math.cos(2 * Math.PI * i), y: Math.sin(2 * Math.PI * i)});
  if (routers.length === 0) return map.nodes.map((_, i) => circle(i / map.nodes.length));
  const number = new Map(routers.map((node, i) => [node, i]));
  const trunks = map.links.filter(([a, b]) => number.has(a) && number.has(b)).map(([a, b]) => [number.get(a), number.get(b)]);
  const centers = routers.length === 1 ? [{x: 0, y: 0}] : fitted(springLayout(routers.length, trunks)).map(place => ({x: 0.62 * place.x, y: 0.62 * place.y}));
  const places = map.nodes.map((_, i) => (number.has(i) ? centers[number.get(i)] : {x: 0, y: 0}));
  routers.forEach((router, i) => {
    const own = map.links.flatMap(([a, b]) => (a === router && isReplica.has(b) ? [b] : b === router && isReplica.has(a) ? [a] : []));
    const out = Math.atan2(centers[i].y, centers[i].x), whole = routers.length === 1;
    const spread = whole ? 2 * Math.PI : Math.min(Math.PI * 0.9, 0.35 * own.length), radius = whole ? 0.92 : 0.26;
    own.forEach((replica, j) => {
      const share = whole ? j / own.length : own.length === 1 ? 0 : j / (own.length - 1) - 0.5;
      const angle = whole ? share * spread - Math.PI / 2 : out + share * spread;
      places[replica] = {x: centers[i].x + radius * Math.cos(angle), y: centers[i].y + radius * Math.sin(angle)};
    });
  });
  return places;
}

function directionText(map, [from, to, forward, backward]) {
  const one = (a, b, direction) => `${map.nodes[a]} to ${map.nodes[b]}: ${direction
    ? `${formatBytes(direction[0])}, busy ${formatDuration(direction[1])}${fullness(direction)}`
    : 'nothing'}`;
  return `${one(from, to, forward)}\n${one(to, from, backward)}`;
}

const shortNode = name => name.replace(/^replica(\d+)$/, 'r$1');

const lineAttributes = (link, share, color) => {
  const unlimited = !(link[2] || link[3] || [])[2];
  return {stroke: share ? color : cssColor('--line'), 'stroke-width': share ? 1.5 + 7 * share : 1, 'stroke-opacity': share ? 0.4 + 0.6 * share : 1,
    'stroke-dasharray': share && unlimited ? '7 4' : null};
};

// Of the time in which the busiest link was busy, that of each link in its busier direction.
function busyShares(map) {
  const busy = map.links.map(([, , forward, backward]) => Math.max(busyTime(forward), busyTime(backward))), most = Math.max(...busy, 1e-12);
  return busy.map(seconds => seconds / most);
}

function schematicDrawing(map, color, width, height) {
  const places = mapLayout(map), isReplica = new Set(map.replicas), shares = busyShares(map);
  const scaleX = Math.min(width / 2 - 70, height * 0.85), x = place => width / 2 + scaleX * place.x, y = place => height / 2 + (height / 2 - 26) * place.y;
  const drawing = element('svg:svg', {viewBox: `0 0 ${width} ${height}`, height, role: 'img', 'aria-label': 'Map of the network; the loads are in the table below'});
  map.links.forEach((link, i) => {
    const [a, b] = link.map(node => places[node]);
    drawing.append(element('svg:line', {x1: x(a), y1: y(a), x2: x(b), y2: y(b), ...lineAttributes(link, shares[i], color)}, element('svg:title', {}, directionText(map, link))));
  });
  const crowded = map.replicas.length > 40;
  map.nodes.forEach((name, i) => {
    const replica = isReplica.has(i), place = places[i];
    drawing.append(element('svg:circle', {cx: x(place), cy: y(place), r: replica ? (crowded ? 2.5 : 4) : 7, class: replica ? 'replica' : 'router'}, element('svg:title', {}, name)));
    if (replica && crowded) return;
    const right = replica === (place.x >= -0.01), beside = {x: x(place) + (right ? 9 : -9), y: y(place) + 4, 'text-anchor': right ? 'start' : 'end'};
    drawing.append(element('svg:text', replica ? beside : {...beside, class: 'name'}, shortNode(name)));
  });
  return drawing;
}

// Far below its rate, a connection's own throughput or the latency was the limit, and no link.
function bottleneckText({rows: [[link, direction, bytes, busy, rate]], alike}, simulated) {
  const full = rate ? 8 * bytes / rate / busy : null;
  const others = alike > 0 ? ` (and ${alike} other direction${alike > 1 ? 's' : ''} within 1 % of it)` : '';
  const share = full === null ? ', without a rate of its own' : `, ${formatPercent(full)} full meanwhile`;
  const limit = full === null || full < 0.5 ? ': the limit was the throughput or latency of single connections and not a link' : '';
  return `Bottleneck: ${link}, ${direction}${others}, busy ${formatDuration(busy)} of ${formatDuration(simulated)}${share}${limit}.`;
}

function mapFigure(series, {map, links, numbers}, width) {
  const small = width < 500, left = map.left_out ? ` ${map.left_out} links that were busy for less time are left out.` : '';
  return element('figure', {id: 'map'}, element('h3', {}, links.alike === null ? 'No link carried anything.' : bottleneckText(links, numbers.simulated_time_s)),
    schematicDrawing(map, series.color, width, small ? 300 : 420),
    element('figcaption', {}, `A schematic map. Thickness: how long the link carried something, in its busier direction; dashed: without a rate of its own; thin and grey: never.${left}`));
}
