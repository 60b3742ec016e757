// The key of a chart of lines: a piece of each line with its dashes and marker, so that it serves in print and without colour.
'use strict';

// The shapes of Chart.js's markers around (0, 0).
const MARKER_PATHS = {
  circle: 'M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z',
  triangle: 'M0 -4L3.6 2.6L-3.6 2.6z',
  rect: 'M-3 -3H3V3H-3z',
  rectRot: 'M0 -4L4 0L0 4L-4 0z',
  crossRot: 'M-3 -3L3 3M-3 3L3 -3',
  cross: 'M0 -4V4M-4 0H4',
  star: 'M0 -4V4M-4 0H4M-3 -3L3 3M-3 3L3 -3',
};

// look: {color, dash, marker}
function lineSample({color, dash, marker}) {
  return element('svg:svg', {class: 'line-sample', width: 38, height: 12, viewBox: '0 -6 38 12', 'aria-hidden': 'true'},
    element('svg:line', {x1: 0, x2: 38, y1: 0, y2: 0, stroke: color, 'stroke-width': 2, 'stroke-dasharray': dash.length ? dash.join(' ') : null}),
    element('svg:path', {d: MARKER_PATHS[marker] || MARKER_PATHS.circle, transform: 'translate(19 0)', fill: color, stroke: color, 'stroke-width': 1.5}));
}

// Of the series that `datasets` draw.
function lineKey(series, datasets) {
  const drawn = new Set(datasets.filter(one => one.data.length).map(one => one.label));
  return element('div', {class: 'key lines'}, ...series.filter(one => drawn.has(one.name)).map(one => element('span', {}, lineSample(one), one.name)));
}
