// What the links of one method carried: the map, and a table of the busiest.
'use strict';

const LINKS = {name: null, all: false};

const FEW_LINKS = 12;

function linkTable({links, numbers}, showAll) {
  const simulated = numbers.simulated_time_s;
  const isBottleneck = i => links.alike !== null && i === 0;
  const row = ([link, direction, bytes, busy, rate], i) => element('tr', {class: isBottleneck(i) ? 'bottleneck' : null},
    element('th', {scope: 'row', class: 'words'}, link, isBottleneck(i) ? element('span', {class: 'status'}, 'bottleneck') : ''),
    element('td', {class: 'words'}, direction),
    element('td', {}, formatDuration(busy)),
    element('td', {}, simulated ? formatPercent(busy / simulated) : '–'),
    element('td', {}, busy > 0 ? formatRate(8 * bytes / busy) : '–'),
    element('td', {}, rate && busy > 0 ? formatPercent(8 * bytes / busy / rate) : '–'),
    element('td', {}, formatBytes(bytes)),
    element('td', {}, formatPercent(bytes / links.total_bytes)));
  const heading = (text, words) => element('th', {scope: 'col', class: words ? 'words' : null}, text);
  const shown = showAll ? links.rows : links.rows.slice(0, FEW_LINKS);
  return scrolling({'aria-labelledby': 'links-heading'}, element('table', {},
    element('thead', {}, element('tr', {}, heading('Link', true), heading('Direction', true), heading('Busy'), heading('Busy, of the run'),
      heading('Rate while busy'), heading('of its rate'), heading('On the wire'), heading('Share of all bytes'))),
    element('tbody', {}, ...shown.map(row))));
}

function linkNotes({links, seed}, seeds, showAll) {
  const shown = showAll ? links.rows.length : Math.min(FEW_LINKS, links.rows.length);
  const rest = links.rows.length < links.used && shown === links.rows.length ? '; links.csv of the case has them all' : '';
  return `${shown} of ${links.used} directions of links that carried anything, by the time in which they were busy${rest}; bytes with headers. Forward is from the first to the second name.${seeds > 1 ? ` Of seed ${seed}, one of ${seeds}.` : ''}`;
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
      keepingFocus(place, () => drawLinks(all));
    })),
    ...(map ? [mapFigure(chosen.series, chosen.one, Math.max(260, place.clientWidth - 30))] : []),
    linkTable(chosen.one, LINKS.all),
    ...(links.rows.length > FEW_LINKS ? [element('div', {class: 'controls'}, checkBox(links.rows.length < links.used ? `show ${links.rows.length}` : `show all ${links.rows.length}`, LINKS.all, value => {
      LINKS.all = value;
      keepingFocus(place, () => drawLinks(all));
    }))] : []),
    element('p', {class: 'quiet'}, linkNotes(chosen.one, chosen.series.cases.length, LINKS.all)));
}
