// The kernels of a step in WebAssembly beside the same kernels as machine code, on one thread: milliseconds of all
// launches of a kernel, the ratio, and the share of the step in WebAssembly; and the same of all products and of all
// other kernels. `recut run` and node take turns; each time
// is the least of the rounds' medians, since other work on the machine slows some of them.
//
// usage: wasm_step.sh [--recut RECUT] [--rounds N] [--steps N] [--all] FILE...     graphs; --all: every kernel
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { emitWords, functions } from '../codegen/wasm_functions.mjs';
import { bytesOf, layOut, readStep } from './wasm_host.mjs';

const kDevice = 'cpu8'; // prices both plans
const kShown = 12;
const kProduct = /^(mm|bmm|addmm|baddbmm|convolution)/; // names of such kernels
const kWarmUp = 2000; // milliseconds at least: engines compile in two tiers, the better one aside

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    recut: { type: 'string', default: 'build/release/recut' },
    rounds: { type: 'string', default: '3' },
    steps: { type: 'string', default: '5' },
    all: { type: 'boolean', default: false },
  },
});

const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

function command(words) {
  const { status, stdout, stderr } = spawnSync(options.recut, words, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`${options.recut} ${words.join(' ')}: ${stderr}`);
  return stdout;
}

// Times by kernel name: launches and bytes of one name are one row.
function runNative(file) {
  const times = JSON.parse(command(['run', file, '--device', 'cpu', '--threads', '1', '--no-library', '--json', '--steps',
    options.steps, '--profile', kDevice])).slowest;
  const rows = new Map();
  for (const { name, launches, bytes, ms } of times) {
    const key = [name, launches, bytes].join(' ');
    rows.set(key, (rows.get(key) ?? 0) + ms);
  }
  return rows;
}

// Reals between -reach and reach, 0 for what may be an index. Factors of products have a small reach, as those that
// `recut run` makes: sums stay where exp has numbers that processors are quick with.
function fill(memory, { inputs }) {
  const view = new DataView(memory.buffer);
  for (const { dtype, shape, elements, at } of inputs) {
    const reach = shape.length < 2 ? 1 : Math.sqrt(shape[0] / elements);
    for (let i = 0; i < elements; ++i) {
      const number = reach * (((i * 7919) % 2003) / 1001 - 1);
      if (dtype === 'f32') view.setFloat32(at + 4 * i, number, true);
      if (dtype === 'f64') view.setFloat64(at + 8 * i, number, true);
    }
  }
}

function makeWasm(path) {
  const step = readStep(path), laid = layOut(step);
  const memory = new WebAssembly.Memory({ initial: laid.pages });
  const view = new DataView(memory.buffer);
  fill(memory, laid);
  for (const [at, value] of laid.words) view.setInt32(at, value, true);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(step.module), { recut: { memory, ...functions } });
  const launches = laid.launches.map(({ kernel, calls }) =>
    ({ kernel, calls: calls.map(([name, ...given]) => [exports[name], given]) }));
  return { step, launches, view, fault: laid.fault };
}

const keyOf = ({ name, buffers }, launches) => {
  const twice = ({ access }) => (access === 'updated' ? 2 : 1);
  const bytes = buffers.reduce((sum, one) => sum + twice(one) * bytesOf(one), 0);
  return [name, launches, launches * bytes].join(' ');
};

// One step's milliseconds by launch.
const stepOf = ({ launches }) => launches.map(({ calls }) => {
  const began = performance.now();
  for (const [call, given] of calls) call(...given);
  return performance.now() - began;
});

function runWasm(wasm) {
  const { step, launches, view, fault } = wasm;
  const steps = Array.from({ length: Number(options.steps) }, () => stepOf(wasm));
  if (view.getBigInt64(fault, true) !== 0n) throw new Error(step.faults[Number(view.getBigInt64(fault, true)) - 1]);
  const rows = new Map();
  step.kernels.forEach((kernel, k) => {
    const which = launches.map((_, i) => i).filter((i) => launches[i].kernel === k);
    const key = keyOf(kernel, which.length);
    rows.set(key, (rows.get(key) ?? 0) + which.reduce((sum, i) => sum + median(steps.map((ms) => ms[i])), 0));
  });
  return rows;
}

const least = (into, rows) => {
  for (const [key, ms] of rows) into.set(key, Math.min(into.get(key) ?? Infinity, ms));
};

function print(file, native, wasm) {
  const row = (title, ms, other, share) => console.log(`  ${title.padEnd(44)}${other.toFixed(3).padStart(10)}` +
    `${ms.toFixed(3).padStart(10)}${(ms / other).toFixed(2).padStart(8)}${share}`);
  const sum = (rows) => [...rows.values()].reduce((a, b) => a + b, 0);
  const whole = sum(wasm);
  console.log(`${basename(file)}\n  ${'kernel, launches'.padEnd(44)}    native      wasm   ratio   share`);
  const missing = [...wasm.keys()].filter((key) => !native.has(key));
  if (missing.length > 0) throw new Error(`not among recut run's kernels: ${missing.join(', ')}`);
  [...wasm].sort((a, b) => b[1] - a[1]).slice(0, options.all ? wasm.size : kShown).forEach(([key, ms]) => {
    const [name, launches] = key.split(' ');
    row(`${name.slice(0, 38)} ${launches}`, ms, native.get(key), `${((100 * ms) / whole).toFixed(0).padStart(6)} %`);
  });
  for (const [title, products] of [['products and convolutions', true], ['all others', false]]) {
    const keys = [...wasm.keys()].filter((key) => kProduct.test(key) === products);
    const all = (rows) => keys.reduce((ms, key) => ms + rows.get(key), 0);
    if (keys.length > 0) row(title, all(wasm), all(native), `${((100 * all(wasm)) / whole).toFixed(0).padStart(6)} %`);
  }
  row('the step', whole, sum(native), '');
}

const folder = mkdtempSync(join(tmpdir(), 'recut-step-'));
try {
  for (const file of files) {
    const module = join(folder, 'step.wasm');
    command(['emit', file, '--target', 'wasm', '-o', module, '--device', kDevice, ...emitWords()]);
    const made = makeWasm(module), native = new Map(), wasm = new Map();
    for (const began = performance.now(); performance.now() - began < kWarmUp;) runWasm(made);
    for (let round = 0; round < Number(options.rounds); ++round) {
      least(native, runNative(file));
      least(wasm, runWasm(made));
    }
    print(file, native, wasm);
  }
} finally {
  rmSync(folder, { recursive: true });
}
