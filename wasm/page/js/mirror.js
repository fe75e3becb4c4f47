// The canvas for screen readers: an element with a role for each widget, at its position, in groups by panel. It takes
// the keyboard focus (the program draws a ring around the widget) and forwards presses.

const kRoles = { tab: 'tab', field: 'textbox', row: 'row', slider: 'slider', toggle: 'checkbox', handle: 'separator', figure: 'note' };
const kGroups = { tab: 'tablist', row: 'grid' };
const kFocusable = new Set(['button', 'tab', 'field', 'row', 'slider', 'toggle']);
const isFocusable = (item) => !item.off && (kFocusable.has(item.kind) || item.span !== undefined);

// Puts the children in order with the fewest moves, and never moves the focused one: an element that moves loses the
// focus.
function placeInOrder(parent, children) {
  const stays = new Set(children);
  for (const child of [...parent.children]) if (!stays.has(child)) child.remove();
  const fixed = children.findIndex((one) => one.parentElement === parent && one.contains(document.activeElement));
  for (let i = fixed - 1; i >= 0; --i)
    if (children[i].nextSibling !== children[i + 1]) parent.insertBefore(children[i], children[i + 1]);
  for (let i = fixed + 1; i < children.length; ++i) {
    const next = i === 0 ? parent.firstChild : children[i - 1].nextSibling;
    if (next !== children[i]) parent.insertBefore(children[i], next);
  }
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
}

// "trade-off/budget field" is the field "budget field" of the panel "trade-off".
const panelOf = (id) => (id.includes('/') ? id.slice(0, id.indexOf('/')) : '');

function textOf(item) {
  const { name } = item;
  if (item.kind === 'button') return name;
  const counted = item.kind === 'toggle' && /^\d/.test(item.value ?? '');
  if (item.kind === 'figure' || item.kind === 'row' || counted) return item.value ? `${name}: ${item.value}` : name;
  return name;
}

// The span of an item that moves between two ends, also by keys: the program handles arrows, Page keys, Home and End of
// the widget, or of the focused panel.
function spanOf(item) {
  const [least, most, now] = item.span ?? [null, null, null];
  const [, , width, height] = item.at;
  return {
    'aria-valuemin': least,
    'aria-valuemax': most,
    'aria-valuenow': now,
    'aria-valuetext': item.span ? (item.now ?? item.value ?? String(now)) : null,
    'aria-orientation': item.kind === 'handle' && item.span ? (height > width ? 'vertical' : 'horizontal') : null,
  };
}

function attributesOf(item) {
  const text = textOf(item);
  return {
    role: kRoles[item.kind] ?? null,
    'aria-label': text,
    'aria-description': item.hint ?? null,
    'aria-disabled': item.off ? 'true' : null,
    'aria-selected': item.kind === 'tab' ? item.value === 'chosen' : null,
    'aria-checked': item.kind === 'toggle' ? item.value === 'on' : null,
    ...spanOf(item),
    tabindex: isFocusable(item) ? 0 : null,
  };
}

export class Mirror {
  #root = document.getElementById('mirror');
  #elements = new Map(); // by key: elements to reuse
  #onFocus;

  // `onPress(id)` and `onFocus(id)` get the widget; "" where the focus has left them all.
  constructor(onPress, onFocus) {
    this.#onFocus = onFocus;
    this.#root.addEventListener('click', (event) => {
      const item = event.target.closest('.item');
      if (item !== null && item.getAttribute('aria-disabled') === null) onPress(item.dataset.id);
    });
    this.#root.addEventListener('keydown', (event) => {
      if ((event.key !== 'Enter' && event.key !== ' ') || event.target.tagName === 'BUTTON') return;
      event.preventDefault();
      event.target.click();
    });
    this.#root.addEventListener('focusin', (event) => onFocus(event.target.dataset.id ?? ''));
    this.#root.addEventListener('focusout', (event) => {
      if (event.relatedTarget === null || !this.#root.contains(event.relatedTarget)) onFocus('');
    });
  }

  // `tree`: {panels: {id: title}, items: [{id, name, kind, at, value, off, span, now, hint}]}, as mirror.cpp writes
  // it.
  show(tree) {
    const regions = [];
    const used = new Map();
    for (const item of tree.items) {
      const panel = panelOf(item.id);
      if (regions.at(-1)?.panel !== panel) regions.push({ panel, groups: [] });
      const { groups } = regions.at(-1);
      const role = kGroups[item.kind] ?? null;
      if (groups.length === 0 || groups.at(-1).role !== role) groups.push({ role, children: [] });
      groups.at(-1).children.push(this.#item(used, item));
    }
    const taken = new Set();
    const sections = regions.map(({ panel, groups }) => {
      const title = tree.panels[panel] || 'Window';
      const inner = groups.map(({ role, children }) =>
        this.#hold(children, 'div', { role, 'aria-label': role === null ? null : title }, taken),
      );
      return this.#hold(inner, 'section', { 'aria-label': title }, taken);
    });
    placeInOrder(this.#root, sections);
    this.#elements = used;
  }

  // Focuses the widget that is `by` further than `id` in Tab order.
  focusNeighbour(id, by) {
    const all = [...this.#root.querySelectorAll('[tabindex="0"]')];
    const at = all.findIndex((one) => one.dataset.id === id);
    all[(at + by + all.length) % all.length]?.focus({ preventScroll: true });
  }

  // The parent of all children: their present one, unless it is `taken` or holds the focus of others; else a new one.
  #hold(children, tag, attributes, taken) {
    const focused = document.activeElement;
    const known = children.find((one) => one.contains(focused)) ?? children.find((one) => one.parentElement !== null);
    const old = known?.parentElement ?? null;
    const fits = old !== null && !taken.has(old) && (known.contains(focused) || !old.contains(focused));
    const element = fits ? old : document.createElement(tag);
    taken.add(element);
    setAttributes(element, attributes);
    placeInOrder(element, children);
    return element;
  }

  #item(used, item) {
    let key = `${item.kind} ${item.id}`;
    while (used.has(key)) key += ' again'; // labels may occur twice
    const element = this.#elements.get(key) ?? document.createElement(item.kind === 'button' ? 'button' : 'div');
    used.set(key, element);
    element.className = 'item';
    element.dataset.id = item.id;
    setAttributes(element, attributesOf(item));
    const [left, top, width, height] = item.at;
    const style = `left: ${left}px; top: ${top}px; width: ${width}px; height: ${height}px;`;
    if (element.dataset.place !== style) {
      element.dataset.place = style;
      Object.assign(element.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    }
    const text = item.kind === 'field' ? (item.value ?? '') : item.kind === 'row' ? '' : textOf(item);
    if (item.kind === 'row') this.#cell(element, textOf(item));
    else if (element.textContent !== text) element.textContent = text;
    return element;
  }

  // A grid's row has cells.
  #cell(row, text) {
    if (row.firstElementChild === null) {
      row.append(document.createElement('span'));
      row.firstElementChild.setAttribute('role', 'gridcell');
    }
    if (row.textContent !== text) row.firstElementChild.textContent = text;
  }
}

export function announce(text, urgent) {
  const place = document.getElementById(urgent ? 'urgent' : 'polite');
  place.textContent = text;
}
