// Files that come and go: dropped, chosen, hostile ones; saved ones; what is copied and pasted.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { drop } from './browser.mjs';
import { checkDrawn } from './pixels.mjs';

async function saved(tab, command, argument) {
  const download = tab.page.waitForEvent('download', { timeout: 20_000 });
  await tab.command(command, argument);
  const file = await download;
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

const nested = (depth) => Buffer.from('{"format": "fx-joint-graph", "version": 1, "joint": ' + '['.repeat(depth) + ']'.repeat(depth) + '}');

// The browser has one clipboard, and other checks copy, too.
export const alone = ['copying goes to the clipboard, pasting into fields'];

export const checks = {
  async 'a packed graph that is dropped opens, and its tensors beside it are found'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await drop(tab, 'tiny_mlp.json.gz', readFileSync(join(kit.samples, 'tiny_mlp.json.gz')));
    await tab.waitState('document', 'tiny_mlp');
    await tab.idle();
    assert.equal(await tab.state('holds'), 'yes');
    await drop(tab, 'tiny_mlp.safetensors', readFileSync(join(kit.samples, 'tiny_mlp.safetensors')));
    await tab.page.waitForFunction(() => document.querySelector('[data-id="check/verdict"]')?.textContent.includes('agree'));
    assert.deepEqual(tab.faults, []);
  },

  async 'a memory snapshot that is dropped is compared with the plan'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const snapshot = readFileSync(join(kit.samples, '../snapshots/mlp.pickle'));
    await drop(tab, 'step.pickle.gz', gzipSync(snapshot));
    await tab.page.waitForFunction(() => document.querySelector('[data-id="memory/measured words"]')?.textContent.includes('measured +'));
    assert.equal(await tab.state('documents'), '1');
    assert.match(await tab.state('snapshot'), /^step\.pickle(\.gz)? [0-9]+ [0-9]+$/);
    await tab.command('measured.close');
    await tab.waitState('snapshot', 'none');
    assert.deepEqual(tab.faults, []);
  },

  async 'Ctrl O asks for a file'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.choose(join(kit.samples, 'mlp.json.gz'), () => tab.page.keyboard.press('Control+o'));
    await tab.waitState('documents', '2');
    await tab.idle();
    await tab.page.waitForFunction(() => location.hash.includes('file=mlp.json.gz'));
    await tab.command('file.reload'); // from what is held: a page can't read the disk
    await tab.idle();
    assert.equal(await tab.state('documents'), '2');
    assert.equal(await tab.state('document'), 'mlp');
  },

  async 'hostile files give messages, and the page goes on'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const graph = readFileSync(join(kit.samples, 'tiny_mlp.json.gz'));
    const damaged = Buffer.from(graph);
    damaged.fill(0x5a, 200, 400);
    const files = {
      'empty.json': Buffer.alloc(0),
      'noise.json': Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919) & 255)),
      'cut.json.gz': graph.subarray(0, graph.length / 2),
      'damaged.json.gz': damaged,
      'bomb.json.gz': gzipSync(Buffer.alloc(600 << 20)),
      'deep.json': nested(200_000),
      'no graph.json': Buffer.from('{"format": "fx-joint-graph", "version": 1, "num_fwd_outputs": 1e99, "joint": [7]}'),
      'broken.recut': Buffer.from('graph "x" {\n  %a = add(%b)\n'),
    };
    for (const [name, bytes] of Object.entries(files)) {
      await drop(tab, name, bytes);
      await tab.waitState('fault', '~' + name).catch((error) => assert.fail(`${name}: ${error.message}`));
      await tab.idle();
    }
    // As they were: the graph is still there, and plans.
    while ((await tab.state('document')) !== 'tiny_conv') await tab.command('file.close');
    await tab.command('budget.set', '90%');
    await tab.idle();
    assert.equal(await tab.state('holds'), 'yes');
    assert.deepEqual(tab.faults, []);
    return Object.keys(files).length + ' of them';
  },

  async 'pictures, reports and text are saved as files'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv', { draws: true });
    await tab.idle();
    const svg = await saved(tab, 'export.svg', 'graph');
    assert.equal(svg.name, 'graph.svg');
    assert.match(svg.bytes.toString(), /^<svg[^]*<\/svg>\s*$/);
    const report = await saved(tab, 'file.report', '');
    assert.equal(report.name, 'tiny_conv-report.html');
    assert.match(report.bytes.toString(), /^<!doctype html>/i);
    const png = await saved(tab, 'export.png', '');
    assert.equal(png.name, 'tiny_conv.png');
    assert.equal(png.bytes.readUInt32BE(16), 1280); // its width
    checkDrawn(png.bytes, 'the saved picture');
    const text = await saved(tab, 'export.text', '');
    assert.match(text.bytes.toString(), /graph "tiny_conv"/);
  },

  async 'a debug bundle is saved as one archive that tar reads'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const bundle = await saved(tab, 'debug.save', 'net-debug');
    assert.equal(bundle.name, 'net-debug.tar');
    const list = execFileSync('tar', ['-tvf', '-'], { input: bundle.bytes }).toString();
    assert.match(list, /^-rwxr-xr-x.* net-debug\/run\.sh$/m);
    assert.match(list, /^-rw-r--r--.* net-debug\/graph\.recut$/m);
    assert.doesNotMatch(list, /inputs\.safetensors/);
    const script = execFileSync('tar', ['-xOf', '-', 'net-debug/run.sh'], { input: bundle.bytes }).toString();
    assert.match(script, / run graph\.recut --no-passes --check .*--model eager .*--no-library/);
    await tab.waitState('bundle', 'net-debug.tar');
    await tab.command('debug.data');
    const withValues = await saved(tab, 'debug.save', 'net-debug');
    assert.match(execFileSync('tar', ['-tf', '-'], { input: withValues.bytes }).toString(), /^net-debug\/inputs\.safetensors$/m);
    assert.deepEqual(tab.faults, []);
  },

  async 'copying goes to the clipboard, pasting into fields'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv&select=relu', { permissions: ['clipboard-read', 'clipboard-write'] });
    await tab.idle();
    await tab.page.keyboard.press('Control+c');
    await tab.waitState('clipboard', '~relu');
    assert.match(await tab.page.evaluate(() => navigator.clipboard.readText()), /relu/);
    await tab.page.evaluate(() => navigator.clipboard.writeText('77 KB'));
    await tab.click('trade-off/budget field');
    await tab.page.keyboard.press('Control+a');
    await tab.page.keyboard.press('Control+v');
    await tab.page.keyboard.press('Enter');
    await tab.waitState('budget', '77000');
  },
};
