// Threads that share the loops of a training step (wasm/step/team_run.h), where the page is isolated from other origins
// and so may share memory. One of them is the worker that runs the step; it stays in one call from the first launch to
// the last, so the others are started before, and wait without their event loops while a step is open.
//
// The first bytes of the step's memory are control words. A turn is one stage of a kernel: everyone takes parts of its
// iterations until none is left.
export const kControlBytes = 64;
const kTurn = 0; // counts turns
const kNext = 1; // the first iteration that nobody has taken
const kBusy = 2; // members that are not done with the turn
const kOver = 3; // the step is closed
const kReady = 4; // members that wait for turns
const kBroken = 5; // members that fell
const kStage = 6;
const kExtent = 7;
const kPart = 8; // iterations of a part
const kBuffers = 9; // addresses
const kFault = 10;
const kScratch = 11;
const kStride = 12; // of scratch memory, from member to member
const kWords = 14;
const kSeed = 7; // as words of 64 bits

const kMostThreads = 8;
const kPartsEach = 4;
const kPatience = 5000; // milliseconds until a member is ready
const kSpins = 20_000; // looks before a thread sleeps: launches follow each other closely
const kMostShared = 2 ** 30; // iterations that the control words can count

// A step as one thread sees it.
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

// Until the word is another one than `was`.
function waitWhile(control, word, was, timeout = Infinity) {
  for (let i = 0; i < kSpins; ++i) if (Atomics.load(control, word) !== was) return true;
  while (Atomics.load(control, word) === was)
    if (Atomics.wait(control, word, was, timeout) === 'timed-out') return false;
  return true;
}

// A member's side: from the step's opening to its end.
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
  for (;;) {
    waitWhile(control, kTurn, turn);
    turn = Atomics.load(control, kTurn);
    if (Atomics.load(control, kOver) !== 0) return;
    try {
      seat.takeParts();
    } catch {
      Atomics.add(control, kBroken, 1);
    }
    if (Atomics.sub(control, kBusy, 1) === 1) Atomics.notify(control, kBusy);
  }
}

export class Team {
  #members = [];
  #seat = null;
  #memory = null;

  // Starts the other threads; where there can't be any, this one is alone. Nothing is opened before they have `started`:
  // a worker begins only while the one that made it is at leisure.
  constructor() {
    const threads = globalThis.crossOriginIsolated ? Math.min(kMostThreads, navigator.hardwareConcurrency ?? 1) : 1;
    const script = new URL('./team_member.js', import.meta.url);
    for (let rank = 1; rank < threads; ++rank) this.#members.push(new Worker(script, { type: 'module' }));
    const begun = (member) =>
      new Promise((tell) => Object.assign(member, { onmessage: () => tell(true), onerror: () => tell(false) }));
    this.started = Promise.all(this.#members.map(begun)).then((begun) => {
      this.#members = this.#members.filter((_, i) => begun[i]);
    });
  }

  get size() {
    return this.#members.length + 1;
  }

  open(module, pages, functions) {
    this.#memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    this.#seat = new Seat(module, this.#memory, 0, functions);
    this.#members.forEach((member, i) => member.postMessage({ module, memory: this.#memory, rank: i + 1 }));
    for (;;) {
      const ready = Atomics.load(this.#seat.control, kReady);
      if (ready === this.#members.length) return;
      if (!waitWhile(this.#seat.control, kReady, ready, kPatience)) throw new Error('a thread of the page does not start');
    }
  }

  get bytes() {
    return new Uint8Array(this.#memory.buffer);
  }

  // What all turns have in common: addresses, and bytes of scratch memory for each thread.
  prepare(fault, scratch, stride) {
    const control = this.#seat.control;
    control[kFault] = fault;
    control[kScratch] = scratch;
    control[kStride] = stride;
  }

  // `grain`: parts are multiples of it; 0: there is one part.
  run(stage, buffers, extent, grain, seed) {
    const control = this.#seat.control;
    control[kBuffers] = buffers;
    this.#seat.seed = seed;
    if (grain === 0 || extent <= grain || extent > kMostShared || this.size === 1)
      return this.#seat.part(stage, 0, extent);
    control[kStage] = stage;
    control[kExtent] = extent;
    control[kPart] = grain * Math.max(1, Math.floor(extent / (grain * this.size * kPartsEach)));
    Atomics.store(control, kNext, 0);
    Atomics.store(control, kBusy, this.#members.length);
    this.#call();
    this.#seat.takeParts();
    for (let busy; (busy = Atomics.load(control, kBusy)) !== 0; ) waitWhile(control, kBusy, busy);
    if (Atomics.load(control, kBroken) !== 0) throw new Error('a thread of the page has stopped');
  }

  close() {
    Atomics.store(this.#seat.control, kOver, 1);
    this.#call();
    this.#seat = this.#memory = null;
  }

  #call() {
    Atomics.add(this.#seat.control, kTurn, 1);
    Atomics.notify(this.#seat.control, kTurn);
  }
}
