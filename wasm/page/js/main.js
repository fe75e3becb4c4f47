// The page from start to end: checks the browser, loads, starts, and reports failures.
import * as address from './address.js';
import { canvas, fitCanvas, rememberState, watchCanvas } from './canvas.js';
import { copy, listenToPaste } from './clipboard.js';
import { showFailure, showStarting, uncover } from './cover.js';
import { Engine } from './engine.js';
import { missingFeatures } from './features.js';
import { Files, saveBytes, saveCanvas } from './files.js';
import { Helper } from './helper.js';
import { listenToKeys } from './keyboard.js';
import { loadProgram } from './load.js';
import { Loop } from './loop.js';
import { announce, Mirror } from './mirror.js';
import { modelsState, openDimensions, readModel } from './models.js';
import { listenToPointer } from './pointer.js';
import * as storage from './storage.js';
import { TextLine } from './text_line.js';
import { listenToTouch } from './touch.js';

const kLinesKept = 40;
const said = [];
function log(line) {
  said.push(line);
  if (said.length > kLinesKept) said.shift();
  console.warn(line);
}

const afresh = () => storage.forget('workspace');

function tellFall(error) {
  address.flush();
  const memory = /out of memory|OOM|allocat|enlarge/i.test(String(error?.message ?? error));
  showFailure({
    title: memory ? 'The browser has no more memory for Recut' : 'Recut has stopped',
    message: memory
      ? 'The graph is too large for this page. The desktop program takes as much memory as the machine has.'
      : 'This is a fault of Recut, not yours. The address keeps what was open, chosen and selected; beginning again leads back to it.',
    log: [...said, String(error?.stack ?? error)].join('\n'),
    over: true,
    afresh,
  });
}

function watchMedia(engine, loop, query, call) {
  const found = matchMedia(query);
  const tell = () => {
    engine.call(call, found.matches ? 1 : 0);
    loop.wake();
  };
  tell();
  found.addEventListener('change', tell);
}

function watchTheme(engine, loop) {
  watchMedia(engine, loop, '(prefers-color-scheme: dark)', 'prefers_dark');
  watchMedia(engine, loop, '(pointer: coarse)', 'has_fingers');
}

function watchEnd(engine) {
  const keep = () => {
    engine.call('save_workspace');
    address.flush();
  };
  window.addEventListener('pagehide', keep);
  document.addEventListener('visibilitychange', () => document.hidden && keep());
}

// The object of functions that the program may call (bridge.h); its parts are filled in as they start.
function makeHost() {
  return {
    setTitle: (title) => (document.title = title),
    setCursor: (css) => (canvas.style.cursor = css),
    wake: () => {},
    save: saveBytes,
    saveCanvas,
    load: storage.load,
    store: storage.store,
    copy,
    announce,
    setLink: address.setLink,
  };
}

function connect(module, compiled, host) {
  const engine = new Engine(module, tellFall);
  const loop = new Loop(engine, () => engine.fall(new RangeError('out of memory')));
  const files = new Files(engine, loop);
  const pressed = (id) => {
    engine.call('item_pressed', id);
    loop.tick();
  };
  const helper = new Helper(compiled, (request, state, bytes) => {
    engine.call('helper_reply', request, state, bytes);
    loop.wake();
  });
  const mirror = new Mirror(pressed, (id) => engine.call('item_focused', id));
  const textLine = new TextLine(engine, loop, mirror);
  Object.assign(host, {
    wake: () => loop.wake(),
    keep: (text) => engine.keep(text),
    keepBytes: (bytes, sizeAt) => engine.keepBytes(bytes, sizeAt),
    modelsState: () => modelsState(() => loop.wake()),
    readModel,
    openDimensions,
    helper,
    askForFile: () => files.ask(),
    fetchSample: (name) => files.fetchSample(name),
    textField: (...field) => textLine.show(...field),
    mirror: (tree) => mirror.show(tree),
  });
  listenToPointer(engine, loop);
  listenToTouch(engine, loop);
  listenToKeys(engine, loop, textLine);
  listenToPaste(engine, loop, (list) => files.open([...list]));
  return { engine, loop, files };
}

async function start() {
  const missing = missingFeatures();
  if (missing.length > 0) {
    return showFailure({
      title: "This browser can't run Recut",
      message: 'It lacks:',
      list: missing,
      retry: false,
    });
  }
  const host = makeHost();
  const { module, compiled } = await loadProgram(host, log);
  showStarting();
  const { engine, loop, files } = connect(module, compiled, host);
  if (!engine.call('prepare', address.fragment())) throw new Error('WebGL 2 gives no context');
  rememberState();
  fitCanvas(engine);
  watchTheme(engine, loop);
  engine.call('start');
  watchCanvas(engine, loop);
  address.watchAddress(engine, loop);
  watchEnd(engine);
  loop.tick();
  if (engine.fallen) return;
  uncover();
  canvas.focus({ preventScroll: true });
  performance.mark('recut-started');
  window.recut = { engine, loop, files, module }; // for the console and for tests
}

start().catch((error) =>
  showFailure({
    title: "Recut can't start",
    message: navigator.onLine ? 'Something of it could not be loaded or started.' : 'There is no connection.',
    log: [...said, String(error?.stack ?? error)].join('\n'),
    afresh,
  }),
);
