// The program's helper (gui/backend/helper.h): two workers, one for urgent requests, so that the page stays responsive
// while they plan. A cancelled request terminates its worker: nothing else can stop a running program.

// HelperReply::State.
const kFound = 0;
const kFell = 1;
const kNone = 2;

const kScript = new URL('./worker.js', import.meta.url);

// One worker and the queue of its requests.
class RequestQueue {
  #compiled;
  #background;
  #files;
  #reply;
  #worker = null;
  #known = new Set(); // files that the worker has
  #queue = [];
  #current = null;

  // `background`: it is not the worker for urgent requests.
  constructor(compiled, background, files, reply) {
    this.#compiled = compiled;
    this.#background = background;
    this.#files = files;
    this.#reply = reply;
  }

  begin(request, serial, task) {
    this.#queue.push({ request, serial, task });
    this.#next();
  }

  end(request) {
    this.#queue = this.#queue.filter((one) => one.request !== request);
    if (this.#current?.request === request) {
      this.#stopWorker();
      this.#next();
    }
  }

  close(serial) {
    if (this.#known.delete(serial)) this.#worker.postMessage({ close: serial });
  }

  #next() {
    if (this.#current !== null || this.#queue.length === 0) return;
    this.#current = this.#queue.shift();
    const { serial, task } = this.#current;
    if (this.#worker === null && !this.#startWorker()) return;
    const file = this.#known.has(serial) ? null : this.#files.get(serial);
    this.#known.add(serial);
    this.#worker.postMessage({ serial, file, task });
  }

  // False where the browser or its settings allow no workers.
  #startWorker() {
    try {
      this.#worker = new Worker(kScript, { type: 'module' });
    } catch {
      this.#giveUp();
      return false;
    }
    let started = false;
    this.#worker.onmessage = ({ data }) => {
      started = true;
      this.#onReply(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      if (started) this.#fail(event.message ?? '');
      else this.#giveUp();
    };
    this.#worker.postMessage({ compiled: this.#compiled, background: this.#background });
    return true;
  }

  // `isBroken`: the worker must be replaced.
  #onReply({ bytes, done, isBroken, fell }) {
    if (this.#current === null) return;
    if (fell !== undefined) return this.#fail(fell);
    if (bytes !== undefined) this.#reply(this.#current.request, kFound, bytes);
    if (done) {
      this.#current = null;
      if (isBroken) this.#stopWorker();
      this.#next();
    }
  }

  #fail(why) {
    const memory = /memory|allocation|RangeError/i.test(why);
    const message = memory ? 'the browser has no memory left for this' : `a worker stopped: ${why}`;
    const { request } = this.#current;
    this.#stopWorker();
    this.#reply(request, kFell, new TextEncoder().encode(message));
    this.#next();
  }

  #giveUp() {
    const request = this.#current.request;
    this.#stopWorker();
    this.#queue = [];
    this.#reply(request, kNone, new Uint8Array());
  }

  #stopWorker() {
    this.#worker?.terminate();
    this.#worker = null;
    this.#known.clear();
    this.#current = null;
  }
}

export class Helper {
  #files = new Map(); // by serial number: path and bytes
  #urgent;
  #background;

  // `reply(request, state, bytes)` delivers one reply.
  constructor(compiled, reply) {
    this.#urgent = new RequestQueue(compiled, false, this.#files, reply);
    this.#background = new RequestQueue(compiled, true, this.#files, reply);
  }

  file(serial, path, bytes) {
    this.#files.set(serial, { path, bytes });
  }
  begin(request, urgent, serial, task) {
    (urgent ? this.#urgent : this.#background).begin(request, serial, task);
  }
  end(request) {
    this.#urgent.end(request);
    this.#background.end(request);
  }
  close(serial) {
    this.#files.delete(serial);
    this.#urgent.close(serial);
    this.#background.close(serial);
  }
}
