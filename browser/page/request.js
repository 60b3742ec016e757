// A plan file as an object, and what the page does to one. Nothing here knows the page. A plan that somebody else wrote
// may have any JSON in any place: what is not of its kind is passed over, and the planner says what is wrong.
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
// The file of what the page's own table has measured, and its first line.
const MEASURED_TABLE = 'measured-on-the-page.csv', MEASURED_HEADER = 'from,to,rate_mbps,streams';

const copyOf = value => JSON.parse(JSON.stringify(value));
const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value);
const objectsIn = list => (Array.isArray(list) ? list.filter(isObject) : []);

// Throws Error where the text is no JSON object.
function parsedPlan(text) {
  const request = JSON.parse(text);
  if (!isObject(request)) throw new Error('a plan file is an object {…}');
  return request;
}

// get({a: {b: 1}}, 'a.b')
function get(object, path) {
  return path.split('.').reduce((inner, key) => (isObject(inner) ? inner[key] : undefined), object);
}

// Sets it, or takes it away where `value` is undefined, with the objects that it leaves empty.
function set(object, path, value) {
  const [key, ...rest] = path.split('.');
  if (rest.length === 0) {
    if (value === undefined) delete object[key];
    else object[key] = value;
    return;
  }
  if (!isObject(object[key])) {
    if (value === undefined) return;
    object[key] = {};
  }
  set(object[key], rest.join('.'), value);
  if (Object.keys(object[key]).length === 0) delete object[key];
}

// "20B", "2e12", "0.4": a number; of counts "65,536" too. Anything else stays what was typed, and the planner says what
// is wrong with it.
function numberOf(text, isCount = false) {
  const written = text.trim();
  if (written === '') return undefined;
  const plain = isCount && /^[1-9]\d{0,2}(,\d{3})+$/.test(written) ? written.replaceAll(',', '') : written;
  const found = plain.match(/^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([kMGBT]?)$/i);
  if (!found) return text;
  const power = {'': 0, k: 3, m: 6, g: 9, b: 9, t: 12}[found[2].toLowerCase()], [mantissa, exponent = '0'] = found[1].toLowerCase().split('e');
  const value = Number(`${mantissa}e${Number(exponent) + power}`);
  return Number.isFinite(value) ? value : text;
}

// "2.5Gbps" times a factor, in the same unit; what is no such text stays.
function timesRate(text, factor) {
  const found = typeof text === 'string' && text.trim().match(/^([\d.]+(?:e[+-]?\d+)?)\s*([A-Za-z/]+)$/);
  return found ? `${Number((Number(found[1]) * factor).toPrecision(12))}${found[2]}` : text;
}

const sitesOf = request => objectsIn(request.sites);

// [["Oslo", "Paris"], ...] in the order of the sites.
function pairsOf(request) {
  const names = sitesOf(request).map(site => String(site.name));
  return names.flatMap((name, at) => names.slice(at + 1).map(other => [name, other]));
}

const pathOf = (request, pair) => objectsIn(request.paths).find(
  path => Array.isArray(path.between) && pair.every(name => path.between.includes(name)));

function setRoundTrip(request, pair, rtt) {
  const before = pathOf(request, pair), others = (Array.isArray(request.paths) ? request.paths : []).filter(path => path !== before);
  const paths = rtt ? [...others, {between: pair, rtt}] : others;
  if (paths.length > 0) request.paths = paths;
  else delete request.paths;
}

// All that names a site has its new name.
function renameInPlan(request, before, name) {
  for (const path of objectsIn(request.paths))
    if (Array.isArray(path.between)) path.between = path.between.map(end => (end === before ? name : end));
  for (const fault of objectsIn(request.faults)) if (fault.site === before) fault.site = name;
  const prices = get(request, 'egress.sites');
  if (isObject(prices) && before in prices) {
    prices[name] = prices[before];
    delete prices[before];
  }
}

// All texts in it.
const textsIn = value => (typeof value === 'string' ? [value] : value && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : []);

const measurementsOf = request => [request.measurements].flat().filter(file => typeof file === 'string');

const isPattern = name => /[*?[]/.test(name);
// Whether a measurement's name stands for a file of this path: itself, its folder, or a pattern of its folder.
function standsFor(named, path) {
  if (named === path || path.startsWith(`${named.replace(/\/$/, '')}/`)) return true;
  if (!isPattern(named)) return false;
  const letters = named.replace(/[.+^${}()|\\]/g, '\\$&').replace(/\*\*\//g, '\0').replace(/\*/g, '[^/]*').replace(/\?/g, '[^/]').replace(/\0/g, '(?:.*/)?');
  return new RegExp(`^${letters}$`).test(path);
}

// Where a file of this name belongs: "iperf3/oslo-paris.json" of "oslo-paris.json", if the plan names it so, or has a
// folder or a pattern of measurements that it may be of.
function namedAs(request, name) {
  const exactly = textsIn(request).find(text => text.endsWith(`/${name}`));
  if (exactly) return exactly;
  for (const named of measurementsOf(request)) {
    const folder = isPattern(named) ? named.slice(0, named.lastIndexOf('/') + 1) : `${named.replace(/\/$/, '')}/`;
    const isFolder = isPattern(named) ? !isPattern(folder) : !/\.\w+$/.test(named);
    if (isFolder && standsFor(named, folder + name)) return folder + name;
  }
  return name;
}

// Measurements that the plan names and no file stands for.
const missingIn = (request, files) => measurementsOf(request).filter(named => !Object.keys(files).some(path => standsFor(named, path)));

// What was measured: {keyOf(["Oslo", "Paris"]): {one, many, streams}} in Mb/s, as a table that the planner reads.
const keyOf = pair => JSON.stringify([...pair].sort());
const cell = text => (/[",\n]/.test(text) ? `"${String(text).replaceAll('"', '""')}"` : String(text));

function measuredTable(measured, pairs) {
  const rows = [];
  for (const pair of pairs) {
    const {one, many, streams} = measured[keyOf(pair)] || {};
    if (one) rows.push([...pair, one, 1]);
    if (many) rows.push([...pair, many, streams || 8]);
  }
  return rows.length > 0 ? [MEASURED_HEADER, ...rows.map(row => row.map(cell).join(',')), ''].join('\n') : '';
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

// Why rates cannot be changed here; '' where they can.
function whyNoRates(request) {
  if (measurementsOf(request).some(file => file !== MEASURED_TABLE)) return 'The rates stand in files of measurements.';
  const topology = get(request, 'network.topology');
  if (isObject(topology) && ('regions' in topology || 'graphml' in topology)) return 'The rates stand in the file of the network.';
  if (sitesOf(request).length === 0 && sameJson(whatIf(request, {inner: 0, rate: 2, price: 1}), request))
    return 'The plan says no rates, and the network has its own.';
  return '';
}

const sameJson = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// All rates of links in a network's section; those of homes are medians.
function scaleRates(value, factor) {
  if (Array.isArray(value)) value.forEach(inner => scaleRates(inner, factor));
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value))
    if (/^(\w*_)?rate$|^up$|^down$|^trunk$|^median$|^floor$/.test(key) && key !== 'host_rate' && typeof inner === 'string') value[key] = timesRate(inner, factor);
    else scaleRates(inner, factor);
}

// The same plan with another H, and with its rates and prices times a factor.
function whatIf(request, {inner, rate, price}) {
  const changed = copyOf(request), sites = sitesOf(changed);
  if (inner) {
    set(changed, 'candidates.inner_steps', [inner]);
    const methods = get(changed, 'candidates.methods');
    if (Array.isArray(methods)) for (const method of methods) if (isObject(method)) delete method.inner_steps;
  }
  for (const site of sites)
    for (const key of ['rate', 'up', 'down']) if (key in site) site[key] = timesRate(site[key], rate);
  if (sites.length > 0 && rate !== 1) changed.node_rate = timesRate(changed.node_rate === undefined ? '10Gbps' : changed.node_rate, rate);
  scaleRates(changed.network, rate);
  for (const priced of [changed.accelerator, ...sites.map(site => site.accelerator)])
    if (isObject(priced) && typeof priced.price === 'number') priced.price *= price;
  for (const priced of [changed, ...sites]) if (typeof priced.egress === 'number') priced.egress *= price;
  if (isObject(changed.egress)) {
    if (typeof changed.egress.price === 'number') changed.egress.price *= price;
    if (isObject(changed.egress.sites))
      for (const [name, each] of Object.entries(changed.egress.sites)) if (typeof each === 'number') changed.egress.sites[name] = each * price;
  }
  return changed;
}

// Bytes as text and back.
const toBase64 = bytes => btoa(Array.from(bytes, byte => String.fromCodePoint(byte)).join(''));
const fromBase64 = text => Uint8Array.from(atob(text), letter => letter.codePointAt(0));

// A plan with the files beside it as the part of an address behind #, and back: {name, plan, files: {name: bytes}}.
function toFragment({name, plan, files}) {
  const packed = Object.fromEntries(Object.entries(files).map(([file, bytes]) => [file, toBase64(bytes)]));
  const text = toBase64(new TextEncoder().encode(JSON.stringify({name, plan, files: packed})));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromFragment(text) {
  const bytes = fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
  const {name, plan, files = {}} = JSON.parse(new TextDecoder().decode(bytes));
  return {name: String(name || 'my-plan'), plan: parsedPlan(JSON.stringify(plan)),
    files: Object.fromEntries(Object.entries(files).map(([file, packed]) => [file, fromBase64(packed)]))};
}
