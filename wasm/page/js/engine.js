// The program's exported functions, with strings and byte arrays in place of addresses. The first exception or trap is
// reported once; later calls do nothing.

export class Engine {
  #module;
  #fell;
  #prefix;
  #fallen = false;

  // `fell(error)`: the program has failed. `prefix`: of the exported functions.
  constructor(module, fell, prefix = '_page_') {
    this.#module = module;
    this.#fell = fell;
    this.#prefix = prefix;
  }

  get fallen() {
    return this.#fallen;
  }

  // Calls the function of that name. Strings and Uint8Arrays among the arguments are copied to the
  // program's memory for the call; bytes become two arguments, address and count.
  call(name, ...given) {
    if (this.#fallen) return 0;
    const lent = [];
    try {
      const numbers = given.flatMap((one) => this.#lend(one, lent));
      return this.#module[this.#prefix + name](...numbers);
    } catch (error) {
      this.fall(error);
      return 0;
    } finally {
      if (!this.#fallen) lent.forEach((address) => this.#module._free(address));
    }
  }

  // The same for functions that return a text.
  ask(name, ...given) {
    const address = this.call(name, ...given);
    if (address === 0) return '';
    const text = this.#module.UTF8ToString(address);
    this.#module._free(address);
    return text;
  }

  fall(error) {
    if (this.#fallen) return;
    this.#fallen = true;
    this.#fell(error);
  }

  // Copies a text into the program's memory; the program frees it.
  keep(text) {
    const bytes = this.#module.lengthBytesUTF8(text) + 1;
    const address = this.#allocate(bytes);
    this.#module.stringToUTF8(text, address, bytes);
    return address;
  }

  // Copies bytes into the program's memory, which the program frees; their count goes to `sizeAt`. null: none.
  keepBytes(bytes, sizeAt) {
    if (bytes === null) return 0;
    const address = this.#allocate(Math.max(1, bytes.length));
    this.#module.HEAPU8.set(bytes, address);
    new DataView(this.#module.HEAPU8.buffer).setUint32(sizeAt, bytes.length, true);
    return address;
  }

  #lend(one, lent) {
    if (typeof one === 'string') {
      lent.push(this.keep(one));
      return [lent.at(-1)];
    }
    if (!(one instanceof Uint8Array)) return [Number(one)];
    lent.push(this.#allocate(Math.max(1, one.length)));
    this.#module.HEAPU8.set(one, lent.at(-1));
    return [lent.at(-1), one.length];
  }

  #allocate(bytes) {
    const address = this.#module._malloc(bytes);
    if (address === 0) throw new RangeError('out of memory');
    return address;
  }
}
