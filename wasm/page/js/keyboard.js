// Keys and text. Commands get their keys; the browser keeps its own.
const kCtrl = 1, kShift = 2, kAlt = 4;

// Browser shortcuts: tabs and windows, reloading, the address, zoom, tools, full screen, going back.
const kBrowsersWithCtrl = new Set(['t', 'n', 'w', 'r', 'l', 'q', 'd', 'p', '+', '-', '=', '0', 'tab', 'pageup', 'pagedown']);
const kBrowsersWithCtrlShift = new Set(['t', 'n', 'w', 'r', 'i', 'j', 'c', 'tab', 'delete']);
const kBrowsersAlone = new Set(['F5', 'F6', 'F11', 'F12']);

function isBrowsers(event) {
  const key = event.key.toLowerCase();
  const ctrl = event.ctrlKey || event.metaKey;
  if (kBrowsersAlone.has(event.key)) return true;
  if (event.altKey && !ctrl && (key === 'arrowleft' || key === 'arrowright' || key === 'home')) return true;
  if (!ctrl) return false;
  if (/^[1-9]$/.test(key)) return true;
  return event.shiftKey ? kBrowsersWithCtrlShift.has(key) : kBrowsersWithCtrl.has(key);
}

// Letters go by the character on the key, all other keys by their position.
function codeOf(event) {
  if (/^[a-z]$/i.test(event.key)) return 'Key' + event.key.toUpperCase();
  return event.code || event.key;
}

const modifiersOf = (event) =>
  (event.ctrlKey || event.metaKey ? kCtrl : 0) | (event.shiftKey ? kShift : 0) | (event.altKey ? kAlt : 0);

export function listenToKeys(engine, loop, textLine) {
  const isTyping = () => document.activeElement === textLine.element;
  // Enter and Space press the mirror's focused element; Tab moves to the next.
  const isMirrors = (event) =>
    document.activeElement?.classList.contains('item') && (event.key === 'Enter' || event.key === ' ');

  window.addEventListener('keydown', (event) => {
    if (event.isComposing || event.keyCode === 229 || isBrowsers(event) || isMirrors(event)) return;
    if (event.key === 'Tab') {
      if (isTyping()) textLine.leave(event);
      return;
    }
    const modifiers = modifiersOf(event);
    if ((modifiers & kCtrl) !== 0 && event.key.toLowerCase() === 'v') return; // comes as 'paste'
    const taken = engine.call('key', codeOf(event), 1, modifiers) !== 0;
    const isText = [...event.key].length === 1 && ((modifiers & kCtrl) === 0 || event.getModifierState('AltGraph'));
    if (isText && !isTyping()) {
      engine.call('text', event.key);
      event.preventDefault(); // '/' and ' have a use in some browsers
    }
    if (taken && !(isText && isTyping())) event.preventDefault();
    if ((modifiers & kCtrl) !== 0) loop.tick(); // clipboards and dialogs open only within the event
    loop.wake();
  });
  window.addEventListener('keyup', (event) => {
    engine.call('key', codeOf(event), 0, modifiersOf(event));
    loop.wake();
  });
  window.addEventListener('blur', () => {
    engine.call('focus', 0);
    loop.wake();
  });
  window.addEventListener('focus', () => {
    engine.call('focus', 1);
    loop.wake();
  });
}
