// Transforms of a graph in the page: own rules, derivatives, passes switched; the plans of workers
// for it, its link, and pictures of the transforms (build/wasm/page-pictures).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drop } from './browser.mjs';
import { checkDrawn } from './pixels.mjs';

const kPhone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const samples = (kit) => join(kit.samples, '..');
const give = (kit, tab, path) => drop(tab, path.slice(path.lastIndexOf('/') + 1), readFileSync(join(samples(kit), path)));
const item = (tab, label) => tab.page.locator(`[data-id="${label}"]`);

async function withRules(kit, options) {
  const tab = await kit.open('v=1&sample=tiny_conv', options);
  await tab.idle();
  await give(kit, tab, 'mlp.recut');
  await tab.waitState('document', 'mlp');
  await tab.idle();
  await give(kit, tab, 'rules/transposes.rules');
  await tab.waitState('pass_name', 'rules');
  await tab.idle();
  return tab;
}

async function picture(kit, tab, name) {
  checkDrawn(await tab.picture(`${kit.pictures}/${name}.png`), name);
}

export const checks = {
  async 'rules that are dropped are a pass, in the link too, and damaged ones say where'(kit) {
    const tab = await withRules(kit);
    assert.match(await item(tab, 'transforms/rule permutation of a matrix').textContent(), /3/);
    await tab.click('transforms/rule permutation of a matrix');
    await tab.click('transforms/hit 1');
    await tab.waitState('selection', 'w2_t');
    assert.match(await item(tab, 'transforms/after 0').textContent(), /transpose\.int/);
    await picture(kit, tab, 'rules');
    await tab.page.waitForFunction(() => location.hash.includes('rules=transposes.rules') && location.hash.includes('rule-text='));
    await drop(tab, 'transposes.rules', Buffer.from('rule "x" {\n  pattern {\n    %x = anything\n'));
    await tab.waitState('recipe_faults', '~transposes.rules:3:');
    assert.match(await item(tab, 'transforms/fault 0').textContent(), /transposes\.rules:3:/);
    await tab.command('rules.remove');
    await tab.idle();
    assert.equal(await tab.state('recipe'), '');
    await tab.command('edit.undo');
    await tab.waitState('pass_name', 'rules');
    assert.deepEqual(tab.faults, []);
  },

  async "a link's mesh makes the graph of a rank, and a worker plans it and compares meshes"(kit) {
    const tab = await kit.open('v=1&sample=recompute&budget=none&mesh=dp%3D2,tp%3D2%20dp%3Dfsdp,tp%3Dtp');
    await tab.idle();
    assert.equal(await tab.state('mesh'), 'dp=2,tp=2 dp=fsdp,tp=tp');
    assert.equal(await tab.state('mesh_sent'), '20480');
    await tab.command('panel.show', 'mesh');
    await tab.idle();
    await picture(kit, tab, 'mesh');
    // The table of tensors is below the fold.
    await tab.page.mouse.move(560, 740);
    await tab.page.mouse.wheel(0, 300);
    await tab.idle();
    assert.match(await item(tab, 'mesh/tensor w1').textContent(), /S\(0\), S\(1\)/);
    await tab.command('budget.set', '22528');
    await tab.idle();
    assert.equal(await tab.state('holds'), 'yes');
    await tab.command('mesh.compare', '4');
    await tab.idle();
    assert.equal(await tab.state('meshes'), '11');
    await tab.command('mesh.none');
    await tab.idle();
    assert.equal(await tab.state('mesh'), 'none');
    assert.deepEqual(tab.faults, []);
  },

  async "a forward graph is differentiated, and the workers' plan is the command's"(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await give(kit, tab, 'blocks/unet_small.recut');
    await tab.waitState('document', 'unet_small');
    await tab.idle();
    await tab.click('transforms/differentiate');
    await tab.waitState('pass_name', 'grad');
    await tab.command('budget.set', '80%');
    await tab.idle();
    await tab.click('transforms/rule relu');
    await tab.click('transforms/hit 0');
    await picture(kit, tab, 'derivatives');
    const joint = join(mkdtempSync(join(tmpdir(), 'recut-')), 'joint.recut');
    execFileSync(kit.recut, ['grad', join(samples(kit), 'blocks/unet_small.recut'), '--out', joint]);
    const plan = JSON.parse(execFileSync(kit.recut, ['plan', joint, '--budget', '80%', '--json']));
    assert.equal(await tab.state('peak'), String(plan.peak_bytes));
    assert.equal(await tab.state('saved'), String(plan.saved_bytes));
    assert.deepEqual(tab.faults, []);
  },

  async "a forward graph in forward mode: its link, and the workers' plan is the command's"(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await give(kit, tab, 'blocks/unet_small.recut');
    await tab.waitState('document', 'unet_small');
    await tab.idle();
    await tab.click('transforms/jvp');
    await tab.waitState('pass_name', 'jvp');
    await tab.page.waitForFunction(() => location.hash.includes('grad=jvp'));
    await tab.command('budget.set', '80%');
    await tab.idle();
    await tab.click('transforms/rule tangent of a result');
    await tab.click('transforms/hit 0');
    await picture(kit, tab, 'forward-mode');
    const dual = join(mkdtempSync(join(tmpdir(), 'recut-')), 'dual.recut');
    execFileSync(kit.recut, ['grad', join(samples(kit), 'blocks/unet_small.recut'), '--mode', 'jvp', '--out', dual]);
    const plan = JSON.parse(execFileSync(kit.recut, ['plan', dual, '--budget', '80%', '--json']));
    assert.equal(await tab.state('peak'), String(plan.peak_bytes));
    assert.deepEqual(tab.faults, []);
  },

  async 'passes are switched in the panel'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv', { colorScheme: 'light' });
    await tab.idle();
    await tab.command('scale.down'); // so that the last pass is in view
    await tab.idle();
    await tab.click('transforms/idle');
    await tab.click('transforms/switch scaled_softmax');
    await tab.waitState('recipe', '+scaled_softmax');
    await tab.idle();
    await tab.click('transforms/switch merge_clones');
    await tab.waitState('recipe', '+scaled_softmax -merge_clones');
    await tab.idle();
    await picture(kit, tab, 'switches');
    assert.deepEqual(tab.faults, []);
  },

  async 'on a phone: rules and derivatives'(kit) {
    const tab = await withRules(kit, kPhone);
    await tab.command('panel.show', 'transforms');
    await tab.idle();
    await picture(kit, tab, 'phone-rules');
    await give(kit, tab, 'blocks/residual_block.recut');
    await tab.waitState('document', 'residual_block');
    await tab.click('transforms/differentiate');
    await tab.waitState('pass_name', 'grad');
    await tab.idle();
    await tab.command('panel.show', 'transforms');
    await tab.idle();
    await picture(kit, tab, 'phone-derivatives');
    assert.deepEqual(tab.faults, []);
  },

  async 'an ONNX model that is dropped opens, differentiated, with the plan of the command'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const model = join(kit.samples, '../../tests/onnx/models/tiny_gpt.onnx');
    await drop(tab, 'tiny_gpt.onnx', readFileSync(model));
    await tab.waitState('document', 'tiny_gpt');
    await tab.idle();
    assert.equal(await tab.state('fault'), '');
    await tab.click('transforms/differentiate');
    await tab.waitState('pass_name', 'grad');
    await tab.command('budget.set', '80%');
    await tab.idle();
    const joint = join(mkdtempSync(join(tmpdir(), 'recut-')), 'joint.recut');
    execFileSync(kit.recut, ['grad', model, '--out', joint]);
    const plan = JSON.parse(execFileSync(kit.recut, ['plan', joint, '--budget', '80%', '--json']));
    assert.equal(await tab.state('peak'), String(plan.peak_bytes));
    assert.equal(await tab.state('saved'), String(plan.saved_bytes));
    assert.deepEqual(tab.faults, []);
  },

  async "an ONNX model is frozen, and the workers' plan and check are of the command's graph"(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const model = join(kit.samples, '../../tests/onnx/models/tiny_resnet.onnx');
    await drop(tab, 'tiny_resnet.onnx', readFileSync(model));
    await tab.waitState('fault', '~dimension');
    await tab.command('file.dimensions', 'batch=2');
    await tab.waitState('document', 'tiny_resnet');
    await tab.idle();
    await tab.click('transforms/freeze');
    await tab.waitState('pass_name', 'fold_frozen');
    await tab.idle();
    await tab.click('transforms/weights folded');
    await picture(kit, tab, 'frozen');
    const options = [model, '--dim', 'batch=2', '--freeze', '--json'];
    await tab.command('budget.set', '100%');
    await tab.idle();
    const plan = JSON.parse(execFileSync(kit.recut, ['plan', ...options, '--budget', '100%']));
    assert.equal(await tab.state('peak'), String(plan.peak_bytes));
    const { frozen } = JSON.parse(execFileSync(kit.recut, ['opt', ...options]));
    const folded = frozen.weights.filter((weight) => weight.fate === 'folded');
    assert.equal(
      await item(tab, `transforms/weight ${folded[0].name}`).count(),
      1,
      'a folded weight has its row',
    );
    await tab.command('check.run', 'seed 1');
    await tab.idle();
    assert.match(await item(tab, 'check/verdict').textContent(), /agree/);
    await tab.page.waitForFunction(() => location.hash.includes('freeze=1'));
    assert.deepEqual(tab.faults, []);
  },

  async 'an ONNX model with open dimensions asks for them, one that is damaged says so'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const model = readFileSync(join(kit.samples, '../../tests/onnx/models/tiny_bert.onnx'));
    await drop(tab, 'tiny_bert.onnx', model);
    await tab.waitState('fault', "~dimension");
    await tab.command('file.dimensions', 'batch=2,tokens=5');
    await tab.waitState('fault', '');
    await tab.idle();
    assert.equal(await tab.state('document'), 'tiny_bert');
    await drop(tab, 'broken.onnx', Buffer.from([8, 8, 18, 0]));
    await tab.waitState('fault', '~no ONNX model');
    assert.deepEqual(tab.faults, []);
  },

  async 'without its reader an ONNX model is answered by the command'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.page.route('**/onnx.js', (route) => route.abort());
    await drop(tab, 'model.onnx', Buffer.from([8, 8, 18, 0]));
    await tab.waitState('fault', '~recut import model.onnx --out model.recut');
  },
};
