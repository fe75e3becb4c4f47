// Runs checks of the page, each in a tab with a context of its own, and says which passed. One browser does for all of
// them, and works on one check more than there are processors: checks wait for timers and drawn frames more than they compute.
//
// usage: run.mjs all|GROUP[,GROUP…] SITE RECUT [--only TEXT] [--lanes COUNT] [--report FILE.xml]
//        TEXT: of a check's name
import { mkdirSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { serve } from '../../wasm/serve.mjs';
import { Report } from '../checks.mjs';
import { launch, Tab } from './browser.mjs';

const kMostLanes = 3; // those are tried
const kLongest = ['steps', 'lessons', 'plans', 'scenarios']; // first, so that no lane is left with them

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: '' },
    lanes: { type: 'string', default: String(Math.min(kMostLanes, availableParallelism() + 1)) },
    report: { type: 'string', default: '' },
  },
});
const [wanted, siteFolder, recut = ''] = positionals;
const here = new URL('.', import.meta.url).pathname;
const site = await serve(resolve(siteFolder), 0, '/some/folder'); // not at the top: addresses are relative
const isolated = await serve(resolve(siteFolder), 0, '', true);
const browser = await launch();
const pictures = resolve(siteFolder, '../page-pictures');
mkdirSync(pictures, { recursive: true });

// What a check gets; `tabs`: those that it opens.
function kitFor(tabs) {
  return {
    browser,
    url: site.url,
    siteFolder: resolve(siteFolder),
    recut: resolve(recut),
    samples: resolve(here, '../../samples/joint'),
    pictures,
    isolatedUrl: isolated.url, // of the same page, where it may share memory with its workers
    // A started page. `fragment`: of its address; `options`: of the browser's context, and `url` where it isn't kit.url.
    async open(fragment = '', options = {}) {
      const tab = await this.load(fragment, options);
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
}

function groupsOf(words) {
  if (words !== 'all') return words.split(',');
  const all = readdirSync(here).flatMap((file) => file.match(/^(.*)_checks\.mjs$/)?.[1] ?? []);
  return [...kLongest, ...all.filter((group) => !kLongest.includes(group))];
}

// {name, check, alone: whether no other may run beside it}
async function checksOf(group) {
  const { checks, alone = [] } = await import(`./${group}_checks.mjs`);
  return Object.entries(checks).map(([name, check]) => ({ name: `${group}: ${name}`, check, alone: alone.includes(name) }));
}

const report = new Report();

// Takes checks from the queue until it is empty.
async function lane(queue) {
  for (let next; (next = queue.shift()) !== undefined; ) {
    const tabs = [];
    const faults = () => tabs.flatMap((tab) => tab.faults).map((fault) => '\n  the page said: ' + fault).join('');
    await report.run(next.name, () => next.check(kitFor(tabs)), faults);
    for (const tab of tabs) await tab.close();
  }
}

const groups = await Promise.all(groupsOf(wanted).map(checksOf));
const queue = groups.flat().filter(({ name }) => name.includes(values.only));
const [alone, others] = [queue.filter((one) => one.alone), queue.filter((one) => !one.alone)];
await Promise.all(Array.from({ length: Number(values.lanes) }, () => lane(others)));
await lane(alone);
await browser.close();
site.close();
isolated.close();
report.write(values.report);
process.exit(report.failed > 0 ? 1 : 0);
