// Colours, and how an element is made. One colour a method, everywhere; states are told apart by lightness and hatching.
'use strict';

const cssColor = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// COLORS is set by the template: of each label the colour that follows from its name (analysis/palette.h).
function methodColor(label) {
  const color = COLORS[label];
  return color === 'ink' ? cssColor('--text') : color;
}

function faded(color, alpha) {
  const value = parseInt(color.slice(1), 16);
  return `rgba(${value >> 16}, ${(value >> 8) & 255}, ${value & 255}, ${alpha})`;
}

// Of a colour that may be no hexadecimal one, something that `faded` takes.
const toHex = color => (color.startsWith('#') && color.length === 7 ? color : '#808080');

// A fill of slanted lines for canvas: what is hatched is waiting.
function hatched(color) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 6;
  const pen = tile.getContext('2d');
  pen.strokeStyle = color;
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift - 1, 7);
    pen.lineTo(shift + 7, -1);
  }
  pen.stroke();
  return pen.createPattern(tile, 'repeat');
}

// element('a', {href: '#x', class: 'y'}, 'text', child, ...). Texts are never read as HTML.
function element(name, attributes = {}, ...children) {
  const made = name.startsWith('svg:')
    ? document.createElementNS('http://www.w3.org/2000/svg', name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, '');
    else if (value !== false && value !== null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function swatch(color) {
  const made = element('span', {class: 'swatch', 'aria-hidden': 'true'});
  made.style.background = color;
  return made;
}

function selectBox(label, options, chosen, changed) {
  const box = element('select', {onchange: event => changed(event.target.value)},
    ...options.map(([value, text]) => element('option', {value, selected: value === chosen}, text)));
  return element('label', {}, `${label} `, box);
}

function checkBox(label, checked, changed, mark = '') {
  const box = element('input', {type: 'checkbox', checked, onchange: event => changed(event.target.checked)});
  return element('label', {}, box, ' ', mark, label);
}

// A table that scrolls inside its own box. `name`: aria-label or aria-labelledby.
// What lies beyond its right edge is announced below it.
function scrolling(name, table) {
  const box = element('div', {class: 'scroll', tabindex: 0, role: 'region', ...name}, table);
  const frame = element('div', {class: 'scroll-frame'}, box, element('p', {class: 'more'}, 'more columns: scroll sideways →'));
  const mark = () => frame.classList.toggle('has-more', box.scrollWidth - box.clientWidth - box.scrollLeft > 4);
  box.addEventListener('scroll', mark, {passive: true});
  new ResizeObserver(mark).observe(box);
  return frame;
}

// Does what makes the controls of `place` anew, and gives the focus back to the one that had it.
function keepingFocus(place, change, controls = 'select, input') {
  const at = [...place.querySelectorAll(controls)].indexOf(document.activeElement);
  change();
  if (at >= 0) place.querySelectorAll(controls)[at].focus();
}
