// WebKit behind its driver's plain HTTP (W3C WebDriver): as much of it as other_browsers.mjs needs.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// A port that was free a moment ago.
function freePort() {
  return new Promise((give) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => give(port));
    });
  });
}

const kKeys = { Control: '\uE009', Enter: '\uE007', Escape: '\uE00C', F4: '\uE034' };

export class WebDriver {
  #driver;
  #address;
  #session = '';
  version = '';

  // `program`: the driver's; `browser`: the one that it starts. The window is as large as asked for inside.
  static async launch(program, browser, { width, height }, env) {
    const one = new WebDriver();
    const port = await freePort();
    one.#address = `http://127.0.0.1:${port}`;
    one.#driver = spawn(program, [`--port=${port}`], { stdio: 'ignore', env });
    try {
      await one.#answers();
      const options = { binary: browser, args: ['--automation'] };
      const begun = await one.#ask('POST', '/session', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } } });
      one.#session = `/session/${begun.sessionId}`;
      one.version = begun.capabilities.browserVersion;
      await one.#fit(width, height);
      return one;
    } catch (error) {
      one.#driver.kill();
      throw error;
    }
  }

  goto(url) {
    return this.#ask('POST', '/url', { url });
  }
  // The value of an expression in the page.
  evaluate(expression) {
    return this.#ask('POST', '/execute/sync', { script: `return ${expression};`, args: [] });
  }
  async screenshot() {
    return Buffer.from(await this.#ask('GET', '/screenshot'), 'base64');
  }

  // Presses at the first place and lets go at the last one.
  drag(...places) {
    const move = ([x, y]) => ({ type: 'pointerMove', duration: 50, x: Math.round(x), y: Math.round(y) });
    const [first, ...others] = places.map(move);
    const actions = [first, { type: 'pointerDown', button: 0 }, ...others, { type: 'pointerUp', button: 0 }];
    return this.#act({ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions });
  }
  // "Control+a", "Enter", "b": held together.
  press(keys) {
    const all = keys.split('+').map((key) => kKeys[key] ?? key);
    const down = all.map((value) => ({ type: 'keyDown', value }));
    return this.#act({ type: 'key', id: 'keys', actions: [...down, ...all.reverse().map((value) => ({ type: 'keyUp', value }))] });
  }

  async close() {
    await this.#ask('DELETE', '').catch(() => {});
    this.#driver.kill();
  }

  #act(source) {
    return this.#ask('POST', '/actions', { actions: [source] });
  }

  async #answers() {
    for (let i = 0; i < 100; ++i) {
      if (await this.#ask('GET', '/status').catch(() => null)) return;
      await pause(100);
    }
    throw new Error("the browser's driver doesn't answer");
  }

  async #fit(width, height) {
    await this.#ask('POST', '/window/rect', { width, height });
    const [wide, high] = await this.evaluate('[innerWidth, innerHeight]');
    await this.#ask('POST', '/window/rect', { width: 2 * width - wide, height: 2 * height - high });
  }

  async #ask(method, path, body) {
    const whole = this.#address + this.#session + path;
    const answer = await fetch(whole, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${value?.message ?? answer.status}`);
    return value;
  }
}
