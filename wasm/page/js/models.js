// The reader of ONNX models: a separate program (wasm/onnx), fetched with the first model.
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

// Fetches the reader; `heard` is called once it is there or has failed. A later call retries a failure.
export function loadModels(heard = () => {}) {
  loading ??= fetchReader()
    .catch((error) => console.warn(String(error)))
    .finally(() => {
      loading = null;
      heard();
    });
  return loading;
}

let failed = false; // whether the last fetch failed, until a model was refused for it

// The reader's state, which the program asks before it reads a model.
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

// The reader's answer as bytes; null where there is no reader: the next model retries.
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
