// The form: its fields are places in the plan file, which stays as it was where no field changes it.
'use strict';

const place = id => document.getElementById(id);

const FIELDS = [
  {path: 'model', label: 'Model', words: 'a preset or a name', list: 'models'},
  {path: 'parameters', label: 'Parameters', words: '10B, without a model', number: 'count'},
  {path: 'tokens', label: 'Tokens', words: '20B, all nodes together', number: 'count'},
  {path: 'tokens_per_step', label: 'Tokens a step', words: 'of one node', number: 'count'},
  {path: 'accelerator.name', label: 'Accelerator', words: 'of each node', list: 'accelerators'},
  {path: 'accelerator.per_node', label: 'Accelerators a node', words: '1', number: 'count'},
  {path: 'accelerator.utilization', label: 'Utilization', words: '0.4 of the peak', number: 'any'},
  {path: 'step_time', label: 'Time of a step', words: '2.5s, where known'},
  {path: 'accelerator.price', label: 'Price an hour', words: 'of one accelerator', number: 'any'},
  {path: 'egress', label: 'Price of a GB', words: 'that leaves a site', number: 'any'},
  {path: 'currency', label: 'Currency', words: 'EUR'},
  {path: 'deadline', label: 'Deadline', words: '90d'},
  {path: 'budget', label: 'Budget', words: 'no limit', number: 'any'},
  {path: 'prefer', label: 'Prefer', words: '', list: 'preferences'},
];
const SITE_COLUMNS = [
  {key: 'name', heading: 'Name'}, {key: 'nodes', heading: 'Nodes', number: 'count'},
  {key: 'up', heading: 'Up'}, {key: 'down', heading: 'Down'},
  {key: 'latitude', heading: 'Latitude', number: 'any'}, {key: 'longitude', heading: 'Longitude', number: 'any'},
  {key: 'accelerator.name', heading: 'Accelerator', list: 'accelerators'},
  {key: 'accelerator.price', heading: 'Price an hour', number: 'any'},
  {key: 'egress', heading: 'Price of a GB', number: 'any'},
];

const state = {name: 'my-plan', request: copyOf(EXAMPLE), measured: {}, files: {}};  // files: {name: bytes}
const lists = {models: [], accelerators: [], preferences: []};

const shown = value => (value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value));

// Fields stay where they are while the plan changes, so that the focus does; they are made anew where other sites or
// files are there, or another plan.
let bound = [], made = '';

// A field of text: `read` gives what the plan file says, `changed` gets what it then says.
function field(spec, read, changed) {
  const box = element('input', {
    placeholder: spec.words || false, list: spec.list ? `list-${spec.list}` : false, inputmode: spec.number ? 'decimal' : false,
    'aria-label': spec.said || false,
    onchange: event => {
      const text = event.target.value;
      change(() => changed(spec.number ? numberOf(text, spec.number === 'count') : text.trim() || undefined));
    },
  });
  bound.push(() => {
    const value = read();
    box.value = shown(value);
    box.disabled = value !== null && typeof value === 'object';
    box.title = box.disabled ? 'see the plan file below' : '';
  });
  return box;
}

function makeFields() {
  place('fields').replaceChildren(...FIELDS.map(spec => element('label', {}, spec.label,
    field(spec, () => get(state.request, spec.path), value => set(state.request, spec.path, value)))));
}

// A site's ways out: `rate` is of both.
function setWay(site, key, value) {
  const both = {up: site.up ?? site.rate, down: site.down ?? site.rate, [key]: value};
  for (const name of ['rate', 'up', 'down']) delete site[name];
  if (both.up !== undefined && both.up === both.down) site.rate = both.up;
  else for (const name of ['up', 'down']) if (both[name] !== undefined) site[name] = both[name];
}

// Round trips, prices and measurements follow a site to its new name, if no other has it.
function renameSite(site, name = '') {
  const before = site.name;
  if (sitesOf(state.request).some(other => other !== site && other.name === name)) {
    say(`There is a site ${name} already.`);
    return;
  }
  say('');
  site.name = name;
  renameInPlan(state.request, before, name);
  state.measured = Object.fromEntries(Object.entries(state.measured).map(([key, value]) =>
    [keyOf(JSON.parse(key).map(end => (end === before ? name : end))), value]));
}

function removeSite(site) {
  state.request.sites = state.request.sites.filter(other => other !== site);
  if (Array.isArray(state.request.paths))
    state.request.paths = state.request.paths.filter(path => !isObject(path) || !Array.isArray(path.between) || !path.between.includes(site.name));
  state.measured = Object.fromEntries(Object.entries(state.measured).filter(([key]) => !JSON.parse(key).includes(site.name)));
}

function siteCell(site, spec) {
  const isWay = spec.key === 'up' || spec.key === 'down';
  const said = `${spec.heading} of ${site.name}`, words = spec.key.startsWith('accelerator') || spec.key === 'egress' ? 'as above' : '';
  return field({...spec, said, words}, () => (isWay ? site[spec.key] ?? site.rate : get(site, spec.key)), value => {
    if (spec.key === 'name') renameSite(site, value);
    else if (isWay) setWay(site, spec.key, value);
    else set(site, spec.key, value);
  });
}

function makeSites() {
  const drop = site => element('button', {type: 'button', 'aria-label': `Remove ${site.name}`, onclick: () => change(() => removeSite(site))}, '×');
  place('sites').replaceChildren(
    element('thead', {}, element('tr', {}, ...SITE_COLUMNS.map(spec => element('th', {scope: 'col'}, spec.heading)), element('th', {}, ''))),
    element('tbody', {}, ...sitesOf(state.request).map(site => element('tr', {},
      ...SITE_COLUMNS.map(spec => element('td', {}, siteCell(site, spec))), element('td', {}, drop(site))))));
}

function linkCell(pair, heading, words, read, changed) {
  return element('td', {}, field({said: `${heading} between ${pair.join(' and ')}`, words}, read, changed));
}

function makeLinks() {
  const pairs = pairsOf(state.request), headings = ['Sites', 'Round trip', 'One connection, Mb/s', 'Several, Mb/s', 'So many'];
  place('links-part').hidden = pairs.length === 0;
  place('links').replaceChildren(
    element('thead', {}, element('tr', {}, ...headings.map(heading => element('th', {scope: 'col'}, heading)))),
    element('tbody', {}, ...pairs.map(pair => {
      const key = keyOf(pair), measured = (heading, words, name) => linkCell(pair, heading, words, () => (state.measured[key] || {})[name], text => {
        state.measured[key] = {...state.measured[key], [name]: text};
      });
      return element('tr', {}, element('td', {}, pair.join(' – ')),
        linkCell(pair, headings[1], 'great circle', () => (pathOf(state.request, pair) || {}).rtt, text => setRoundTrip(state.request, pair, text)),
        measured(headings[2], 'not measured', 'one'), measured(headings[3], '', 'many'), measured(headings[4], '8', 'streams'));
    })));
}

function removeFile(name) {
  delete state.files[name];
  setMeasurements(measurementsOf(state.request).filter(file => file !== name));
}

function makeFiles() {
  place('files').replaceChildren(...Object.keys(state.files).filter(name => name !== MEASURED_TABLE).map(name =>
    element('li', {}, `${name} (${Math.ceil(state.files[name].length / 1000)} kB) `,
      element('button', {type: 'button', 'aria-label': `Remove ${name}`, onclick: () => change(() => removeFile(name))}, '×'))));
}

// One name stays a text, as it was.
function setMeasurements(names) {
  if (JSON.stringify(names) === JSON.stringify(measurementsOf(state.request))) return;
  if (names.length > 0) state.request.measurements = names;
  else delete state.request.measurements;
}

// The page's own table of measurements stands in a file beside the plan, as anybody's does.
function writeMeasuredTable() {
  const table = measuredTable(state.measured, pairsOf(state.request)), named = measurementsOf(state.request);
  if (table) {
    state.files[MEASURED_TABLE] = new TextEncoder().encode(table);
    if (!named.includes(MEASURED_TABLE)) setMeasurements([...named, MEASURED_TABLE]);
  } else if (MEASURED_TABLE in state.files) {
    removeFile(MEASURED_TABLE);
  }
}

const planText = () => `${JSON.stringify(state.request, null, 2)}\n`;
const hasTextError = () => !place('text-error').hidden;

// Everything but the text, which the user may be writing.
function fillForm() {
  const now = JSON.stringify([sitesOf(state.request).map(site => site.name), Object.keys(state.files)]);
  if (now !== made) {
    bound = [];
    for (const make of [makeFields, makeSites, makeLinks, makeFiles]) make();
    made = now;
  }
  bound.forEach(fill => fill());
}

function change(how) {
  how();
  writeMeasuredTable();
  fillForm();
  place('text').value = planText();
  place('text-error').hidden = true;
}

// Takes a plan file, with the files beside it.
function take(name, request, files) {
  Object.assign(state, {name: name.replaceAll('/', '-'), request, files: {...files}});
  const table = MEASURED_TABLE in files ? new TextDecoder().decode(files[MEASURED_TABLE]) : '';
  state.measured = table.startsWith(`${MEASURED_HEADER}\n`) ? measuredOf(table) : {};
  made = '';
  change(() => {});
}

place('text').addEventListener('change', () => {
  let request = null;
  try {
    request = parsedPlan(place('text').value);
  } catch (error) {
    place('text-error').textContent = `This is no plan file: ${error.message}`;
    place('text-error').hidden = false;
    return;
  }
  made = '';
  change(() => {
    state.request = request;
  });
});

place('add-site').addEventListener('click', () => change(() => {
  if (!Array.isArray(state.request.sites)) state.request.sites = [];
  place('network-replaced').hidden = state.request.network === undefined;
  delete state.request.network;
  if (state.request.sites.length === 0) delete state.request.nodes;  // then what the sites add up to
  const names = sitesOf(state.request).map(site => site.name);
  let number = names.length + 1;
  while (names.includes(`Site ${number}`)) ++number;
  state.request.sites.push({name: `Site ${number}`, nodes: 1, rate: '1Gbps'});
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
    const named = measurementsOf(state.request), new_ones = added.map(([name]) => name).filter(name => !named.some(one => standsFor(one, name)));
    if (areMeasurements) setMeasurements([...named, ...new_ones]);
  });
  sayMissing();
}
place('measurements').addEventListener('change', event => addFiles(event.target, true));
place('others').addEventListener('change', event => addFiles(event.target, false));

function say(error) {
  place('error').textContent = error.replaceAll(MEASURED_TABLE, 'the table between the sites');
  place('error').hidden = error === '';
}

function sayMissing() {
  const missing = missingIn(state.request, state.files);
  say(missing.length > 0 ? `Give the files that this plan names as measurements: ${missing.join(', ')}` : '');
}

function fillLists() {
  for (const [name, words] of Object.entries(lists)) {
    const list = place(`list-${name}`) || document.body.appendChild(element('datalist', {id: `list-${name}`}));
    list.replaceChildren(...words.map(word => element('option', {value: word})));
  }
}
