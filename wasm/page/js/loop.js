// Schedules the program's ticks: in the next frame while frames are due, after a delay where something is due, and
// never at rest.

export class Loop {
  #engine;
  #frame = 0;
  #timer = 0;
  #ticking = false;
  #onOutOfMemory;
  ticks = 0;

  constructor(engine, onOutOfMemory) {
    this.#engine = engine;
    this.#onOutOfMemory = onOutOfMemory;
  }

  // Something changed: tick soon.
  wake() {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#tickInFrame());
  }

  // Ticks within the current event, for keyboards, clipboards and dialogs, which browsers allow only there.
  tick() {
    if (this.#ticking || this.#engine.fallen) return;
    this.#ticking = true;
    ++this.ticks;
    const rest = this.#engine.call('tick');
    this.#ticking = false;
    clearTimeout(this.#timer);
    if (this.#engine.fallen) return;
    if (rest === -2) this.#onOutOfMemory();
    else if (rest === 0) this.wake();
    else if (rest > 0) this.#timer = setTimeout(() => this.wake(), rest * 1000);
  }

  #tickInFrame() {
    this.#frame = 0;
    this.tick();
  }
}
