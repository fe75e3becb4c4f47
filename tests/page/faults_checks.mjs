// What a browser may lack or take away, and what may fall: the page says so and goes on or begins again.
import assert from 'node:assert/strict';
import { checkDrawn } from './pixels.mjs';

const shown = (tab) => tab.page.locator('#failure').waitFor({ state: 'visible', timeout: 20_000 });
const text = (tab, id) => tab.page.locator('#' + id).textContent();

export const checks = {
  async 'a context that is lost comes back with everything in it'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv', { draws: true });
    await tab.drawn();
    const before = await tab.page.screenshot();
    checkDrawn(before, 'before');
    const told = (event, act) =>
      tab.page.evaluate(([name, call]) => {
        const screen = document.getElementById('screen');
        window.lender ??= screen.getContext('webgl2').getExtension('WEBGL_lose_context');
        const heard = new Promise((done) => screen.addEventListener(name, () => done(), { once: true }));
        window.lender[call]();
        return heard;
      }, [event, act]);
    await told('webglcontextlost', 'loseContext');
    await tab.command('budget.set', '90%'); // the program goes on meanwhile
    await tab.command('scale.set', '125'); // fonts, too
    await tab.idle();
    await tab.command('scale.set', '100');
    await tab.command('edit.undo');
    await tab.idle();
    await told('webglcontextrestored', 'restoreContext');
    await tab.drawn();
    checkDrawn(await tab.page.screenshot(), 'after');
    assert.deepEqual(tab.faults.filter((one) => !/CONTEXT_LOST/.test(one)), []);
  },

  async 'what a browser lacks is said'(kit) {
    const lacks = [
      [() => delete window.DecompressionStream, /DecompressionStream/],
      [() => delete window.WebAssembly, /WebAssembly/],
      [() => (HTMLCanvasElement.prototype.getContext = () => null), /WebGL 2/],
    ];
    for (const [before, words] of lacks) {
      const tab = await kit.load('v=1&sample=tiny_conv', {}, before);
      await shown(tab);
      assert.match(await text(tab, 'failure-title'), /can't run Recut/);
      assert.match(await text(tab, 'failure-list'), words);
      assert.equal(await tab.page.locator('#again').isVisible(), false);
      if (String(words).includes('WebGL')) await tab.page.screenshot({ path: kit.pictures + '/failure-missing.png' });
    }
  },

  async 'plans are made by workers; one that falls is said, and the next goes on'(kit) {
    const tab = await kit.load('v=1&sample=tiny_conv', {}, () => {
      const Real = window.Worker;
      window.Worker = class extends Real {
        postMessage(message) {
          if (!window.failing || message.task === undefined) return super.postMessage(message);
          window.failing = false;
          setTimeout(() => this.onmessage({ data: { fell: 'made up' } }));
        }
      };
    });
    await tab.started();
    await tab.idle();
    assert.ok(tab.page.workers().length >= 1, 'no worker is at work');
    await tab.page.evaluate(() => (window.failing = true));
    await tab.command('baseline.pin', 'torch 0.3');
    await tab.waitState('notice', '~made up');
    await tab.command('baseline.pin', 'torch 0.3');
    await tab.waitState('baseline', 'PyTorch at 0.3');
    assert.deepEqual(tab.faults, []);
  },

  async 'without workers the page plans in slices'(kit) {
    const tab = await kit.load('v=1&sample=tiny_conv&budget=60000', {}, () => delete window.Worker);
    await tab.started();
    await tab.idle();
    assert.equal(tab.page.workers().length, 0);
    assert.equal(await tab.state('holds'), 'yes');
    assert.notEqual(await tab.state('runs'), '0');
    assert.deepEqual(tab.faults, []);
  },

  async 'a program that can not be loaded is said, and tried again'(kit) {
    const context = await kit.browser.newContext();
    const page = await context.newPage();
    await page.route('**/recut.wasm', (route) => route.fulfill({ status: 404 }));
    await page.goto(kit.url + '#v=1&sample=tiny_conv');
    await page.locator('#failure').waitFor({ state: 'visible' });
    assert.match(await page.locator('#failure-log').textContent(), /404/);
    await page.unroute('**/recut.wasm');
    await page.locator('#again').click();
    await page.waitForFunction(() => window.recut !== undefined);
    assert.equal(await page.evaluate(() => location.hash), '#v=1&sample=tiny_conv');
    await context.close();
  },

  async 'a sample that can not be fetched is said'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.page.route('**/unet.json.gz', (route) => route.abort());
    await tab.command('file.sample', 'unet');
    await tab.waitState('fault', '~no connection');
    assert.equal(await tab.state('notice'), '');
    await tab.page.unroute('**/unet.json.gz');
    await tab.command('file.sample', 'unet');
    await tab.waitState('document', 'unet');
    await tab.idle();
    assert.equal(await tab.state('holds'), 'yes');
  },

  async 'a trapped program is said, and begins again where it was'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv&budget=90000&select=relu');
    await tab.idle();
    await tab.page.evaluate(() => window.recut.engine.call('text', 0xfffffff0)); // an address beyond the memory
    await shown(tab);
    assert.match(await text(tab, 'failure-title'), /has stopped/);
    assert.match(await text(tab, 'failure-log'), /out of bounds/);
    await tab.page.mouse.move(300, 300); // nothing is called any more
    await tab.page.screenshot({ path: kit.pictures + '/failure-trap.png' });
    await tab.page.locator('#again').click();
    await tab.started();
    await tab.idle();
    assert.equal(await tab.state('budget'), '90000');
    assert.equal(await tab.state('selection'), 'relu');
  },

  async 'memory that runs out is said'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.page.evaluate(() => {
      for (let bytes = 256 << 20; bytes > 1024; bytes /= 2) while (window.recut.module._malloc(bytes) !== 0);
    });
    await tab.command('file.sample', 'gpt2').catch(() => {});
    await shown(tab);
    assert.match(await text(tab, 'failure-title'), /no more memory/);
    await tab.page.locator('#again').click();
    await tab.started();
    await tab.idle();
    assert.notEqual(await tab.state('document'), '');
  },
};
