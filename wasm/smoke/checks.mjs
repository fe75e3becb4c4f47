// Checks the program of this folder, in one process for each kind of check: most of a check's time
// went into starting node and compiling the program.
//
// usage: node --experimental-wasm-relaxed-simd checks.mjs KIND PROGRAM.js RECUT [--only TEXT] [--report FILE.xml]
//        KIND: show, window, step or train; RECUT: the native command to compare with; TEXT: part
//        of a check's name
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Report } from '../../tests/checks.mjs';
import { Program } from './program.mjs';

const kSkipped = 77;
const top = new URL('../..', import.meta.url).pathname;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' }, report: { type: 'string', default: '' } },
});
const [kind, path, command] = positionals;
const recut = resolve(command);
const program = new Program(resolve(path));
const folder = mkdtempSync(join(tmpdir(), 'recut-smoke-'));
process.chdir(top); // scenarios name files relative to it

// In a page the browser decompresses, so both programs read the plain file.
function plain(graph) {
  const file = join(folder, graph + '.json');
  if (!existsSync(file)) writeFileSync(file, gunzipSync(readFileSync(join('samples/joint', graph + '.json.gz'))));
  return file;
}

async function run(args, threads = 1) {
  assert.equal(await program.run(args, threads), 0, args.join(' '));
}

const withoutTimes = (bytes) => bytes.toString('latin1').replace(/("solve_ms": ?)[0-9.e+-]+/g, '$10');

function native(form, graph) {
  const out = join(folder, 'native.out');
  const plan = (...args) => execFileSync(recut, ['plan', graph, ...args, out]);
  const torch = ['--strategy', 'torch', '--budget', '0.4'];
  if (form === 'plan') plan(...torch, '--out');
  else if (form === 'peak') plan('--budget', '60%', '--out');
  else if (form === 'timeline') plan(...torch, '--svg');
  else return execFileSync(recut, ['show', graph, '--format', form], { maxBuffer: 1 << 28 });
  return readFileSync(out);
}

// Every byte must be equal, but for the planning time.
async function compare(form, name) {
  const [graph, out] = [plain(name), join(folder, 'wasm.out')];
  await run(['show', form, graph, out]);
  const [here, there] = [withoutTimes(readFileSync(out)), withoutTimes(native(form, graph))];
  assert.ok(here.length > 0 && here === there, `${here.length} bytes here, ${there.length} of the command, not the same`);
  return `${here.length} bytes, the same`;
}

const play = (scenario) =>
  run(['window', `tests/gui/scenarios/${scenario}.script`, 'tiny_conv=' + plain('tiny_conv'),
    'samples/joint/tiny_mlp.json.gz=' + plain('tiny_mlp')]);

// All losses must have the same bits.
async function train(graph, optimizer) {
  const losses = [];
  for (const threads of [1, 2, 3]) {
    const out = join(folder, 'losses');
    await run(['train', plain(graph), optimizer, '20', out], threads);
    losses.push(readFileSync(out, 'utf8'));
  }
  assert.equal(new Set(losses[0].trim().split('\n')).size, 40);
  assert.deepEqual(losses.slice(1), [losses[0], losses[0]]);
}

const named = (rows) => Object.fromEntries(rows);
const kKinds = {
  show: () =>
    named(['gpt2', 'unet'].flatMap((graph) =>
      ['text', 'json', 'dot', 'svg', 'plan', 'peak', 'timeline'].map((form) => [`${form} of ${graph}`, () => compare(form, graph)]))),
  window: () =>
    named(readdirSync('tests/gui/scenarios').map((file) => file.replace('.script', '')).map((name) => [name, () => play(name)])),
  // Runs each step without a budget, and at its least peak.
  step: () =>
    named(['mlp', 'tiny_conv', 'tiny_lm', 'tiny_lstm', 'tiny_mlp', 'tiny_ops'].flatMap((graph) =>
      ['none', 'least'].flatMap((budget) =>
        [1, 2].map((threads) => [`${graph}, budget ${budget}, threads ${threads}`, () => run(['step', plain(graph), budget], threads)])))),
  train: () =>
    named([['mlp', 'sgd'], ['tiny_conv', 'adam'], ['tiny_lm', 'adamw']].map(([graph, optimizer]) =>
      [`${graph} by ${optimizer}, threads 1, 2 and 3`, () => train(graph, optimizer)])),
};

if (kind === 'show' && !existsSync(recut)) {
  console.log(`skipped: no native command at ${recut} to compare with; build preset release first`);
  process.exit(kSkipped);
}
const report = new Report();
for (const [name, check] of Object.entries(kKinds[kind]()))
  if (name.includes(values.only)) await report.run(name, check);
rmSync(folder, { recursive: true });
report.write(values.report);
process.exit(report.failed > 0 ? 1 : 0);
