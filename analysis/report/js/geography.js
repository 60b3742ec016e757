// The map of a network whose sites have coordinates: places by longitude and latitude, lines of both at round degrees, and
// names beside their sites that do not run into each other.
'use strict';

const RADIANS = Math.PI / 180;

const middleOf = list => (Math.min(...list) + Math.max(...list)) / 2;
const spanOf = list => Math.max(Math.max(...list) - Math.min(...list), 1);
const narrowing = latitude => Math.max(0.2, Math.cos(latitude * RADIANS));  // of a degree of longitude

// Longitudes without a jump: shifted by 360° where that makes the map much narrower, as for Tokyo and Oregon.
function unrolled(places) {
  const east = places.map(([, longitude]) => longitude), shifted = east.map(longitude => (longitude < 0 ? longitude + 360 : longitude));
  return spanOf(shifted) + 60 < spanOf(east) ? shifted : east;
}

// The height that a map of these places takes when it is as wide as it may be.
function heightFor(places, width, margin) {
  const latitudes = places.map(([latitude]) => latitude);
  return 2 * margin.y + spanOf(latitudes) * (width - 2 * margin.x) / (spanOf(unrolled(places)) * narrowing(middleOf(latitudes)));
}

// Equidistant along the middle parallel, into a box of so many pixels. `places`: [[latitude, longitude]].
// Returns the function from degrees to pixels, what it shows, and the longitudes as it takes them.
function projection(places, width, height, margin) {
  const latitudes = places.map(([latitude]) => latitude), longitudes = unrolled(places);
  const center = [middleOf(latitudes), middleOf(longitudes)], narrow = narrowing(center[0]);
  const scale = Math.min((height - 2 * margin.y) / spanOf(latitudes), (width - 2 * margin.x) / (spanOf(longitudes) * narrow));
  const at = (latitude, longitude) => ({x: width / 2 + (longitude - center[1]) * narrow * scale, y: height / 2 - (latitude - center[0]) * scale});
  const shown = {south: center[0] - height / 2 / scale, north: center[0] + height / 2 / scale,
    west: center[1] - width / 2 / scale / narrow, east: center[1] + width / 2 / scale / narrow};
  return {at, shown, longitudes, degreePixels: scale};
}

const degreeText = (degrees, positive, negative) => `${Math.abs(degrees)}°${degrees === 0 || Math.abs(degrees) === 180 ? '' : ` ${degrees > 0 ? positive : negative}`}`;
const wrapped = longitude => ((longitude + 180) % 360 + 360) % 360 - 180;

// Parallels and meridians about 90 pixels apart, with their degrees at the edges.
function graticule({at, shown, degreePixels}, width, height) {
  const step = [1, 2, 5, 10, 15, 30, 45].find(degrees => degrees * degreePixels >= 90) || 60;
  const lines = [];
  const line = (attributes, text, where) => lines.push(element('svg:line', {class: 'graticule', ...attributes}), element('svg:text', {class: 'degrees', ...where}, text));
  for (let latitude = Math.ceil(Math.max(-80, shown.south) / step) * step; latitude <= Math.min(80, shown.north); latitude += step) {
    const {y} = at(latitude, 0);
    if (y > 12 && y < height - 18) line({x1: 0, x2: width, y1: y, y2: y}, degreeText(latitude, 'N', 'S'), {x: 3, y: y - 3});
  }
  for (let longitude = Math.ceil(shown.west / step) * step; longitude <= shown.east; longitude += step) {
    const {x} = at(0, longitude);
    if (x > 40 && x < width - 20) line({x1: x, x2: x, y1: 0, y2: height}, degreeText(wrapped(longitude), 'E', 'W'), {x: x + 3, y: height - 4});
  }
  return lines;
}

// Where the nodes of a map stand, in pixels, by their names: those with coordinates by these, others between their
// neighbours. `edges`: [[name, name]]. Nodes that hang on nothing known are left out.
function placeNodes(names, edges, places, project) {
  const known = new Map(names.filter(name => name in places).map((name, i) => [name, project.at(places[name][0], project.longitudes[i])]));
  for (let round = 0; round < 4; ++round)
    for (const name of names.filter(one => !(one in places))) {
      const around = edges.flatMap(([a, b]) => (a === name ? [b] : b === name ? [a] : [])).filter(other => known.has(other)).map(other => known.get(other));
      if (around.length) known.set(name, {x: around.reduce((sum, one) => sum + one.x, 0) / around.length, y: around.reduce((sum, one) => sum + one.y, 0) / around.length + 6});
    }
  return known;
}

const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

// Places for texts beside points, in their order: the first of eight places that touches neither a text nor a point;
// null where there is none. `points`: [{x, y, r, text}].
function labelPlaces(points, width, height) {
  const taken = points.map(({x, y, r}) => ({left: x - r, right: x + r, top: y - r, bottom: y + r}));
  return points.map(({x, y, r, text}) => {
    const long = 7.2 * text.length, gap = r + 3;
    const sides = [[x + gap, y + 4, 'start'], [x - gap, y + 4, 'end'], [x, y - gap - 2, 'middle'], [x, y + gap + 11, 'middle'],
      [x + gap - 2, y - gap + 2, 'start'], [x + gap - 2, y + gap + 7, 'start'], [x - gap + 2, y - gap + 2, 'end'], [x - gap + 2, y + gap + 7, 'end']];
    for (const [left, base, anchor] of sides) {
      const start = anchor === 'start' ? left : anchor === 'end' ? left - long : left - long / 2;
      const box = {left: start, right: start + long, top: base - 11, bottom: base + 3};
      if (box.left < 2 || box.right > width - 2 || box.top < 2 || box.bottom > height - 14) continue;
      if (taken.some(other => overlaps(box, other) && !(other.left === x - r && other.top === y - r))) continue;
      taken.push(box);
      return {x: left, y: base, anchor};
    }
    return null;
  });
}
