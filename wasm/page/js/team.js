// A thread pool for the parallel loops of a training step (wasm/step/parallel_run.h), where the page is cross-origin
// isolated and so may share memory. The worker that runs the step is one of its threads. It stays in one call from the
// first launch to the last, so the others are started before, and wait without their event loops while they are in a
// step. They are in one step at a time: of several open steps (a training's and a run's) they join the one that runs.
//
// The step's memory begins with control words. A generation is one stage of a kernel: each thread takes chunks of its
// iterations from an atomic counter until none is left. No bit depends on which thread takes a chunk.
export const kControlBytes = 64;
const kTurn = 0; // counts generations
const kNext = 1; // the first iteration that no thread has taken
const kBusy = 2; // threads that are still in the generation
const kOver = 3; // threads leave the step
const kReady = 4; // threads that are in the step
const kBroken = 5; // threads that failed
const kStage = 6;
const kExtent = 7;
const kPart = 8; // iterations of a chunk
const kBuffers = 9; // address of the list of buffers
const kFault = 10;
const kScratch = 11;
const kStride = 12; // of scratch memory, from thread to thread
const kWords = 14;
const kSeed = 7; // in units of 64 bits

const kMostThreads = 8;
const kPartsEach = 4;
const kPatience = 5000; // milliseconds until a thread has started, or is ready
const kSpins = 20_000; // polls before a thread sleeps: launches follow each other closely
const kMostShared = 2 ** 30; // iterations that the control words can count
const kMostPages = 2 ** 15; // of a step's memory: addresses have 31 bits

// One thread's view of a step: its instance of the module over the shared memory.
export class Seat {
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

  part(stage, first, last) {
    const control = this.#control;
    const scratch = control[kScratch] + this.rank * control[kStride];
    this.#stages[stage](control[kBuffers], BigInt(first), BigInt(last), this.#seed[kSeed], control[kFault], scratch);
  }

  takeParts() {
    const control = this.#control;
    for (;;) {
      const first = Atomics.add(control, kNext, control[kPart]);
      if (first >= control[kExtent]) return;
      this.part(control[kStage], first, Math.min(control[kExtent], first + control[kPart]));
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
  const seat = new Seat(module, memory, rank, Object.fromEntries(imports.map(({ name }) => [name, absent])));
  const control = seat.control;
  let turn = Atomics.load(control, kTurn);
  Atomics.add(control, kReady, 1);
  Atomics.notify(control, kReady);
  const over = () => Atomics.load(control, kOver) !== 0;
  while (!over()) {
    waitWhile(control, kTurn, turn);
    turn = Atomics.load(control, kTurn);
    if (!over()) takeTurn(seat);
  }
  Atomics.sub(control, kReady, 1);
  Atomics.notify(control, kReady);
}

function takeTurn(seat) {
  try {
    seat.takeParts();
  } catch {
    Atomics.add(seat.control, kBroken, 1);
  }
  if (Atomics.sub(seat.control, kBusy, 1) === 1) Atomics.notify(seat.control, kBusy);
}

export class Team {
  #members = [];
  #steps = new Map(); // open steps by number: module, memory and thread context
  #last = 0;
  #at = null; // the step that the threads are in
  #spent = false;
  #spare = null; // a closed step's memory, reused: shared memory is collected late, and plans may follow each other

  // Starts the other threads; without permission for any, the pool has this thread alone. No step is opened before
  // they have `started`: a new worker runs only while its creator returns to its event loop. So each answers a
  // message.
  constructor() {
    const threads = globalThis.crossOriginIsolated ? Math.min(kMostThreads, navigator.hardwareConcurrency ?? 1) : 1;
    const script = new URL('./team_member.js', import.meta.url);
    for (let rank = 1; rank < threads; ++rank) this.#members.push(new Worker(script, { type: 'module' }));
    const begun = (member) =>
      new Promise((tell) => {
        const late = setTimeout(tell, kPatience, false);
        const tells = (answer) => () => {
          clearTimeout(late);
          tell(answer);
        };
        Object.assign(member, { onmessage: tells(true), onerror: tells(false) });
        member.postMessage({});
      });
    this.started = Promise.all(this.#members.map(begun)).then((begun) => {
      this.#members.forEach((member, i) => begun[i] || member.terminate());
      this.#members = this.#members.filter((_, i) => begun[i]);
    });
  }

  // Whether a thread failed to enter a step: a new pool is needed, and with it a new worker.
  get spent() {
    return this.#spent;
  }

  get size() {
    return this.#members.length + 1;
  }

  // Returns the number of a step with memory of its own.
  open(module, pages, functions) {
    const memory = this.#memoryOf(pages);
    const step = { module, memory, seat: new Seat(module, memory, 0, functions) };
    step.seat.control.fill(0);
    this.#enter(step);
    this.#steps.set(++this.#last, step);
    return this.#last;
  }

  bytes(number) {
    return new Uint8Array(this.#steps.get(number).memory.buffer);
  }

  // Sets the constants of all generations: addresses, and bytes of scratch memory per thread.
  prepare(number, fault, scratch, stride) {
    const { control } = this.#steps.get(number).seat;
    control[kFault] = fault;
    control[kScratch] = scratch;
    control[kStride] = stride;
  }

  // `grain`: chunks are multiples of it; 0: one chunk.
  run(number, stage, buffers, extent, grain, seed) {
    const step = this.#steps.get(number);
    const { seat } = step;
    const { control } = seat;
    control[kBuffers] = buffers;
    seat.seed = seed;
    if (grain === 0 || extent <= grain || extent > kMostShared || this.size === 1) return seat.part(stage, 0, extent);
    this.#enter(step);
    control[kStage] = stage;
    control[kExtent] = extent;
    control[kPart] = grain * Math.max(1, Math.floor(extent / (grain * this.size * kPartsEach)));
    Atomics.store(control, kNext, 0);
    Atomics.store(control, kBusy, this.#members.length);
    call(control);
    seat.takeParts();
    waitUntil(control, kBusy, 0);
    if (Atomics.load(control, kBroken) !== 0) throw new Error('a thread of the page has stopped');
  }

  close(number) {
    const step = this.#steps.get(number);
    this.#steps.delete(number);
    if (step === this.#at && !this.#leave()) return;
    const bytes = this.#spare?.buffer.byteLength ?? 0;
    if (step.memory.buffer.byteLength > bytes) this.#spare = step.memory;
  }

  #memoryOf(pages) {
    const spare = this.#spare;
    this.#spare = null;
    const more = pages - (spare?.buffer.byteLength ?? 0) / 2 ** 16;
    try {
      if (spare !== null && more > 0) spare.grow(more);
      return spare ?? new WebAssembly.Memory({ initial: pages, maximum: kMostPages, shared: true });
    } catch {
      return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    }
  }

  #enter(step) {
    if (step === this.#at) return;
    this.#leave();
    this.#at = step;
    const { module, memory, seat } = step;
    Atomics.store(seat.control, kOver, 0);
    this.#members.forEach((member, i) => member.postMessage({ module, memory, rank: i + 1 }));
    if (waitUntil(seat.control, kReady, this.#members.length, kPatience)) return;
    this.#leave();
    this.#spent = true;
    throw new Error('a thread of the page does not start');
  }

  // Whether all threads have left their step.
  #leave() {
    if (this.#at === null) return true;
    const { control } = this.#at.seat;
    this.#at = null;
    Atomics.store(control, kOver, 1);
    call(control);
    return waitUntil(control, kReady, 0, kPatience);
  }
}

function call(control) {
  Atomics.add(control, kTurn, 1);
  Atomics.notify(control, kTurn);
}
