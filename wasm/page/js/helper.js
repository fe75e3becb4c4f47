// The program's helper (gui/backend/helper.h): two workers, one for urgent requests, so that the page stays responsive
// while they plan. A cancelled request terminates its worker: nothing else can stop a running program.

// HelperReply::State.
const kFound = 0;
const kFell = 1;
const kNone = 2;

const kScript = new URL('./worker.js', import.meta.url);

// One worker and the queue of its requests.
class Bench {
  #compiled;
  #patient;
  #files;
  #reply;
  #worker = null;
  #known = new Set(); // files that the worker has
  #queue = [];
  #current = null;

  // `background`: it is not the worker for urgent requests.
  constructor(compiled, patient, files, reply) {
    this.#compiled = compiled;
    this.#patient = patient;
    this.#files = files;
    this.#reply = reply;
  }

  begin(errand, serial, task) {
    this.#queue.push({ errand, serial, task });
    this.#next();
  }

  end(errand) {
    this.#queue = this.#queue.filter((one) => one.errand !== errand);
    if (this.#current?.errand === errand) {
      this.#dismiss();
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
    if (this.#worker === null && !this.#hire()) return;
    const file = this.#known.has(serial) ? null : this.#files.get(serial);
    this.#known.add(serial);
    this.#worker.postMessage({ serial, file, task });
  }

  // False where the browser or its settings allow no workers.
  #hire() {
    try {
      this.#worker = new Worker(kScript, { type: 'module' });
    } catch {
      this.#giveUp();
      return false;
    }
    let started = false;
    this.#worker.onmessage = ({ data }) => {
      started = true;
      this.#heard(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      if (started) this.#fell(event.message ?? '');
      else this.#giveUp();
    };
    this.#worker.postMessage({ compiled: this.#compiled, patient: this.#patient });
    return true;
  }

  // `isBroken`: the worker must be replaced.
  #heard({ bytes, done, spent, fell }) {
    if (this.#current === null) return;
    if (fell !== undefined) return this.#fell(fell);
    if (bytes !== undefined) this.#reply(this.#current.errand, kFound, bytes);
    if (done) {
      this.#current = null;
      if (spent) this.#dismiss();
      this.#next();
    }
  }

  #fell(why) {
    const memory = /memory|allocation|RangeError/i.test(why);
    const words = memory ? 'the browser has no memory left for this' : `a worker stopped: ${why}`;
    const { errand } = this.#current;
    this.#dismiss();
    this.#reply(errand, kFell, new TextEncoder().encode(words));
    this.#next();
  }

  #giveUp() {
    const errand = this.#current.errand;
    this.#dismiss();
    this.#queue = [];
    this.#reply(errand, kNone, new Uint8Array());
  }

  #dismiss() {
    this.#worker?.terminate();
    this.#worker = null;
    this.#known.clear();
    this.#current = null;
  }
}

export class Helper {
  #files = new Map(); // by serial number: path and bytes
  #urgent;
  #patient;

  // `reply(request, state, bytes)` delivers one reply.
  constructor(compiled, reply) {
    this.#urgent = new Bench(compiled, false, this.#files, reply);
    this.#patient = new Bench(compiled, true, this.#files, reply);
  }

  file(serial, path, bytes) {
    this.#files.set(serial, { path, bytes });
  }
  begin(errand, urgent, serial, task) {
    (urgent ? this.#urgent : this.#patient).begin(errand, serial, task);
  }
  end(errand) {
    this.#urgent.end(errand);
    this.#patient.end(errand);
  }
  close(serial) {
    this.#files.delete(serial);
    this.#urgent.close(serial);
    this.#patient.close(serial);
  }
}
