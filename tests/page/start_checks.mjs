// The page starts, draws, rests, and weighs what it may.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { checkDrawn } from './pixels.mjs';

const kMaxBytes = 3_250_000; // packed, without the samples and the reader of ONNX models
const kMaxReader = 600_000; // which is fetched when the first model is opened

function filesBelow(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

export const checks = {
  async 'it starts and draws a sample, from its own folder alone'(kit) {
    const tab = await kit.open('', { draws: true });
    const started = await tab.page.evaluate(() => performance.getEntriesByName('recut-started')[0].startTime);
    await tab.idle();
    assert.equal(await tab.state('document'), 'gpt2');
    assert.equal(await tab.page.title(), 'gpt2 · Recut');
    assert.equal(await tab.state('moment'), 'first');
    assert.match(await tab.page.locator('[data-id="first/cost"]').textContent(), /is proved\. Partitioned as by PyTorch: \+/);
    checkDrawn(await tab.picture(`${kit.pictures}/first.png`), 'the first page');
    assert.deepEqual(tab.faults, []);
    for (const address of tab.requests) assert.ok(address.startsWith(kit.url), address);
    return `the first frame after ${started.toFixed(0)} ms`;
  },

  async 'the first screen ends when its budget was dragged and let go of'(kit) {
    const tab = await kit.open('');
    await tab.idle();
    const [x, y] = await tab.middle('memory/budget');
    await tab.page.mouse.move(x, y);
    await tab.page.mouse.down();
    await tab.page.mouse.move(x, y + 12, { steps: 4 });
    assert.equal(await tab.state('moment'), 'first');
    await tab.page.mouse.up();
    await tab.waitState('moment', 'open');
    await tab.idle();
    assert.notEqual(await tab.state('budget'), 'none');
    assert.deepEqual(tab.faults, []);
  },

  async 'at rest nothing is drawn or asked'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.page.waitForTimeout(2500); // the workspace is saved, hints and notices are over
    const counts = async () => [await tab.state('frames'), await tab.page.evaluate(() => window.recut.loop.ticks)];
    const before = await counts();
    await tab.page.waitForTimeout(3000);
    assert.deepEqual(await counts(), before);
  },

  async 'it opens gpt2'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.command('file.sample', 'gpt2');
    await tab.idle();
    assert.equal(await tab.state('document'), 'gpt2');
    assert.equal(await tab.state('holds'), 'yes');
    const long = await tab.page.evaluate(() => window.longTasks);
    return `${long.length} tasks over 50 ms, the longest ${Math.max(...long).toFixed(0)} ms`;
  },

  async 'packed, it stays below its bound'(kit) {
    const files = filesBelow(kit.siteFolder).filter((path) => !path.includes('/samples/'));
    const packed = (paths) => paths.reduce((sum, path) => sum + gzipSync(readFileSync(path), { level: 9 }).length, 0);
    const isReader = (path) => /\/onnx\.(js|wasm)$/.test(path);
    const bytes = packed(files.filter((path) => !isReader(path)));
    const reader = packed(files.filter(isReader));
    assert.ok(bytes <= kMaxBytes, `${bytes} bytes`);
    assert.ok(reader > 0 && reader <= kMaxReader, `${reader} bytes of the reader of ONNX models`);
    return `${bytes} bytes, gzip -9, and ${reader} for ONNX models, fetched when needed`;
  },
};
