// The state in the address: read at the start and when the user changes it, written a moment after the program changed
// it (browsers limit how often).

const kMoment = 300; // milliseconds
let due = 0;
let wanted = null;

export const fragment = () => location.hash.slice(1);

export function flush() {
  clearTimeout(due);
  due = 0;
  if (wanted === null || wanted === fragment()) return;
  history.replaceState(null, '', '#' + wanted);
  wanted = null;
}

export function setLink(text) {
  wanted = text;
  if (due === 0) due = setTimeout(flush, kMoment);
}

export function watchAddress(engine, loop) {
  window.addEventListener('hashchange', () => {
    engine.call('follow', fragment());
    loop.wake();
  });
}
