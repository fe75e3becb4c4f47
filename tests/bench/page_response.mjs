// How soon the page answers in Chromium without a GPU: the first frame and the first picture of a graph, frames
// while a budget is dragged, and from a key to its letter. Times are those of this machine; there is no bound that fails.
//
// usage: node tests/bench/page_response.mjs SITE [SAMPLE…]
//        SITE: build/wasm/site; SAMPLE: of the page's, gpt2 where none is named
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { serve } from '../../wasm/serve.mjs';
import { launch, Tab } from '../page/browser.mjs';

const kRounds = 3;
const kMoves = 60; // of the pointer while the budget is dragged, one a frame
const kLetters = 'abcdefghijklmnopqrst';
const kBurst = 'The quick brown fox jumps over lazy dogs'; // forty characters at once

const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
const median = (numbers) => sorted(numbers)[numbers.length >> 1];
const at95 = (numbers) => sorted(numbers)[Math.floor((numbers.length - 1) * 0.95)];

// Until the camera stands on a picture of the graph, in milliseconds since the page was asked for.
async function firstPicture(tab) {
  await tab.started();
  await tab.page.waitForFunction(() => window.recut.engine.ask('state', 'drawn') === 'yes', null, { polling: 'raf', timeout: 120_000 });
  const [started, now] = await tab.page.evaluate(() => [performance.getEntriesByName('recut-started')[0].startTime, performance.now()]);
  return { started, picture: now };
}

// Keeps how far apart frames are while `act` goes on, and how long each takes of the window's own thread.
async function framesDuring(tab, act) {
  await tab.page.evaluate(() => {
    const { loop } = window.recut;
    const kept = { gaps: [], ticks: [], on: true };
    window.kept = kept;
    let last = performance.now();
    const frame = (now) => {
      kept.gaps.push(now - last);
      last = now;
      if (kept.on) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    const tick = loop.constructor.prototype.tick;
    loop.tick = function () {
      const began = performance.now();
      tick.call(loop);
      kept.ticks.push(performance.now() - began);
    };
  });
  await act();
  return tab.page.evaluate(() => {
    window.kept.on = false;
    delete window.recut.loop.tick;
    return { gaps: window.kept.gaps.slice(1), ticks: window.kept.ticks };
  });
}

async function dragBudget(tab) {
  const { x, y, width, height } = await tab.box('trade-off/curve');
  const { mouse } = tab.page;
  const middle = y + height / 2;
  await mouse.move(x + width * 0.4, middle);
  await mouse.down();
  const found = await framesDuring(tab, async () => {
    for (let i = 0; i <= kMoves; ++i) {
      await mouse.move(x + width * (0.4 + 0.4 * Math.sin((i / kMoves) * Math.PI)), middle);
      await tab.page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    }
  });
  await mouse.up();
  return found;
}

// Writes down when keys go down and when the text with their letters was drawn.
async function recordTyping(tab) {
  await tab.page.evaluate(() => {
    const kept = { downs: [], drawn: [] };
    window.typing = kept;
    const before = window.recut.engine.ask('state', 'typed').length;
    window.addEventListener('keydown', () => kept.downs.push(performance.now()), { capture: true });
    const look = () => {
      const letters = window.recut.engine.ask('state', 'typed').length - before;
      while (kept.drawn.length < letters) kept.drawn.push(performance.now());
      requestAnimationFrame(look);
    };
    look();
  });
}

const waitForLetters = (tab, count) =>
  tab.page.waitForFunction((wanted) => window.typing.drawn.length >= wanted, count, { polling: 'raf', timeout: 60_000 });

async function typeLetters(tab) {
  await tab.command('palette.open');
  await tab.idle();
  await recordTyping(tab);
  for (const [i, letter] of [...kLetters].entries()) {
    await tab.page.keyboard.press(letter);
    await waitForLetters(tab, i + 1);
  }
  const before = Number(await tab.state('frames'));
  await tab.page.keyboard.type(kBurst);
  await waitForLetters(tab, kLetters.length + kBurst.length);
  const { downs, drawn } = await tab.page.evaluate(() => window.typing);
  const single = [...kLetters].map((_, i) => drawn[i] - downs[i]);
  return { single, burst: drawn.at(-1) - downs[kLetters.length], frames: Number(await tab.state('frames')) - before };
}

// The first visit: until its plan is shown, and until the whole trade-off is there.
async function firstVisit() {
  const tab = await Tab.open(browser, pages.url, { draws: true }, null);
  await tab.started();
  const when = async (ready) => {
    await tab.page.waitForFunction(ready, null, { polling: 'raf', timeout: 120_000 });
    return tab.page.evaluate(() => performance.now());
  };
  const plan = await when(() => window.recut.engine.ask('state', 'peak') !== '');
  const curve = await when(() => window.recut.engine.ask('state', 'curve') === 'complete');
  await tab.close();
  return { plan, curve };
}

const [siteFolder, ...named] = process.argv.slice(2);
const pages = await serve(resolve(siteFolder));
const browser = await launch();
const number = (value, wide = 10) => value.toFixed(0).padStart(wide);
console.log(`Chromium ${browser.version()} without a GPU, ${availableParallelism()} cores; milliseconds`);
const visits = [];
for (let round = 0; round < kRounds; ++round) visits.push(await firstVisit());
const row = (words, numbers) => console.log(words.padEnd(26) + number(median(numbers)) + number(at95(numbers)) + number(Math.max(...numbers)));
console.log('\na first visit               median      95 %      most');
row('a plan is shown', visits.map((one) => one.plan));
row('the whole trade-off', visits.map((one) => one.curve));
for (const sample of named.length > 0 ? named : ['gpt2']) {
  const firsts = [];
  let tab = null;
  for (let round = 0; round < kRounds; ++round) {
    await tab?.close();
    tab = await Tab.open(browser, `${pages.url}#v=1&sample=${sample}`, { draws: true }, null);
    firsts.push(await firstPicture(tab));
  }
  await tab.idle(300);
  const drag = await dragBudget(tab);
  await tab.idle(300);
  const keys = await typeLetters(tab);
  console.log(`\n${sample}                       median      95 %      most`);
  row('first frame', firsts.map((one) => one.started));
  row('first picture', firsts.map((one) => one.picture));
  row('drag: between frames', drag.gaps);
  row('drag: a tick', drag.ticks);
  row('from key to letter', keys.single);
  console.log(`${kBurst.length} characters at once`.padEnd(26) + number(keys.burst) + `   in ${keys.frames} frames`);
  await tab.close();
}
await browser.close();
pages.close();
