// Hover values without a mouse: on a chart that has the focus the arrow keys go from value to value.
'use strict';

// The places of the values next to that of `index` in the first dataset that is drawn: one a dataset.
function valuesAt(chart, index) {
  const drawn = chart.data.datasets.map((_, i) => i).filter(i => chart.getDatasetMeta(i).data.length > 0);
  if (drawn.length === 0) return [];
  const along = chart.options.indexAxis === 'y' ? 'y' : 'x';
  const here = chart.getDatasetMeta(drawn[0]).data[index][along];
  const nearest = points => points.reduce((best, point, i) => (Math.abs(point[along] - here) < Math.abs(points[best][along] - here) ? i : best), 0);
  return drawn.map(i => ({datasetIndex: i, index: nearest(chart.getDatasetMeta(i).data)}));
}

function followKeys(canvas, chart, said) {
  let at = -1;
  const show = active => {
    const point = active.length ? chart.getDatasetMeta(active[0].datasetIndex).data[active[0].index] : {x: 0, y: 0};
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, {x: point.x, y: point.y});
    chart.update();
    said.textContent = active.length ? [...chart.tooltip.title, ...chart.tooltip.body.flatMap(part => part.lines)].filter(Boolean).join('; ') : '';
  };
  canvas.addEventListener('keydown', event => {
    const first = chart.data.datasets.findIndex((_, i) => chart.getDatasetMeta(i).data.length > 0);
    const moves = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};
    if (first < 0 || !(event.key in moves || event.key === 'Escape')) return;
    event.preventDefault();
    const last = chart.getDatasetMeta(first).data.length - 1;
    at = event.key === 'Escape' ? -1 : Math.min(last, Math.max(0, at + moves[event.key]));
    show(at < 0 ? [] : valuesAt(chart, at));
  });
  canvas.addEventListener('blur', () => {
    if (at >= 0 && canvas.isConnected) show([]);
    at = -1;
  });
}
