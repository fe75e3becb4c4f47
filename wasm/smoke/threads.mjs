// The page's thread pool (page/js/thread_pool.js) on node's own threads.
import { Worker as Thread } from 'node:worker_threads';
import { ThreadPool } from '../page/js/thread_pool.js';

// The preamble of an emulated browser worker.
const kBegin = `
const { parentPort, workerData } = require('node:worker_threads');
globalThis.postMessage = (data) => parentPort.postMessage(data);
globalThis.onmessage = null;
import(workerData).then(() => parentPort.on('message', (data) => globalThis.onmessage({ data })));
`;

const started = new Set();

globalThis.Worker = class {
  #thread;

  constructor(script) {
    this.#thread = new Thread(kBegin, { eval: true, workerData: script.href });
    this.#thread.on('message', (data) => this.onmessage({ data }));
    this.#thread.on('error', (error) => this.onerror(error));
    started.add(this);
  }

  postMessage(data) {
    this.#thread.postMessage(data);
  }

  terminate() {
    started.delete(this);
    return this.#thread.terminate();
  }
};
globalThis.crossOriginIsolated = true;

// A pool of `threads` threads, this one among them.
export async function threadPoolOf(threads) {
  Object.defineProperty(globalThis, 'navigator', { value: { hardwareConcurrency: threads }, configurable: true });
  const threadPool = new ThreadPool();
  await threadPool.started;
  if (threadPool.size !== threads) throw new Error(`${threadPool.size} threads in place of ${threads}`);
  return threadPool;
}

export const endThreadPools = () => Promise.all([...started].map((one) => one.terminate()));
