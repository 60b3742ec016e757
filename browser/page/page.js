// Plans in a worker, and shows the answer.
'use strict';

const INNER_STEPS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000];  // 0: as planned

let worker = null, begun = 0, answer = null, saved = [];
let goesThere = false;  // to the answer, once it is there: not while a slider is moved

function newWorker() {
  const source = new Blob([place('program').textContent, '\n', place('worker').textContent], {type: 'text/javascript'});
  const url = URL.createObjectURL(source), made = new Worker(url);
  URL.revokeObjectURL(url);
  return made;
}

const seconds = () => `${((performance.now() - begun) / 1000).toFixed(0)} s`;

function showProgress(line) {
  const at = line.so_far ? `so far: ${line.so_far}` : `${line.phase}: ${Math.floor(line.done) + 1} of ${line.of}`;
  place('progress').textContent = `${seconds()} – ${at}`;
}

function isPlanning(yes) {
  place('plan').disabled = yes;
  place('stop').hidden = !yes;
}

function save(name, content) {
  const url = URL.createObjectURL(new Blob([content]));
  saved.push(url);
  return element('a', {href: url, download: name}, name);
}

function showAnswer(files) {
  answer = files;
  saved.forEach(url => URL.revokeObjectURL(url));
  saved = [];
  const links = Object.keys(files).sort().flatMap(name => [save(name, files[name]), ' ']);
  place('saves').replaceChildren('Save: ', ...links);
  place('answer').hidden = false;
  place('what-if').hidden = false;
  const page = place('page');
  page.onload = () => {
    // The height of what is in it; scrollHeight is never less than the frame's own.
    const fit = () => {
      page.style.height = `${Math.ceil(page.contentDocument.documentElement.getBoundingClientRect().height) + 4}px`;
    };
    fit();
    if (goesThere) place('answer').focus();
    goesThere = false;
    new ResizeObserver(fit).observe(page.contentDocument.body);
  };
  page.srcdoc = files['plan.html'];
}

function ended({status, said, files}) {
  isPlanning(false);
  place('progress').textContent = status === 0 ? `Planned in ${seconds()}.` : '';
  say(status === 0 ? '' : said.join('\n').replace(/^error: /, ''));
  if (status === 0) showAnswer(files);
  else place('answer').hidden = true;
}

function plan(request, files) {
  if (worker) worker.terminate();
  worker = newWorker();
  begun = performance.now();
  say('');
  isPlanning(true);
  place('progress').textContent = 'The planner starts.';
  worker.onmessage = ({data}) => (data.line ? showProgress(data.line) : ended(data));
  worker.onerror = event => ended({status: 1, said: [event.message], files: {}});
  worker.postMessage({name: `${state.name}.json`, text: `${JSON.stringify(request, null, 2)}\n`, files});
}

function stopPlanning() {
  worker.terminate();
  isPlanning(false);
  goesThere = false;
  place('progress').textContent = `Stopped after ${seconds()}.${answer ? ' The answer below is the one before.' : ''}`;
}

function whatIfs() {
  const rate = whyNoRates(state.request) ? 1 : 2 ** place('if-rate').value;
  return {inner: INNER_STEPS[place('if-inner').value], rate, price: Number(place('if-price').value)};
}

function showWhatIfs() {
  const {inner, rate, price} = whatIfs();
  const why = whyNoRates(state.request);
  place('if-rate').disabled = why !== '';
  place('if-rate').title = why;
  place('if-inner-value').textContent = inner || 'as planned';
  place('if-rate-value').textContent = why ? 'in files' : `× ${Number(rate.toPrecision(3))}`;
  place('if-price-value').textContent = `× ${price}`;
}

function planWhatIf() {
  showWhatIfs();
  if (hasTextError()) return;
  const {rate} = whatIfs(), files = {...state.files};
  if (files[MEASURED_TABLE] && rate !== 1) {
    const faster = Object.fromEntries(Object.entries(state.measured).map(([key, of]) =>
      [key, {...of, ...(of.one ? {one: of.one * rate} : {}), ...(of.many ? {many: of.many * rate} : {})}]));
    files[MEASURED_TABLE] = new TextEncoder().encode(measuredTable(faster, pairsOf(state.request)));
  }
  plan(whatIf(state.request, whatIfs()), files);
}

function resetWhatIfs() {
  place('if-inner').value = 0;
  place('if-rate').value = 0;
  place('if-price').value = 1;
  showWhatIfs();
}

for (const slider of ['if-inner', 'if-rate', 'if-price']) {
  place(slider).addEventListener('input', showWhatIfs);
  place(slider).addEventListener('change', planWhatIf);
}
place('if-reset').addEventListener('click', () => {
  resetWhatIfs();
  plan(state.request, state.files);
});
place('form').addEventListener('submit', event => {
  event.preventDefault();
  if (hasTextError()) {
    say(place('text-error').textContent);
    return;
  }
  resetWhatIfs();
  plan(state.request, state.files);
  goesThere = true;
});
place('stop').addEventListener('click', stopPlanning);

place('save').addEventListener('click', () => {
  if (hasTextError()) return;
  const link = save(`${state.name}.json`, planText());
  link.click();
});

place('open').addEventListener('change', async event => {
  const [file] = event.target.files;
  try {
    const request = parsedPlan(await file.text()), names = textsIn(request);
    // Files that were given before stay where this plan names them.
    const files = Object.entries(state.files).filter(([name]) => name !== MEASURED_TABLE && (names.includes(name) || measurementsOf(request).some(one => standsFor(one, name))));
    take(file.name.replace(/\.json$/, ''), request, Object.fromEntries(files));
    sayMissing();
  } catch (error) {
    say(`${file.name}: is no plan file: ${error.message}`);
  }
  event.target.value = '';
});

const MOST_LINKED = 1e6;  // letters of an address that browsers take
let ownHash = '';
place('link').addEventListener('click', () => {
  if (hasTextError()) return;
  const fragment = toFragment({name: state.name, plan: state.request, files: state.files});
  if (fragment.length > MOST_LINKED) {
    say(`The plan with its files has ${fragment.length} letters, an address at most ${MOST_LINKED}: save the plan file, and give the files beside it.`);
    return;
  }
  ownHash = `#plan=${fragment}`;
  location.hash = ownHash;
  say('');
  place('progress').textContent = 'The address of this page is now a link to this plan.';
});

// The plan of the address, where it has one.
function takeAddress() {
  const [, fragment] = location.hash.match(/^#plan=(.+)$/) || [];
  if (!fragment || location.hash === ownHash) return;
  let found = null;
  try {
    found = fromFragment(fragment);
  } catch {
    say('The address of this page has no plan that can be read behind #plan=.');
    return;
  }
  take(found.name, found.plan, found.files);
  sayMissing();
}

function askForLists() {
  const asked = newWorker();
  asked.onmessage = ({data}) => {
    if (data.line) Object.assign(lists, data.line.lists);
    else asked.terminate();
    fillLists();
  };
  asked.postMessage({lists: true});
}

change(() => {});
takeAddress();
addEventListener('hashchange', takeAddress);
showWhatIfs();
askForLists();
