// When the program is ticked: in the browser's next frame while frames are owed, after a while where
// something is due, and not at all at rest.

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

  // Within the event at hand, for what browsers allow only there: keyboards, clipboards, dialogs.
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
