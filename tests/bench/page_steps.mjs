// Training steps in the page, on one thread and on several, in Chromium: how long a step is compiled, from its schedule
// to a module's functions, the first time and when it is again, the longest task of the window meanwhile, and how much
// quicker several threads are. Both pages take turns in one run; times of steps are the least of the rounds' medians,
// since other work on the machine slows some of them.
//
// usage: node tests/bench/page_steps.mjs SITE FILE…     SITE: build/wasm/site; FILE: graphs
import { basename, resolve } from 'node:path';
import { serve } from '../../wasm/serve.mjs';
import { launch, Tab } from '../page/browser.mjs';

const kRounds = 5;
const kFewestSteps = 5, kMaxSteps = 200;
const kMs = 1500; // of steps in a round: engines compile in two tiers, the better one aside

const [site, ...files] = process.argv.slice(2).map((path) => resolve(path));

async function open(browser, url, file) {
  const tab = await Tab.open(browser, url + '#v=1&sample=tiny_conv', {}, null);
  await tab.started();
  await tab.idle();
  await tab.choose(file, () => tab.command('file.open'));
  await tab.waitState('document', basename(file).replace(/\..*/, ''));
  await tab.command('model.set', 'fused');
  await tab.command('budget.set', 'none');
  await tab.idle(300);
  return { tab, compiled: [], steps: [], longest: 0 };
}

async function run(one) {
  const { tab } = one;
  await tab.page.evaluate(() => window.longTasks.splice(0));
  const fit = Math.round(kMs / (one.steps.at(-1) ?? kMs));
  await tab.command('run.step', String(Math.min(kMaxSteps, Math.max(kFewestSteps, fit))));
  await tab.idle(900);
  if ((await tab.state('run')) !== 'done') throw new Error(await tab.state('run_fault'));
  one.compiled.push(Number(await tab.state('compile_ms')));
  one.steps.push(Number(await tab.state('run_ms')));
  one.longest = Math.max(one.longest, ...(await tab.page.evaluate(() => window.longTasks.splice(0))));
  one.where = await tab.state('run_where');
}

const pages = [await serve(site), await serve(site, 0, '', true)];
const browser = await launch();
for (const file of files) {
  console.log(`${basename(file)}\n  where                     compiled ms   again   longest task ms   step ms   times as quick`);
  const all = [];
  for (const { url } of pages) all.push(await open(browser, url, file));
  for (let round = 0; round < kRounds; ++round) for (const one of all) await run(one);
  const least = (one) => Math.min(...one.steps);
  for (const one of all) {
    const again = Math.min(...one.compiled.slice(1));
    const column = (number, wide, digits) => number.toFixed(digits).padStart(wide);
    console.log('  ' + one.where.padEnd(24) + column(one.compiled[0], 13, 0) + column(again, 8, 0) + column(one.longest, 18, 0) +
      column(least(one), 10, 1) + column(least(all[0]) / least(one), 17, 2));
    await one.tab.close();
  }
}
await browser.close();
for (const page of pages) page.close();
