// The state in the address, and what outlives a visit.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { withoutTimes } from './browser.mjs';

const hash = (tab) => tab.page.evaluate(() => location.hash.slice(1));
// Where the graph's camera stands is the window's own affair; what it says is brought back like the rest.
const kCamera = /&camera=-?[0-9.]+,-?[0-9.]+,[0-9.]+/;
const waitHash = (tab, wanted) =>
  tab.page.waitForFunction(
    ([text, camera]) => new RegExp(camera).test(location.hash) && location.hash.slice(1).replace(new RegExp(camera), '') === text,
    [wanted, kCamera.source],
    { timeout: 10_000 },
  );

export const checks = {
  async 'a link brings the whole state back'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.command('budget.set', '90000');
    await tab.command('device.set', 'h100');
    await tab.command('pass.set', 'noop_removal');
    const pass = await tab.state('pass');
    await tab.command('select.node', 'relu');
    await tab.command('theme.set', 'light');
    await waitHash(tab, `v=1&sample=tiny_conv&budget=90000&device=h100&select=relu&pass=${pass}&theme=light`);
    const link = await hash(tab);

    const other = await kit.open(link, { colorScheme: 'dark' });
    await other.idle();
    for (const [name, value] of Object.entries({ document: 'tiny_conv', budget: '90000', device: 'h100', pass, selection: 'relu', theme: 'light' }))
      assert.equal(await other.state(name), value, name);
    assert.equal(await hash(other), link);
    assert.ok(withoutTimes(await other.plan()) === withoutTimes(await tab.plan()), 'the plans differ');
  },

  async 'a tampered link says so, opens no other graph, and stays in the address'(kit) {
    for (const link of ['v=1&sample=gpt2&budget=%zz', 'v=9', 'v=1&sample=../../etc', 'v=1&sample=tiny_lm&budget=90000', '%', 'v=1&sample=tiny_conv&device=abacus', 'v=1&budget=' + '9'.repeat(4000)]) {
      const tab = await kit.open(link);
      await tab.waitState('moment', 'stuck');
      assert.match(await tab.state('fault'), /link|sample/i, link);
      await tab.idle();
      assert.equal(await hash(tab), link);
      assert.deepEqual(tab.faults, []);
      await tab.close();
    }
  },

  async 'an address that is edited is followed'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.page.evaluate(() => (location.hash = 'v=1&sample=tiny_conv&budget=80000&select=relu'));
    await tab.waitState('budget', '80000');
    await tab.idle();
    assert.equal(await tab.state('selection'), 'relu');
    await tab.page.evaluate(() => (location.hash = 'rubbish'));
    await tab.waitState('notice', '~link');
    assert.equal(await tab.state('budget'), '80000');
  },

  async 'a link to a file of its author asks for it'(kit) {
    const tab = await kit.open('v=1&file=tiny_mlp.json.gz&budget=3000');
    assert.equal(await tab.state('document'), 'tiny_mlp.json.gz');
    await tab.waitState('moment', 'stuck'); // waits for it
    assert.equal(await hash(tab), 'v=1&file=tiny_mlp.json.gz&budget=3000');
    await tab.choose(join(kit.samples, 'tiny_mlp.json.gz'), () => tab.page.keyboard.press('Control+o'));
    await tab.waitState('document', 'tiny_mlp');
    await tab.waitState('budget', '3000');
  },

  async 'the workspace outlives the visit, and a browser that keeps nothing is fine'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.command('budget.set', '90000');
    await tab.page.waitForFunction(() => location.hash.includes('budget=90000'));
    await tab.page.goto(kit.url + '?again'); // no fragment
    await tab.started();
    await tab.idle();
    assert.equal(await tab.state('document'), 'tiny_conv');
    assert.equal(await tab.state('budget'), '90000');

    const bare = await kit.load('v=1&sample=tiny_conv', {}, () =>
      Object.defineProperty(window, 'localStorage', { get: () => { throw new DOMException('denied', 'SecurityError'); } }));
    await bare.started();
    await bare.idle();
    assert.equal(await bare.state('document'), 'tiny_conv');
    assert.deepEqual(bare.faults, []);
  },

  async "the colours are the system's, and change with them"(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv', { colorScheme: 'light' });
    assert.equal(await tab.state('theme'), 'light');
    await tab.page.emulateMedia({ colorScheme: 'dark' });
    await tab.waitState('theme', 'dark');
  },
};
