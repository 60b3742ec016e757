// The page: fills the parts that never change, and redraws the rest when a choice is made.
'use strict';

function fillHeader() {
  document.getElementById('name').textContent = DATA.runs.map((_, i) => runName(i)).join(' · ');
  if (!MANY_RUNS) document.getElementById('description').textContent = DATA.runs[0].description;
  const notes = [...DATA.problems, ...DATA.runs.flatMap((run, i) => run.notes.map(note => (MANY_RUNS ? `${runName(i)}: ${note}` : note)))];
  document.getElementById('notes').append(...notes.map(note => element('p', {class: 'note'}, note)));
}

function fillWords() {
  const place = document.getElementById('words');
  DATA.runs.forEach((run, i) => {
    if (MANY_RUNS) place.append(element('h3', {}, runName(i)), element('p', {}, run.description));
    place.append(element('dl', {}, ...run.words.flatMap(({term, text}) => [element('dt', {}, term), element('dd', {}, text)])));
  });
}

function fillClaims() {
  const items = DATA.runs.flatMap((run, i) => claimItems(run.claims, MANY_RUNS ? `${runName(i)}: ` : ''));
  document.getElementById('claims').hidden = items.length === 0;
  document.getElementById('verdicts').append(...items);
}

function fillOrigin() {
  const place = document.getElementById('manifests');
  const about = [['Command', 'command'], ['Version', 'version'], ['Host', 'host'], ['Started', 'started'], ['Status', 'status']];
  DATA.runs.forEach((run, i) => {
    if (MANY_RUNS) place.append(element('h3', {}, runName(i)));
    if (run.manifest.command) place.append(element('pre', {class: 'command'}, run.manifest.command));
    const facts = about.slice(1).filter(([, key]) => run.manifest[key]).flatMap(([term, key]) =>
      [element('dt', {}, term), element('dd', {}, String(run.manifest[key]))]);
    if (run.manifest.commit) facts.splice(2, 0, element('dt', {}, 'Commit'), element('dd', {}, run.manifest.commit));
    if (run.corpora.length)
      facts.push(element('dt', {}, run.corpora.length > 1 ? 'Corpora' : 'Corpus'), element('dd', {}, `${run.corpora.join(', ')} (FNV-1a; losses compare within one corpus only)`));
    if (run.manifest.build)
      facts.push(element('dt', {}, 'Build'), element('dd', {}, Object.values(run.manifest.build).join(', ')));
    if (typeof run.manifest.wall_s === 'number')
      facts.push(element('dt', {}, 'Wall time'), element('dd', {}, formatDuration(run.manifest.wall_s)));
    facts.push(element('dt', {}, 'Run directory'), element('dd', {}, run.folder));
    place.append(element('dl', {}, ...facts));
    if (run.scenario)
      place.append(element('details', {}, element('summary', {}, 'The whole scenario, with every default'),
        element('pre', {tabindex: 0}, JSON.stringify(run.scenario, null, 2))));
  });
}

function fillChoices(all) {
  const form = document.getElementById('choices');
  const toggles = all.map(series => checkBox(series.name, !CHOICE.hidden[series.name], shown => {
    CHOICE.hidden[series.name] = !shown;
    drawCharts(all);
  }, swatch(series.color)));
  form.replaceChildren(element('fieldset', {}, element('legend', {}, 'Methods'), ...toggles));
}

function fillView() {
  const form = document.getElementById('view');
  form.hidden = VIEWS.length < 2;
  form.append(selectBox(MANY_RUNS ? 'Run and sweep point' : 'Sweep point', VIEWS.map((view, i) => [String(i), view.label]),
    String(CHOICE.view), value => {
      CHOICE.view = Number(value);
      draw();
    }));
}

function drawCharts(all) {
  const shown = all.filter(series => !CHOICE.hidden[series.name]);
  for (const chart of CHARTS) chart.draw(shown);
  const figures = [...document.querySelectorAll('#charts > figure')];
  const visible = figures.filter(figure => !figure.hidden);
  for (const figure of figures) figure.classList.toggle('last-alone', visible.length % 2 === 1 && figure === visible[visible.length - 1]);
  drawSweep(VIEWS[CHOICE.view], CHOICE.hidden);
  drawLanes(shown);
  drawLinks(shown);
}

function draw() {
  const view = VIEWS[CHOICE.view];
  if (!view) return;
  const all = seriesOf(view);
  fillChoices(all);
  drawResults(view);
  drawEqual(view);
  drawCharts(all);
}

function start() {
  themeCharts();
  fillHeader();
  fillWords();
  fillConclusions();
  fillClaims();
  fillOrigin();
  if (!DATA.cases.some(one => one.curve))
    document.getElementById('charts').before(element('p', {class: 'quiet'}, 'Nothing was trained, or no training has finished: there are no losses to show.'));
  document.getElementById('charts').append(...CHARTS.map(chartFigure));
  for (const form of document.forms) form.addEventListener('submit', event => event.preventDefault());
  fillView();
  if (DATA.cases.length === 0)
    for (const id of ['results', 'pictures', 'sweep', 'outer-step', 'links']) document.getElementById(id).hidden = true;
  draw();
  drawClaims();
  const redraw = () => {
    themeCharts();
    draw();
    drawClaims();
  };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  matchMedia('print').addEventListener('change', redraw);  // colours and widths of the paper
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    const view = VIEWS[CHOICE.view];
    if (!view) return;
    const shown = seriesOf(view).filter(series => !CHOICE.hidden[series.name]);
    drawLanes(shown);
    drawLinks(shown);
  });
}

start();
