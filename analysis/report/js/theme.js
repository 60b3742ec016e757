// Colours, and how an element is made. One colour a method, everywhere; states are told apart by lightness and hatching.
'use strict';

// PALETTE is declared in analysis/palette.h and set by the template.

const cssColor = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function methodColor(index) {
  const color = PALETTE[index % PALETTE.length];
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
const scrolling = (name, table) => element('div', {class: 'scroll', tabindex: 0, role: 'region', ...name}, table);

// Does what makes the controls of `place` anew, and gives the focus back to the one that had it.
function keepingFocus(place, change, controls = 'select, input') {
  const at = [...place.querySelectorAll(controls)].indexOf(document.activeElement);
  change();
  if (at >= 0) place.querySelectorAll(controls)[at].focus();
}
