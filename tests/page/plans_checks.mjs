// What the page plans is what the command plans, to the byte.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { Skipped } from '../checks.mjs';
import { withoutTimes } from './browser.mjs';

const kValues = 20;
// Without a budget the window shows the step as it is, which is strategy `default`.
function nativePlan(kit, folder, graph, budget) {
  const out = join(folder, 'plan.json');
  const strategy = budget === 'none' ? 'default' : 'peak';
  const file = join(kit.samples, graph + '.json.gz');
  execFileSync(kit.recut, ['plan', file, '--budget', budget, '--strategy', strategy, '--out', out], { stdio: 'pipe' });
  return withoutTimes(readFileSync(out, 'utf8'));
}

// Drags the budget's line from one end of the plot towards the other, and stops `kValues` times.
async function dragThrough(kit, graph) {
  if (!existsSync(kit.recut)) throw new Skipped(`not compared: no native command at ${kit.recut}`);
  const folder = mkdtempSync(join(tmpdir(), 'recut-page-'));
  const tab = await kit.open('v=1&sample=' + graph);
  await tab.idle();
  const plot = await tab.box('trade-off/curve');
  const y = plot.y + plot.height / 2;
  const atShare = (share) => plot.x + plot.width * (0.98 - share * 0.6);
  await tab.page.mouse.move(atShare(0), y);
  await tab.page.mouse.down();
  const seen = new Set();
  let offers = 0;
  for (let i = 0; i < kValues; ++i) {
    await tab.page.mouse.move(atShare(i / (kValues - 1)), y, { steps: 4 });
    await tab.idle();
    const budget = await tab.state('budget');
    seen.add(budget);
    assert.equal(await tab.state('holds'), 'yes', `budget ${budget}`);
    offers += (await tab.state('offer')) === 'none' ? 0 : 1;
    const [here, there] = [withoutTimes(await tab.plan()), nativePlan(kit, folder, graph, budget)];
    if (here !== there) assert.fail(`budget ${budget}: ${firstDifference(here, there)}`);
  }
  await tab.page.mouse.up();
  rmSync(folder, { recursive: true });
  assert.ok(seen.size >= kValues - 2, `${seen.size} budgets`);
  assert.deepEqual(tab.faults, []);
  const long = await tab.page.evaluate(() => window.longTasks);
  return `${kValues} plans the same bytes, better ones of other budgets offered at ${offers}; ${long.length} tasks over 50 ms, the longest ${Math.max(0, ...long).toFixed(0)} ms`;
}

function firstDifference(here, there) {
  let at = 0;
  while (at < here.length && here[at] === there[at]) ++at; // the words are made for equal ones too
  return `'${here.slice(at - 40, at + 40)}' in the page, '${there.slice(at - 40, at + 40)}' of the command`;
}

// Tasks over 50 ms since the last time that they were asked for, in words.
async function longTasks(tab, what) {
  const found = await tab.page.evaluate(() => window.longTasks.splice(0));
  return `${what}: ${found.length}, the longest ${Math.max(0, ...found).toFixed(0)} ms`;
}

export const checks = {
  async 'a budget that is dragged gives the plans of the command: gpt2'(kit) {
    return dragThrough(kit, 'gpt2');
  },
  async 'the same: unet'(kit) {
    return dragThrough(kit, 'unet');
  },
  // How long the page is held up is told, not judged: it says as much of the machine as of the page.
  async 'a large graph is opened, laid out and planned; tasks over 50 ms are told'(kit) {
    const large = resolve(kit.samples, '../../../shared/graphs/gpt2_xl.json.gz');
    const file = existsSync(large) ? large : join(kit.samples, 'gpt2.json.gz');
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const words = [basename(file), await longTasks(tab, 'to start')];
    await tab.choose(file, () => tab.command('file.open'));
    await tab.waitState('document', basename(file, '.json.gz'));
    words.push(await longTasks(tab, 'to open and lay out'));
    await tab.idle(300);
    words.push(await longTasks(tab, 'to plan the curve'));
    for (const budget of ['80%', '60%', '50%']) {
      await tab.command('budget.set', budget);
      await tab.idle(300);
      assert.equal(await tab.state('holds'), 'yes', budget);
    }
    words.push(await longTasks(tab, 'to plan three budgets'));
    assert.deepEqual(tab.faults, []);
    return words.join('; ');
  },
  async 'keys step through the passes'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv&select=relu');
    await tab.idle();
    const last = await tab.state('pass');
    assert.equal(await tab.state('pass_name'), 'dead_code');
    await tab.page.keyboard.press('b'); // over those that changed nothing
    await tab.waitState('pass_name', 'view_chains');
    for (let i = 0; i < 5; ++i) await tab.page.keyboard.press('b');
    await tab.waitState('pass', '0');
    assert.match(tab.page.url() + ' ' + (await tab.state('selection')), /relu|alias/);
    for (let i = 0; i < 6; ++i) await tab.page.keyboard.press('n');
    await tab.waitState('pass', last);
    assert.equal(await tab.state('selection'), 'relu');
  },
};
