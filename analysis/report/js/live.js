// The page of a run in progress (longhaul report --watch): reloads itself and keeps what was chosen and where it was.
'use strict';

// Everything that a user can choose, by name.
const STATES = {choice: CHOICE, results: RESULTS, lanes: LANES, links: LINKS, claim: CLAIM, sweep: SWEEP,
  ...Object.fromEntries(CHARTS.map(chart => [`chart-${chart.id}`, chart.state]))};
const PLACE = `longhaul ${location.pathname}`;

const isData = value => value === null || typeof value !== 'object' || Object.getPrototypeOf(value) === Object.prototype;

function keepState() {
  const kept = Object.fromEntries(Object.entries(STATES).map(([name, state]) =>
    [name, Object.fromEntries(Object.entries(state).filter(([, value]) => isData(value)))]));
  sessionStorage.setItem(PLACE, JSON.stringify({states: kept, scroll: scrollY}));
}

// Before the page is drawn; returns where it was scrolled to.
function restoreState() {
  const kept = JSON.parse(sessionStorage.getItem(PLACE) || 'null');
  if (!kept) return 0;
  sessionStorage.removeItem(PLACE);
  for (const [name, state] of Object.entries(kept.states)) if (STATES[name]) Object.assign(STATES[name], state);
  if (!VIEWS[CHOICE.view]) CHOICE.view = 0;
  return kept.scroll;
}

// Not while the reader has a box open.
function reloadLater() {
  if (!DATA.live) return;
  setTimeout(() => {
    if (document.activeElement && document.activeElement.tagName === 'SELECT') return reloadLater();
    keepState();
    location.reload();
    return undefined;
  }, 1000 * DATA.live.seconds);
}
