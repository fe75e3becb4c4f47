// A thread pool for the parallel loops of a training step (wasm/step/parallel_run.h), where the page is cross-origin
// isolated and so may share memory. The worker that runs the step is one of its threads. It stays in one call from the
// first launch to the last, so the others are started before, and wait without their event loops while they are in a
// step. They are in one step at a time: of several open steps (a training's and a run's) they join the one that runs.
//
// The step's memory begins with control words. A generation is one stage of a kernel: each thread takes chunks of its
// iterations from an atomic counter until none is left. No bit depends on which thread takes a chunk.
export const kControlBytes = 64;
const kGeneration = 0; // counts generations
const kNext = 1; // the first iteration that no thread has taken
const kBusy = 2; // threads that are still in the generation
const kStop = 3; // threads leave the step
const kReady = 4; // threads that are in the step
const kFailed = 5; // threads that failed
const kStage = 6;
const kExtent = 7;
const kChunk = 8; // iterations of a chunk
const kBuffers = 9; // address of the list of buffers
const kFault = 10;
const kScratch = 11;
const kStride = 12; // of scratch memory, from thread to thread
const kWords = 14;
const kSeed = 7; // in units of 64 bits

const kMaxThreads = 8;
const kChunksPerThread = 4;
const kTimeoutMs = 5000; // milliseconds until a thread has started, or is ready
const kSpins = 20_000; // polls before a thread sleeps: launches follow each other closely
const kMaxParallelExtent = 2 ** 30; // iterations that the control words can count
const kMaxPages = 2 ** 15; // of a step's memory: addresses have 31 bits

// One thread's view of a step: its instance of the module over the shared memory.
export class ThreadContext {
  #control;
  #seed;
  #stages;

  constructor(module, memory, rank, functions) {
    this.rank = rank;
    this.#control = new Int32Array(memory.buffer, 0, kWords);
    this.#seed = new BigInt64Array(memory.buffer, 0, kSeed + 1);
    const { exports } = new WebAssembly.Instance(module, { recut: { memory, ...functions } });
    this.#stages = WebAssembly.Module.exports(module).map(({ name }) => exports[name]);
  }

  get control() {
    return this.#control;
  }
  set seed(seed) {
    this.#seed[kSeed] = seed;
  }

  runChunk(stage, first, last) {
    const control = this.#control;
    const scratch = control[kScratch] + this.rank * control[kStride];
    this.#stages[stage](control[kBuffers], BigInt(first), BigInt(last), this.#seed[kSeed], control[kFault], scratch);
  }

  runChunks() {
    const control = this.#control;
    for (;;) {
      const first = Atomics.add(control, kNext, control[kChunk]);
      if (first >= control[kExtent]) return;
      this.runChunk(control[kStage], first, Math.min(control[kExtent], first + control[kChunk]));
    }
  }
}

// Waits until the control word differs from `was`.
function waitWhile(control, word, was, timeout = Infinity) {
  for (let i = 0; i < kSpins; ++i) if (Atomics.load(control, word) !== was) return true;
  while (Atomics.load(control, word) === was)
    if (Atomics.wait(control, word, was, timeout) === 'timed-out') return false;
  return true;
}

// Waits until the control word is `wanted`.
function waitUntil(control, word, wanted, timeout) {
  for (let now; (now = Atomics.load(control, word)) !== wanted; )
    if (!waitWhile(control, word, now, timeout)) return false;
  return true;
}

// Runs on a pool thread: takes part in one step from its opening until the thread leaves it.
export function serveStep({ module, memory, rank }) {
  const absent = () => {
    throw new Error('a function that only the first thread has');
  };
  const imports = WebAssembly.Module.imports(module).filter(({ kind }) => kind === 'function');
  const context = new ThreadContext(module, memory, rank, Object.fromEntries(imports.map(({ name }) => [name, absent])));
  const control = context.control;
  let generation = Atomics.load(control, kGeneration);
  Atomics.add(control, kReady, 1);
  Atomics.notify(control, kReady);
  const stopped = () => Atomics.load(control, kStop) !== 0;
  while (!stopped()) {
    waitWhile(control, kGeneration, generation);
    generation = Atomics.load(control, kGeneration);
    if (!stopped()) runGeneration(context);
  }
  Atomics.sub(control, kReady, 1);
  Atomics.notify(control, kReady);
}

function runGeneration(context) {
  try {
    context.runChunks();
  } catch {
    Atomics.add(context.control, kFailed, 1);
  }
  if (Atomics.sub(context.control, kBusy, 1) === 1) Atomics.notify(context.control, kBusy);
}

export class ThreadPool {
  #workers = [];
  #steps = new Map(); // open steps by number: module, memory and thread context
  #last = 0;
  #current = null; // the step that the threads are in
  #isBroken = false;
  #spareMemory = null; // a closed step's memory, reused: shared memory is collected late, and plans may follow each other

  // Starts the other threads; without permission for any, the pool has this thread alone. No step is opened before
  // they have `started`: a new worker runs only while its creator returns to its event loop. So each answers a
  // message.
  constructor() {
    const threads = globalThis.crossOriginIsolated ? Math.min(kMaxThreads, navigator.hardwareConcurrency ?? 1) : 1;
    const script = new URL('./pool_thread.js', import.meta.url);
    for (let rank = 1; rank < threads; ++rank) this.#workers.push(new Worker(script, { type: 'module' }));
    const begun = (worker) =>
      new Promise((tell) => {
        const late = setTimeout(tell, kTimeoutMs, false);
        const tells = (answer) => () => {
          clearTimeout(late);
          tell(answer);
        };
        Object.assign(worker, { onmessage: tells(true), onerror: tells(false) });
        worker.postMessage({});
      });
    this.started = Promise.all(this.#workers.map(begun)).then((begun) => {
      this.#workers.forEach((worker, i) => begun[i] || worker.terminate());
      this.#workers = this.#workers.filter((_, i) => begun[i]);
    });
  }

  // True if a thread failed to enter a step: a new pool is needed, and with it a new worker.
  get isBroken() {
    return this.#isBroken;
  }

  get size() {
    return this.#workers.length + 1;
  }

  // Returns the number of a step with memory of its own.
  open(module, pages, functions) {
    const memory = this.#memoryOf(pages);
    const step = { module, memory, context: new ThreadContext(module, memory, 0, functions) };
    step.context.control.fill(0);
    this.#enter(step);
    this.#steps.set(++this.#last, step);
    return this.#last;
  }

  bytes(number) {
    return new Uint8Array(this.#steps.get(number).memory.buffer);
  }

  // Sets the constants of all generations: addresses, and bytes of scratch memory per thread.
  prepare(number, fault, scratch, stride) {
    const { control } = this.#steps.get(number).context;
    control[kFault] = fault;
    control[kScratch] = scratch;
    control[kStride] = stride;
  }

  // `grain`: chunks are multiples of it; 0: one chunk.
  run(number, stage, buffers, extent, grain, seed) {
    const step = this.#steps.get(number);
    const { context } = step;
    const { control } = context;
    control[kBuffers] = buffers;
    context.seed = seed;
    if (grain === 0 || extent <= grain || extent > kMaxParallelExtent || this.size === 1) return context.runChunk(stage, 0, extent);
    this.#enter(step);
    control[kStage] = stage;
    control[kExtent] = extent;
    control[kChunk] = grain * Math.max(1, Math.floor(extent / (grain * this.size * kChunksPerThread)));
    Atomics.store(control, kNext, 0);
    Atomics.store(control, kBusy, this.#workers.length);
    wakeWorkers(control);
    context.runChunks();
    waitUntil(control, kBusy, 0);
    if (Atomics.load(control, kFailed) !== 0) throw new Error('a thread of the page has stopped');
  }

  close(number) {
    const step = this.#steps.get(number);
    this.#steps.delete(number);
    if (step === this.#current && !this.#leave()) return;
    const bytes = this.#spareMemory?.buffer.byteLength ?? 0;
    if (step.memory.buffer.byteLength > bytes) this.#spareMemory = step.memory;
  }

  #memoryOf(pages) {
    const spareMemory = this.#spareMemory;
    this.#spareMemory = null;
    const more = pages - (spareMemory?.buffer.byteLength ?? 0) / 2 ** 16;
    try {
      if (spareMemory !== null && more > 0) spareMemory.grow(more);
      return spareMemory ?? new WebAssembly.Memory({ initial: pages, maximum: kMaxPages, shared: true });
    } catch {
      return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    }
  }

  #enter(step) {
    if (step === this.#current) return;
    this.#leave();
    this.#current = step;
    const { module, memory, context } = step;
    Atomics.store(context.control, kStop, 0);
    this.#workers.forEach((worker, i) => worker.postMessage({ module, memory, rank: i + 1 }));
    if (waitUntil(context.control, kReady, this.#workers.length, kTimeoutMs)) return;
    this.#leave();
    this.#isBroken = true;
    throw new Error('a thread of the page does not start');
  }

  // Leaves the step; true once all threads have left it.
  #leave() {
    if (this.#current === null) return true;
    const { control } = this.#current.context;
    this.#current = null;
    Atomics.store(control, kStop, 1);
    wakeWorkers(control);
    return waitUntil(control, kReady, 0, kTimeoutMs);
  }
}

function wakeWorkers(control) {
  Atomics.add(control, kGeneration, 1);
  Atomics.notify(control, kGeneration);
}
