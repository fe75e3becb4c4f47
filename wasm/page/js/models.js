// The reader of ONNX models: a program of its own (wasm/onnx), fetched when the first model is met.
import { Engine } from './engine.js';

// page::Reader of ../models.cpp.
const kAbsent = 0;
const kLoading = 1;
const kReady = 2;

let reader = null;
let module = null;
let loading = null;

async function fetchReader() {
  const { default: createModels } = await import('../onnx.js');
  const made = await createModels({ print: () => {}, printErr: (line) => console.warn(line) });
  module = made;
  reader = new Engine(made, (error) => console.warn(error), '_onnx_');
}

// Once it is there, or can't be: `heard` is called. A later call tries again where it couldn't.
export function loadModels(heard = () => {}) {
  loading ??= fetchReader()
    .catch((error) => console.warn(String(error)))
    .finally(() => {
      loading = null;
      heard();
    });
  return loading;
}

let failed = false; // the last try to fetch it, until a model was refused for it

// What the program asks before it reads a model.
export function modelsState(heard) {
  if (reader !== null && !reader.fallen) return kReady;
  if (failed) return kAbsent;
  reader = null;
  loadModels(() => {
    failed = reader === null;
    heard();
  });
  return kLoading;
}

// The reader's answer to a call, as bytes; null where there is no reader: the next model tries again.
function answer(name, ...given) {
  failed = false;
  if (reader === null) return null;
  const address = reader.call(name, ...given);
  if (reader.fallen) return null;
  const size = reader.call('reply_size');
  return module.HEAPU8.slice(address, address + size);
}

export const readModel = (name, bytes, sizes) => answer('read', name, bytes, sizes);
export const openDimensions = (bytes) => answer('open_dimensions', bytes);
export const isModel = (path) => path.endsWith('.onnx');
