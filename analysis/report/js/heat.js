// What lies between the sites in use, as a matrix: round-trip times, and the throughput of one connection.
'use strict';

const MOST_SITES_WITH_NUMBERS = 14, MOST_SITES_BESIDE = 7;  // both matrices side by side

// The page's colour under its accent: at most 45 %, so that the text on it keeps its contrast, in light and dark.
const heatColor = share => faded(toHex(cssColor('--accent')), 0.04 + 0.41 * share);

// From 0 to 1 between the least and the most of these values, by ratio where they are far apart; others at the ends.
function heatShares(values) {
  const known = values.filter(value => value > 0);
  if (known.length === 0) return () => 0;
  const least = Math.min(...known), most = Math.max(...known), at = most >= 30 * least ? Math.log : value => value;
  return value => (value > 0 && most > least ? Math.min(1, Math.max(0, (at(value) - at(least)) / (at(most) - at(least)))) : 0);
}

// One unit for all cells: that of the median.
function heatUnit(values, units) {
  const sorted = values.filter(value => value > 0).sort((a, b) => a - b), median = sorted[Math.floor(sorted.length / 2)] || 1;
  return units.find(([size]) => median >= size) || units[units.length - 1];
}

const RTT_UNITS = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs']];
const RATE_UNITS = [[1e9, 'Gb/s'], [1e6, 'Mb/s'], [1e3, 'kb/s']];

// about: {title, units, format, none: what a pair without a number is called}
function heatTable(sites, matrix, about, withNumbers) {
  const values = matrix.flat(), between = matrix.flatMap((row, i) => row.filter((_, j) => j !== i));
  const [size, unit] = heatUnit(between, about.units), share = heatShares(between);
  const cell = (value, from, to) => {
    const said = `${from} to ${to}: ${value === null ? about.none : about.format(value)}`;
    return element('td', {title: said, style: value === null ? null : `background: ${heatColor(share(value))}`}, withNumbers ? (value === null ? '–' : digits(value / size, 3)) : '');
  };
  const head = element('tr', {}, element('td', {}), ...sites.map((site, i) => element('th', {scope: 'col', title: site}, withNumbers ? site : String(i + 1))));
  const rows = matrix.map((row, i) => element('tr', {}, element('th', {scope: 'row'}, withNumbers ? sites[i] : `${sites[i]} ${i + 1}`), ...row.map((value, j) => cell(value, sites[i], sites[j]))));
  const known = values.filter(value => value !== null), range = known.length ? `${about.format(Math.min(...known))} to ${about.format(Math.max(...known))}` : '';
  return element('figure', {}, element('h3', {}, withNumbers ? `${about.title}, ${unit}` : about.title),
    element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': about.title}, element('table', {class: `heat${withNumbers ? '' : ' small'}`}, element('thead', {}, head), element('tbody', {}, ...rows))),
    element('figcaption', {}, `${range}${range ? '. ' : ''}${about.caption}`));
}

// Both matrices of a network of DATA.networks; nothing where they are unknown.
function heatFigures(network) {
  if (!network || !network.rtt_s || network.sites.length < 2) return [];
  const {sites} = network, withNumbers = sites.length <= MOST_SITES_WITH_NUMBERS;
  return [element('div', {class: `heats${sites.length > MOST_SITES_BESIDE ? ' one-column' : ''}`},
    heatTable(sites, network.rtt_s, {title: 'Round-trip time between sites', units: RTT_UNITS, format: formatDuration, none: 'one replica alone',
      caption: 'Along the routes, without queues and sending; on the diagonal between two replicas of a site.'}, withNumbers),
    heatTable(sites, network.throughput_bps, {title: 'Throughput of one connection', units: RATE_UNITS, format: formatRate, none: 'no limit, or one replica alone',
      caption: 'What the matrix gives, or else the slowest link of the route; TCP may carry less.'}, withNumbers))];
}
