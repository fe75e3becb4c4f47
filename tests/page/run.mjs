// Runs a group of checks, each in a tab of its own, and says which passed.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { serve } from '../../wasm/serve.mjs';
import { launch, Tab } from './browser.mjs';

const [group, siteFolder, recut] = process.argv.slice(2);
const { checks } = await import(`./${group}_checks.mjs`);
const site = await serve(resolve(siteFolder), 0, '/some/folder'); // not at the top: addresses are relative
const isolated = await serve(resolve(siteFolder), 0, '', true);
const browser = await launch();
const pictures = resolve(siteFolder, '../page-pictures');
mkdirSync(pictures, { recursive: true });

const tabs = [];
const kit = {
  browser,
  url: site.url,
  siteFolder: resolve(siteFolder),
  recut: resolve(recut ?? ''),
  samples: resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../samples/joint'),
  pictures,
  isolatedUrl: isolated.url, // of the same page, where it may share memory with its workers
  // A started page. `fragment`: of its address; `options`: of the browser's context, and `url` where it isn't kit.url.
  async open(fragment = '', options = {}) {
    const tab = await kit.load(fragment, options);
    await tab.started();
    return tab;
  },
  // The same without waiting.
  async load(fragment = '', { url = site.url, ...options } = {}, before = null) {
    const tab = await Tab.open(browser, url + (fragment === '' ? '' : '#' + fragment), options, before);
    tabs.push(tab);
    return tab;
  },
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  const began = Date.now();
  try {
    const words = await check(kit);
    console.log(`passed: ${name}${words ? ': ' + words : ''} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    ++failed;
    console.log(`FAILED: ${name}\n${error.stack}`);
    for (const tab of tabs) if (tab.faults.length > 0) console.log('  the page said: ' + tab.faults.join('\n  '));
  }
  for (const tab of tabs.splice(0)) await tab.close();
}
await browser.close();
site.close();
isolated.close();
process.exit(failed > 0 ? 1 : 0);
