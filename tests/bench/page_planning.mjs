// How long the page plans beside the native command: the same budgets in turn, in one run on one
// machine. Each round takes budgets a little lower than the one before, for the page keeps what it
// planned. The times are the planner's own (solve_ms).
//
// usage: node tests/bench/page_planning.mjs SITE RECUT FILE…
//        SITE: build/wasm/site; RECUT: build/release/recut; FILE: graphs
import { spawnSync } from 'node:child_process';
import { basename, resolve } from 'node:path';
import { serve } from '../../wasm/serve.mjs';
import { launch, Tab } from '../page/browser.mjs';

const kShares = [0.9, 0.7, 0.55, 0.45]; // of the peak without recomputation; the page has planned for a half
const kRounds = 3;
const kLower = 0.001; // from round to round

const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
};

const [site, recut, ...files] = process.argv.slice(2).map((path) => resolve(path));

function plannedByCommand(file, budget) {
  // A budget that can't be held is an answer as well.
  const { status, stdout } = spawnSync(recut, ['plan', file, '--budget', String(budget), '--json'], { maxBuffer: 1 << 28 });
  if (status !== 0 && status !== 1) throw new Error(`${recut} plan ${file}: exit ${status}`);
  return JSON.parse(stdout);
}

async function plannedByPage(tab, budget) {
  await tab.command('budget.set', String(budget));
  await tab.idle(300);
  return JSON.parse(await tab.plan());
}

async function compare(tab, file) {
  await tab.choose(file, () => tab.page.keyboard.press('Control+o'));
  await tab.waitState('documents', '2');
  await tab.idle(300);
  const whole = plannedByCommand(file, '100%').peak_bytes_without_recomputation;
  const times = { native: [], page: [] };
  for (let round = 0; round < kRounds; ++round)
    for (const share of kShares) {
      const budget = Math.floor(whole * (share - round * kLower));
      const [there, here] = [plannedByCommand(file, budget), await plannedByPage(tab, budget)];
      if (here.peak_bytes !== there.peak_bytes) throw new Error(`${file}: not the same plan at ${budget}`);
      times.native.push(there.solve_ms);
      times.page.push(here.solve_ms);
    }
  return times;
}

const pages = await serve(site);
const browser = await launch();
console.log('graph                plans   native ms     page ms   ratio of medians');
for (const file of files) {
  const tab = await Tab.open(browser, pages.url + '#v=1&sample=tiny_conv', {}, null);
  await tab.started();
  await tab.idle();
  const { native, page } = await compare(tab, file);
  const column = (number, wide, digits) => number.toFixed(digits).padStart(wide);
  console.log(
    basename(file).padEnd(20) +
      column(native.length, 6, 0) +
      column(median(native), 12, 1) +
      column(median(page), 12, 1) +
      column(median(page) / median(native), 19, 2),
  );
  await tab.close();
}
await browser.close();
pages.close();
