// A worker: the same program without a window. It opens the files that it is sent and serves one request at a time;
// replies go back as they come.
import createRecut from '../recut.js';
import { Engine } from './engine.js';
import { isModel, loadModels, openDimensions, readModel } from './models.js';
import { ThreadPool } from './thread_pool.js';

const fell = (error) => postMessage({ fell: String(error?.message ?? error) });

function run(compiled) {
  return new Promise((resolve) =>
    createRecut({
      host: {
        reply: (bytes) => postMessage({ bytes }, [bytes.buffer]),
        threadPool,
        keepBytes: (bytes, sizeAt) => worker.keepBytes(bytes, sizeAt),
        readModel,
        openDimensions,
      },
      print: () => {},
      printErr: (line) => console.warn(line),
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(compiled, imports).then((instance) => done(instance, compiled), fell);
        return {};
      },
    }).then(async (module) => {
      await threadPool?.started;
      worker = new Engine(module, fell, '_worker_');
      resolve(worker);
    }),
  );
}

let threadPool = null;
let worker = null; // set once it runs
let engine; // promised by the first message

async function hear({ compiled, background, serial, file, task, close }) {
  // `background`: this worker runs steps, too.
  if (compiled !== undefined) {
    if (background) threadPool = new ThreadPool();
    engine = run(compiled);
    return;
  }
  await engine;
  if (file?.path !== undefined && isModel(file.path)) await loadModels();
  if (close !== undefined) return worker.call('close', close);
  const sufficed =
    (file === null || worker.call('open', serial, file.path, file.bytes) !== 0) && worker.call('serve', serial, task) !== 0;
  if (worker.fallen) return;
  if (!sufficed) return fell('no memory is left');
  postMessage({ done: true, isBroken: threadPool?.isBroken });
}

// Messages are handled one after the other.
let last = Promise.resolve();
onmessage = ({ data }) => {
  last = last.then(() => hear(data)).catch(fell);
};
