// Debian's Chromium without a screen, and the page in it.
import { chromium } from 'playwright-core';

const kChromium = process.env.CHROMIUM ?? '/usr/bin/chromium';

export function launch() {
  const root = process.getuid() === 0;
  return chromium.launch({
    executablePath: kChromium,
    args: [
      ...(root ? ['--no-sandbox'] : []),
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

// Without a GPU pixels took two thirds of the checks' time, and few checks look at them.
function drawNothing() {
  const gl = WebGL2RenderingContext.prototype;
  const real = { clear: gl.clear, drawElements: gl.drawElements };
  gl.clear = gl.drawElements = () => {};
  window.beginToDraw = () => Object.assign(gl, real);
}

// Drops bytes on the page under a name.
export function drop(tab, name, bytes) {
  return tab.page.evaluate(
    ([file, base64]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))], file));
      window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    },
    [name, bytes.toString('base64')],
  );
}

// A plan's file without how long planning took.
export const withoutTimes = (json) => json.replace(/("solve_ms": ?)[0-9.e+-]+/, '$10');

// One tab with the workbench in it.
export class Tab {
  constructor(page) {
    this.page = page;
    this.faults = [];
    this.requests = [];
    this.choosers = [];
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && this.faults.push(message.text()));
    page.on('filechooser', (chooser) => this.choosers.push(chooser)); // from here on none is shown
    page.on('request', (request) => this.requests.push(request.url()));
  }

  // `draws`: all frames, not only those of pictures; `before`: a function that runs in the page before its own scripts.
  static async open(browser, url, { draws = false, ...options }, before) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark', ...options });
    const tab = new Tab(await context.newPage());
    await tab.page.addInitScript(() => {
      window.longTasks = [];
      new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((one) => one.duration))).observe({
        type: 'longtask',
        buffered: true,
      });
    });
    if (!draws) await tab.page.addInitScript(drawNothing);
    if (before !== null) await tab.page.addInitScript(before);
    await tab.page.goto(url);
    return tab;
  }

  started() {
    return this.page.waitForFunction(() => window.recut !== undefined, null, { timeout: 30_000 });
  }
  async idle(seconds = 120) {
    await this.page.waitForFunction(() => window.recut.engine.call('idle') === 1, null, { timeout: seconds * 1000, polling: 50 });
  }
  // Until all that is to be seen is on the screen, and the cover has faded away.
  async drawn() {
    await this.idle();
    await this.page.waitForFunction(() => document.getElementById('cover').hidden);
    await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
  }
  // A screenshot of a page with all that is to be seen in it. The file is for people to look at.
  async picture(path) {
    await this.page.evaluate(() => {
      window.beginToDraw?.();
      const { width, height } = document.getElementById('screen');
      window.recut.engine.call('resized', width, height, devicePixelRatio); // then all is drawn again
      window.recut.loop.tick();
    });
    await this.drawn();
    return this.page.screenshot({ path });
  }
  state(name) {
    return this.page.evaluate((one) => window.recut.engine.ask('state', one), name);
  }
  // Fails with the program's words.
  async command(id, argument = '') {
    const fault = await this.page.evaluate(([a, b]) => window.recut.engine.ask('command', a, b), [id, argument]);
    if (fault !== '') throw new Error(`${id} ${argument}: ${fault}`);
  }
  // Does what asks for a file, and gives it that one.
  async choose(file, ask) {
    await ask();
    for (let i = 0; i < 100 && this.choosers.length === 0; ++i) await this.page.waitForTimeout(50);
    if (this.choosers.length === 0) throw new Error('no file was asked for');
    await this.choosers.shift().setFiles(file);
  }
  async click(label) {
    const [x, y] = await this.middle(label);
    await this.page.mouse.click(x, y);
  }
  // Of a widget, in CSS pixels; the mirror's elements lie where the widgets are drawn.
  async middle(label) {
    const box = await this.box(label);
    return [box.x + box.width / 2, box.y + box.height / 2];
  }
  async box(label) {
    const element = this.page.locator(`[data-id="${label}"]`).first();
    await element.waitFor({ state: 'attached' });
    return element.evaluate((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return { x, y, width, height };
    });
  }
  value(label) {
    return this.page.locator(`[data-id="${label}"]`).first().textContent();
  }
  async waitState(name, wanted) {
    const fits = ([one, value]) => {
      const now = window.recut.engine.ask('state', one);
      return value.startsWith('~') ? now.includes(value.slice(1)) : now === value;
    };
    await this.page.waitForFunction(fits, [name, wanted], { timeout: 30_000, polling: 50 }).catch(async () => {
      throw new Error(`${name} is '${await this.state(name)}', expected '${wanted}'`);
    });
  }
  plan() {
    return this.page.evaluate(() => window.recut.engine.ask('plan'));
  }
  close() {
    return this.page.context().close();
  }
}
