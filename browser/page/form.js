// The form: its fields are places in the plan file, which stays as it was where no field changes it.
'use strict';

const place = id => document.getElementById(id);

const FIELDS = [
  {path: 'model', label: 'Model', words: 'a preset or a name', list: 'models'},
  {path: 'parameters', label: 'Parameters', words: '10B, without a model', number: true},
  {path: 'tokens', label: 'Tokens', words: '20B, all nodes together', number: true},
  {path: 'tokens_per_step', label: 'Tokens a step', words: 'of one node', number: true},
  {path: 'accelerator.name', label: 'Accelerator', words: 'of each node', list: 'accelerators'},
  {path: 'accelerator.per_node', label: 'Accelerators a node', words: '1', number: true},
  {path: 'accelerator.utilization', label: 'Utilization', words: '0.4 of the peak', number: true},
  {path: 'step_time', label: 'Time of a step', words: '2.5s, where known'},
  {path: 'accelerator.price', label: 'Price an hour', words: 'of one accelerator', number: true},
  {path: 'egress', label: 'Price of a GB', words: 'that leaves a site', number: true},
  {path: 'currency', label: 'Currency', words: 'EUR'},
  {path: 'deadline', label: 'Deadline', words: '90d'},
  {path: 'budget', label: 'Budget', words: 'no limit', number: true},
  {path: 'prefer', label: 'Prefer', words: '', list: 'preferences'},
];
const SITE_COLUMNS = [
  {key: 'name', heading: 'Name'}, {key: 'nodes', heading: 'Nodes', number: true},
  {key: 'up', heading: 'Up'}, {key: 'down', heading: 'Down'},
  {key: 'latitude', heading: 'Latitude', number: true}, {key: 'longitude', heading: 'Longitude', number: true},
  {key: 'accelerator.name', heading: 'Accelerator', list: 'accelerators'},
  {key: 'accelerator.price', heading: 'Price an hour', number: true},
  {key: 'egress', heading: 'Price of a GB', number: true},
];

const state = {name: 'my-plan', request: copyOf(EXAMPLE), measured: {}, files: {}};  // files: {name: bytes}
const lists = {models: [], accelerators: [], preferences: []};

const shown = value => (value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value));

// A field of text; `changed` gets what the plan file then says.
function field(spec, value, changed) {
  const given = value !== undefined && typeof value === 'object';
  const box = element('input', {
    value: shown(value), placeholder: spec.words || false, list: spec.list ? `list-${spec.list}` : false,
    inputmode: spec.number ? 'decimal' : false, disabled: given, title: given ? 'see the plan file below' : false,
    'aria-label': spec.said || false,
    onchange: event => changed(spec.number ? numberOf(event.target.value) : event.target.value.trim() || undefined),
  });
  return box;
}

function fillFields() {
  place('fields').replaceChildren(...FIELDS.map(spec => element('label', {}, spec.label,
    field(spec, get(state.request, spec.path), value => change(() => set(state.request, spec.path, value))))));
}

// A site's ways out: `rate` is of both.
function setWay(site, key, value) {
  const both = {up: site.up ?? site.rate, down: site.down ?? site.rate, [key]: value};
  for (const name of ['rate', 'up', 'down']) delete site[name];
  if (both.up !== undefined && both.up === both.down) site.rate = both.up;
  else for (const name of ['up', 'down']) if (both[name] !== undefined) site[name] = both[name];
}

// What names a site goes on with its new name.
function renameSite(site, name) {
  const before = site.name;
  site.name = name || '';
  for (const path of state.request.paths || [])
    if (Array.isArray(path.between)) path.between = path.between.map(end => (end === before ? site.name : end));
  state.measured = Object.fromEntries(Object.entries(state.measured).map(([key, value]) =>
    [keyOf(key.split('|').map(end => (end === before ? site.name : end))), value]));
}

function siteCell(site, spec) {
  const value = spec.key === 'up' || spec.key === 'down' ? site[spec.key] ?? site.rate : get(site, spec.key);
  const said = `${spec.heading} of ${site.name}`, words = spec.key.startsWith('accelerator') || spec.key === 'egress' ? 'as above' : '';
  return field({...spec, said, words}, value, changed => change(() => {
    if (spec.key === 'name') renameSite(site, changed);
    else if (spec.key === 'up' || spec.key === 'down') setWay(site, spec.key, changed);
    else set(site, spec.key, changed);
  }));
}

function fillSites() {
  const sites = state.request.sites || [];
  const drop = site => element('button', {type: 'button', 'aria-label': `Remove ${site.name}`, onclick: () => change(() => {
    state.request.sites = sites.filter(other => other !== site);
    if (state.request.paths) state.request.paths = state.request.paths.filter(path => !path.between.includes(site.name));
  })}, '×');
  place('sites').replaceChildren(
    element('thead', {}, element('tr', {}, ...SITE_COLUMNS.map(spec => element('th', {scope: 'col'}, spec.heading)), element('th', {}, ''))),
    element('tbody', {}, ...sites.map(site => element('tr', {},
      ...SITE_COLUMNS.map(spec => element('td', {}, siteCell(site, spec))), element('td', {}, drop(site))))));
}

function linkCell(pair, heading, value, words, changed) {
  return element('td', {}, field({said: `${heading} between ${pair.join(' and ')}`, words}, value, text => change(() => changed(text))));
}

function fillLinks() {
  const pairs = pairsOf(state.request), headings = ['Sites', 'Round trip', 'One connection, Mb/s', 'Several, Mb/s', 'So many'];
  place('links-part').hidden = pairs.length === 0;
  place('links').replaceChildren(
    element('thead', {}, element('tr', {}, ...headings.map(heading => element('th', {scope: 'col'}, heading)))),
    element('tbody', {}, ...pairs.map(pair => {
      const of = state.measured[keyOf(pair)] || {}, measure = key => text => {
        state.measured[keyOf(pair)] = {...of, [key]: text};
      };
      return element('tr', {}, element('td', {}, pair.join(' – ')),
        linkCell(pair, headings[1], (pathOf(state.request, pair) || {}).rtt, 'great circle', text => setRoundTrip(state.request, pair, text)),
        linkCell(pair, headings[2], of.one, 'not measured', measure('one')),
        linkCell(pair, headings[3], of.many, '', measure('many')), linkCell(pair, headings[4], of.streams, '8', measure('streams')));
    })));
}

function fillFiles() {
  place('files').replaceChildren(...Object.keys(state.files).filter(name => name !== MEASURED_TABLE).map(name =>
    element('li', {}, `${name} (${Math.ceil(state.files[name].length / 1000)} kB) `, element('button', {
      type: 'button', 'aria-label': `Remove ${name}`, onclick: () => change(() => {
        delete state.files[name];
        setMeasurements(measurementsOf(state.request).filter(file => file !== name));
      })}, '×'))));
}

const measurementsOf = request => (request.measurements === undefined ? [] : [request.measurements].flat());

function setMeasurements(names) {
  if (names.length > 0) state.request.measurements = names;
  else delete state.request.measurements;
}

// The page's own table of measurements stands in a file beside the plan, as anybody's does.
function writeMeasuredTable() {
  const table = measuredTable(state.measured, pairsOf(state.request)), named = measurementsOf(state.request);
  delete state.files[MEASURED_TABLE];
  if (table) state.files[MEASURED_TABLE] = new TextEncoder().encode(table);
  if (!table) setMeasurements(named.filter(file => file !== MEASURED_TABLE));
  else if (!named.includes(MEASURED_TABLE)) setMeasurements([...named, MEASURED_TABLE]);
}

const planText = () => `${JSON.stringify(state.request, null, 2)}\n`;

// Everything but the text, which the user may be writing.
function fillForm() {
  fillFields();
  fillSites();
  fillLinks();
  fillFiles();
}

function change(how) {
  how();
  writeMeasuredTable();
  keepingFocus(place('form'), fillForm, 'input, button');
  place('text').value = planText();
  place('text-error').hidden = true;
}

// Takes a plan file, with the files beside it.
function take(name, request, files = {}) {
  Object.assign(state, {name, request, files});
  const table = files[MEASURED_TABLE];
  state.measured = table ? measuredOf(new TextDecoder().decode(table)) : {};
  change(() => {});
}

function parsed(text) {
  const request = JSON.parse(text);
  if (!request || typeof request !== 'object' || Array.isArray(request)) throw new Error('it is no object {…}');
  return request;
}

place('text').addEventListener('change', () => {
  try {
    const request = parsed(place('text').value);
    change(() => {
      state.request = request;
    });
  } catch (error) {
    place('text-error').textContent = `This is no JSON: ${error.message}`;
    place('text-error').hidden = false;
  }
});

place('add-site').addEventListener('click', () => change(() => {
  const sites = state.request.sites || (state.request.sites = []);
  delete state.request.network;
  sites.push({name: `Site ${sites.length + 1}`, nodes: 1, rate: '1Gbps'});
}));

// Its bytes, without gzip's packing.
async function unpacked(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const plain = new Response(bytes).body.pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

async function addFiles(input, areMeasurements) {
  const added = [];
  for (const file of input.files) added.push([namedAs(state.request, file.name), await unpacked(file)]);
  input.value = '';
  change(() => {
    for (const [name, bytes] of added) state.files[name] = bytes;
    if (areMeasurements) setMeasurements([...new Set([...measurementsOf(state.request), ...added.map(([name]) => name)])]);
  });
}
place('measurements').addEventListener('change', event => addFiles(event.target, true));
place('others').addEventListener('change', event => addFiles(event.target, false));

function fillLists() {
  for (const [name, words] of Object.entries(lists)) {
    const list = place(`list-${name}`) || document.body.appendChild(element('datalist', {id: `list-${name}`}));
    list.replaceChildren(...words.map(word => element('option', {value: word})));
  }
}
