// A plan file as an object, and what the page does to one. Nothing here knows the page.
'use strict';

// What the page begins with: scenarios/plans/sites.json of the sources, shorter.
const EXAMPLE = {
  model: 'llama-medium',
  tokens: 20000000000,
  tokens_per_step: 65536,
  accelerator: {name: 'RTX-4090', per_node: 8, price: 0.4},
  egress: 0.02,
  sites: [
    {name: 'Oslo', nodes: 4, rate: '1Gbps', latitude: 59.91, longitude: 10.75},
    {name: 'Paris', nodes: 3, rate: '2Gbps', latitude: 48.86, longitude: 2.35},
    {name: 'Montreal', nodes: 2, up: '500Mbps', down: '2Gbps', latitude: 45.5, longitude: -73.57},
  ],
};
const MEASURED_TABLE = 'links.csv';  // of what the page's own table has measured

const copyOf = value => JSON.parse(JSON.stringify(value));

// get({a: {b: 1}}, 'a.b')
function get(object, path) {
  return path.split('.').reduce((inner, key) => (inner && typeof inner === 'object' ? inner[key] : undefined), object);
}

// Sets it, or takes it away where `value` is undefined, with the objects that it leaves empty.
function set(object, path, value) {
  const [key, ...rest] = path.split('.');
  if (rest.length === 0) {
    if (value === undefined) delete object[key];
    else object[key] = value;
    return;
  }
  if (!object[key] || typeof object[key] !== 'object') {
    if (value === undefined) return;
    object[key] = {};
  }
  set(object[key], rest.join('.'), value);
  if (Object.keys(object[key]).length === 0) delete object[key];
}

// "20B", "2e12", "65,536": a number; anything else stays what was typed, and the planner says what is wrong with it.
function numberOf(text) {
  const plain = text.trim().replace(/,(?=\d{3}\b)/g, '');
  if (plain === '') return undefined;
  const found = plain.match(/^([+-]?[\d.]+(?:e[+-]?\d+)?)\s*([kKMGBT]?)$/i);
  if (!found || Number.isNaN(Number(found[1]))) return text;
  const unit = {'': 0, k: 3, m: 6, g: 9, b: 9, t: 12}[found[2].toLowerCase()];
  return Number(unit ? `${found[1]}e${unit}`.replace(/e([+-]?\d+)e(\d+)$/i, (all, one, two) => `e${Number(one) + Number(two)}`) : found[1]);
}

// "2.5Gbps" times a factor, in the same unit; what is no such text stays.
function timesRate(text, factor) {
  const found = typeof text === 'string' && text.trim().match(/^([\d.]+(?:e[+-]?\d+)?)\s*([A-Za-z/]+)$/);
  return found ? `${Number((Number(found[1]) * factor).toPrecision(12))}${found[2]}` : text;
}

// [["Oslo", "Paris"], ...] in the order of the sites.
function pairsOf(request) {
  const names = (request.sites || []).map(site => site.name);
  return names.flatMap((name, at) => names.slice(at + 1).map(other => [name, other]));
}

const pathOf = (request, pair) => (request.paths || []).find(
  path => Array.isArray(path.between) && pair.every(name => path.between.includes(name)));

function setRoundTrip(request, pair, rtt) {
  const others = (request.paths || []).filter(path => path !== pathOf(request, pair));
  const paths = rtt ? [...others, {between: pair, rtt}] : others;
  if (paths.length > 0) request.paths = paths;
  else delete request.paths;
}

// All texts in it.
const textsIn = value => (typeof value === 'string' ? [value] : value && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : []);

// As the plan names a file of this name: "iperf3/oslo-paris.json" of "oslo-paris.json".
const namedAs = (request, name) => textsIn(request).find(text => text.endsWith(`/${name}`)) || name;

// What was measured: {"Oslo|Paris": {one, many, streams}} in Mb/s, as a table that the planner reads.
const keyOf = pair => pair.join('|');
const cell = text => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function measuredTable(measured, pairs) {
  const rows = [];
  for (const pair of pairs) {
    const {one, many, streams} = measured[keyOf(pair)] || {};
    const ends = pair.map(cell).join(',');
    if (one) rows.push(`${ends},${one},1`);
    if (many) rows.push(`${ends},${many},${streams || 8}`);
  }
  return rows.length > 0 ? ['from,to,rate_mbps,streams', ...rows, ''].join('\n') : '';
}

function measuredOf(table) {
  const measured = {};
  for (const line of table.split('\n').slice(1).filter(text => text !== '')) {
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)]
      .map(([, quoted, plain]) => (quoted === undefined ? plain : quoted.replaceAll('""', '"')));
    const [from, to, rate, streams] = cells, key = keyOf([from, to]);
    measured[key] = {...measured[key], ...(streams === '1' ? {one: rate} : {many: rate, streams})};
  }
  return measured;
}

// The same plan with another H, and with its rates and prices times a factor.
function whatIf(request, {inner, rate, price}) {
  const changed = copyOf(request);
  if (inner) set(changed, 'candidates.inner_steps', [inner]);
  for (const site of changed.sites || [])
    for (const key of ['rate', 'up', 'down']) if (key in site) site[key] = timesRate(site[key], rate);
  for (const priced of [changed.accelerator, ...(changed.sites || []).map(site => site.accelerator)])
    if (priced && typeof priced.price === 'number') priced.price *= price;
  if (typeof changed.egress === 'number') changed.egress *= price;
  else if (changed.egress && typeof changed.egress === 'object') {
    if (typeof changed.egress.price === 'number') changed.egress.price *= price;
    for (const name of Object.keys(changed.egress.sites || {})) changed.egress.sites[name] *= price;
  }
  for (const site of changed.sites || []) if (typeof site.egress === 'number') site.egress *= price;
  return changed;
}

// A plan with the files beside it as the part of an address behind #, and back.
const toFragment = state => btoa(Array.from(new TextEncoder().encode(JSON.stringify(state)), byte => String.fromCodePoint(byte)).join(''))
  .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const fromFragment = text => JSON.parse(new TextDecoder().decode(
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.codePointAt(0))));
