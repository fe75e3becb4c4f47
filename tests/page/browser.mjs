// Debian's Chromium without a screen, and the page in it.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

export const kChromium = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const hasChromium = () => existsSync(kChromium);

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

// One tab with the workbench in it.
export class Tab {
  constructor(page) {
    this.page = page;
    this.faults = [];
    this.requests = [];
    page.on('pageerror', (error) => this.faults.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && this.faults.push(message.text()));
    page.on('request', (request) => this.requests.push(request.url()));
  }

  static async open(browser, url, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark', ...options });
    const tab = new Tab(await context.newPage());
    await tab.page.addInitScript(() => {
      window.longTasks = [];
      new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((one) => one.duration))).observe({
        type: 'longtask',
        buffered: true,
      });
    });
    await tab.page.goto(url);
    return tab;
  }

  started() {
    return this.page.waitForFunction(() => window.recut !== undefined, null, { timeout: 30_000 });
  }
  async idle(seconds = 120) {
    await this.page.waitForFunction(() => window.recut.engine.call('idle') === 1, null, { timeout: seconds * 1000, polling: 50 });
  }
  state(name) {
    return this.page.evaluate((one) => window.recut.engine.ask('state', one), name);
  }
  // Fails with the program's words.
  async command(id, argument = '') {
    const fault = await this.page.evaluate(([a, b]) => window.recut.engine.ask('command', a, b), [id, argument]);
    if (fault !== '') throw new Error(`${id} ${argument}: ${fault}`);
  }
  plan() {
    return this.page.evaluate(() => window.recut.engine.ask('plan'));
  }
  close() {
    return this.page.context().close();
  }
}
