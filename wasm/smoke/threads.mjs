// Runs a program of this folder with the page's team (page/js/team.js) of so many threads, on node's own.
//
// usage: node threads.mjs THREADS PROGRAM.js [ARGUMENT…]
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { runInThisContext } from 'node:vm';
import { Worker as Thread } from 'node:worker_threads';

const [threads, program, ...given] = process.argv.slice(2);

// What a worker of a browser begins with.
const kBegin = `
const { parentPort, workerData } = require('node:worker_threads');
globalThis.postMessage = (data) => parentPort.postMessage(data);
globalThis.onmessage = null;
import(workerData).then(() => parentPort.on('message', (data) => globalThis.onmessage({ data })));
`;

globalThis.Worker = class {
  #thread;

  constructor(script) {
    this.#thread = new Thread(kBegin, { eval: true, workerData: script.href });
    this.#thread.on('message', (data) => this.onmessage({ data }));
    this.#thread.on('error', (error) => this.onerror(error));
  }

  postMessage(data) {
    this.#thread.postMessage(data);
  }

  terminate() {
    this.#thread.terminate();
  }
};
globalThis.crossOriginIsolated = true;
Object.defineProperty(globalThis, 'navigator', { value: { hardwareConcurrency: Number(threads) } });

const { Team } = await import('../page/js/team.js');
const team = new Team();
await team.started;
if (team.size !== Number(threads)) throw new Error(`${team.size} threads in place of ${threads}`);

// The program takes these as its own.
const path = resolve(program);
Object.assign(globalThis, { require: createRequire(path), __filename: path, __dirname: dirname(path) });
globalThis.Module = { host: { team }, arguments: given };
runInThisContext(readFileSync(path, 'utf8'), { filename: path });
