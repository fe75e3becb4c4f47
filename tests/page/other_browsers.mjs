// The page in the other browsers that Debian has, by hand: it starts, opens gpt2 by a link, takes a
// budget that is typed and one that is dragged, and plans as the native command does. Continuous
// integration has Chromium alone (run.mjs). Pictures are left in page-pictures beside the site.
//
// usage: node tests/page/other_browsers.mjs [SITE [RECUT]]
//                         SITE: the built page, build/wasm/site; RECUT: the command, build/release/recut
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { firefox } from 'playwright-core';
import { serve } from '../../wasm/serve.mjs';
import { withoutTimes } from './browser.mjs';
import { checkDrawn } from './pixels.mjs';
import { WebDriver } from './webdriver.mjs';

const top = new URL('../..', import.meta.url).pathname;
const siteFolder = resolve(process.argv[2] ?? join(top, 'build/wasm/site'));
const recut = resolve(process.argv[3] ?? join(top, 'build/release/recut'));
const kSize = { width: 1280, height: 800 };
const kPatience = 120_000; // milliseconds: WebKit has no optimizing compiler for WebAssembly everywhere

// Stock Firefox by WebDriver BiDi; what is asked of it is what webdriver.mjs offers. Without a window
// it draws no WebGL, so it has one.
const kFirefox = '/usr/bin/firefox-esr';
async function launchFirefox(env) {
  const browser = await firefox.launch({ channel: 'moz-firefox', executablePath: kFirefox, headless: false, env });
  const page = await (await browser.newContext({ viewport: kSize })).newPage();
  const go = ([x, y]) => page.mouse.move(x, y);
  return {
    version: browser.version(),
    goto: (url) => page.goto(url),
    evaluate: (expression) => page.evaluate(expression),
    screenshot: () => page.screenshot(),
    async drag(first, ...others) {
      await go(first);
      await page.mouse.down();
      for (const place of others) await go(place);
      await page.mouse.up();
    },
    press: (keys) => page.keyboard.press(keys),
    close: () => browser.close(),
  };
}

// WebKitGTK's own small browser.
const kWebKitDriver = '/usr/bin/WebKitWebDriver';
function miniBrowser() {
  for (const architecture of readdirSync('/usr/lib').filter((name) => name.includes('-linux-gnu')))
    for (const version of ['4.1', '4.0']) {
      const path = `/usr/lib/${architecture}/webkit2gtk-${version}/MiniBrowser`;
      if (existsSync(path)) return path;
    }
  return '';
}
function launchWebKit(env) {
  const root = process.getuid() === 0;
  const own = root ? { ...env, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1' } : env;
  return WebDriver.launch(kWebKitDriver, miniBrowser(), kSize, own);
}

const kBrowsers = [
  { name: 'Firefox', package: 'firefox-esr', there: existsSync(kFirefox), launch: launchFirefox },
  { name: 'WebKit', package: 'webkit2gtk-driver', there: existsSync(kWebKitDriver) && miniBrowser() !== '', launch: launchWebKit },
];

// A screen in memory, and the environment that has it.
async function startScreen() {
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1500x1100x24'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const number = await new Promise((give, fail) => {
    server.on('error', () => fail(new Error('no Xvfb; apt-get install xvfb')));
    server.stdio[3].once('data', (bytes) => give(String(bytes).trim()));
  });
  return { env: { ...process.env, DISPLAY: ':' + number }, stop: () => server.kill() };
}

async function until(browser, expression, what) {
  const end = Date.now() + kPatience;
  while (!(await browser.evaluate(expression))) {
    if (Date.now() > end) throw new Error(`${what}: not after ${kPatience / 1000} s`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
const state = (browser, name) => browser.evaluate(`recut.engine.ask('state', '${name}')`);
const idle = (browser) => until(browser, `recut.engine.call('idle') === 1`, 'the page is at rest');

function nativePlan(folder, budget) {
  const out = join(folder, 'plan.json');
  execFileSync(recut, ['plan', join(top, 'samples/joint/gpt2.json.gz'), '--budget', budget, '--out', out], { stdio: 'pipe' });
  return withoutTimes(readFileSync(out, 'utf8'));
}

async function comparePlan(browser, folder) {
  const budget = await state(browser, 'budget');
  assert.equal(await state(browser, 'holds'), 'yes', `budget ${budget}`);
  const here = withoutTimes(await browser.evaluate(`recut.engine.ask('plan')`));
  if (!existsSync(recut)) return 'not compared: no native command';
  const there = nativePlan(folder, budget);
  const peaks = [here, there].map((text) => JSON.parse(text).peak_bytes);
  assert.equal(...peaks, `budget ${budget}`);
  return `peak ${peaks[0]} at budget ${budget}, as the command${here === there ? ', to the byte of the plan' : ''}`;
}

async function typeBudget(browser, words) {
  const box = await boxOf(browser, 'trade-off/budget field');
  const middle = [box.x + box.width / 2, box.y + box.height / 2];
  await browser.drag(middle, middle);
  await until(browser, `document.activeElement.id === 'line'`, 'the field takes the keyboard');
  await browser.press('Control+a');
  for (const letter of words) await browser.press(letter);
  await browser.press('Enter');
  await until(browser, `recut.engine.ask('state', 'budget') !== 'none'`, 'a budget');
  await idle(browser);
}

async function dragBudget(browser) {
  const line = await boxOf(browser, 'trade-off/budget');
  const from = [line.x + line.width / 2, line.y + line.height / 2];
  const before = await state(browser, 'budget');
  await browser.drag(from, [from[0] + 20, from[1]], [from[0] + 40, from[1]]);
  await until(browser, `recut.engine.ask('state', 'budget') !== '${before}'`, 'another budget');
  await idle(browser);
}

const boxOf = (browser, id) =>
  browser.evaluate(`(({ x, y, width, height }) => ({ x, y, width, height }))(
    document.querySelector('[data-id="${id}"]').getBoundingClientRect())`);

async function tryPage(browser, url, picture, folder) {
  await browser.goto(url + '#v=1&sample=gpt2');
  const began = Date.now();
  await until(browser, `window.recut !== undefined || !document.getElementById('failure').hidden`, 'the start');
  assert.equal(await browser.evaluate(`window.recut !== undefined || document.getElementById('failure').innerText`), true);
  await idle(browser);
  const took = Date.now() - began;
  assert.equal(await state(browser, 'document'), 'gpt2');
  const workers = await browser.evaluate(`performance.getEntriesByType('resource').filter((one) => one.name.includes('worker.js')).length`);
  await typeBudget(browser, '40%');
  const words = [await comparePlan(browser, folder)];
  await dragBudget(browser);
  words.push(await comparePlan(browser, folder));
  await browser.press('F4');
  await until(browser, `recut.engine.ask('state', 'overlay') === 'lessons'`, 'a key');
  await browser.press('Escape');
  await idle(browser);
  const png = await browser.screenshot();
  writeFileSync(picture, png);
  checkDrawn(png, 'the page');
  return [`gpt2 at rest after ${took} ms, ${workers > 0 ? 'with workers' : 'without workers'}`, ...words];
}

const missing = kBrowsers.filter((one) => !one.there).map((one) => one.package);
if (missing.length > 0) console.log(`not tried: apt-get install --no-install-recommends ${missing.join(' ')}`);
const there = kBrowsers.filter((one) => one.there);
if (there.length === 0) process.exit(77);

const site = await serve(siteFolder, 0, '/some/folder');
const screen = await startScreen();
const pictures = resolve(siteFolder, '../page-pictures');
const folder = mkdtempSync(join(tmpdir(), 'recut-browsers-'));
mkdirSync(pictures, { recursive: true });
let failed = 0;
for (const { name, launch } of there) {
  let browser = null;
  try {
    browser = await launch(screen.env);
    const words = await tryPage(browser, site.url, join(pictures, name.toLowerCase() + '.png'), folder);
    console.log(`passed: ${name} ${browser.version}\n  ${words.join('\n  ')}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED: ${name} ${browser?.version ?? ''}\n${error.stack}`);
    if (browser !== null) writeFileSync(join(pictures, name.toLowerCase() + '-failed.png'), await browser.screenshot().catch(() => ''));
  }
  await browser?.close();
}
rmSync(folder, { recursive: true });
screen.stop();
site.close();
process.exit(failed > 0 ? 1 : 0);
