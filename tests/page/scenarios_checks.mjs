// The window's scenarios (tests/gui/scenarios), played in the page.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

// They ask for files in folders, which a page leaves to the browser.
const kNotHere = ['documents', 'faults'];

// Places and sizes as in the native window, with a quarter of its pixels: without a GPU drawing them is what
// takes the time. looks_checks.mjs looks at whole ones.
const kScreen = { viewport: { width: 1680, height: 1050 }, deviceScaleFactor: 0.5 };

// What scenarios open by name: a page reads no files of its own.
const kFiles = [
  'joint/tiny_mlp.json.gz',
  'joint/tiny_mlp.safetensors',
  'mlp.recut',
  'blocks/residual_block.recut',
  'blocks/softmax.recut',
  'rules/transposes.rules',
  'snapshots/mlp.pickle',
];

async function play(kit, folder, name) {
  // Begins with nothing open, as the scenarios do: as after a visit that closed everything.
  const tab = await kit.load('', kScreen, () => localStorage.setItem('recut/workspace', '{}'));
  await tab.started();
  await tab.idle();
  for (const file of kFiles) {
    const bytes = readFileSync(join(kit.samples, '..', file));
    const plain = file.endsWith('.gz') ? gunzipSync(bytes) : bytes;
    await tab.page.evaluate(
      ([path, base64]) => window.recut.engine.call('file_held', path, Uint8Array.from(atob(base64), (one) => one.charCodeAt(0))),
      ['samples/' + file, plain.toString('base64')],
    );
  }
  await tab.page.evaluate((text) => window.recut.engine.call('play', text), readFileSync(join(folder, name + '.script'), 'utf8'));
  await tab.page.waitForFunction(() => window.recut.engine.ask('played') !== '', null, { timeout: 240_000, polling: 100 });
  const words = await tab.page.evaluate(() => window.recut.engine.ask('played'));
  if (words !== 'passed') throw new Error(words);
}

const folder = new URL('../gui/scenarios', import.meta.url).pathname;
const names = readdirSync(folder).map((file) => file.replace('.script', ''));
export const checks = Object.fromEntries(
  names.filter((name) => !kNotHere.includes(name)).map((name) => [name, (kit) => play(kit, folder, name)]),
);
