// What the links of one method carried: the map, and a table of the busiest.
'use strict';

const LINKS = {name: null};

function linkTable({links, numbers}) {
  const simulated = numbers.simulated_time_s;
  const row = link => element('tr', {},
    element('th', {scope: 'row', class: 'words'}, link.link),
    element('td', {class: 'words'}, link.direction),
    element('td', {}, formatBytes(link.bytes)),
    element('td', {}, formatPercent(link.bytes / links.total_bytes)),
    element('td', {}, formatDuration(link.busy_s)),
    element('td', {}, simulated ? formatPercent(link.busy_s / simulated) : '–'),
    element('td', {}, link.busy_s > 0 ? formatRate(8 * link.bytes / link.busy_s) : '–'));
  const heading = (text, words) => element('th', {scope: 'col', class: words ? 'words' : null}, text);
  return element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-labelledby': 'links-heading'}, element('table', {},
    element('thead', {}, element('tr', {}, heading('Link', true), heading('Direction', true), heading('On the wire'), heading('Share of all bytes'),
      heading('Busy'), heading('Busy, of the run'), heading('Rate while busy'))),
    element('tbody', {}, ...links.busiest.map(row))));
}

function drawLinks(all) {
  const place = document.getElementById('links-table');
  const carriers = all.map(series => ({name: series.name, series, one: series.cases.find(one => one.links && one.links.used)})).filter(entry => entry.one);
  document.getElementById('links').hidden = carriers.length === 0;
  if (carriers.length === 0) return;
  const chosen = carriers.find(entry => entry.name === LINKS.name) || carriers[0];
  const {links, map} = chosen.one;
  place.replaceChildren(
    element('div', {class: 'controls'}, selectBox('links of', carriers.map(entry => [entry.name, entry.name]), chosen.name, value => {
      LINKS.name = value;
      drawLinks(all);
      place.querySelector('select').focus();
    })),
    ...(map ? [mapFigure(chosen.series, chosen.one, Math.max(260, place.clientWidth - 30))] : []),
    linkTable(chosen.one),
    element('p', {class: 'quiet'}, `${links.busiest.length} of ${links.used} directions of links that carried anything; bytes with headers. `
      + 'Forward is from the first to the second name.'));
}
