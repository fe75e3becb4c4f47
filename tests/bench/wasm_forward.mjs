// A model's forward pass in WebAssembly on one thread, as Recut emits it, with SIMD128 and with relaxed multiply-adds,
// and by onnxruntime-web with all of its optimisations: milliseconds, the ratio, and how far the outputs are apart. All
// in turn in one run, the least of many rounds each, since other work on the machine slows some of them.
//
// usage: wasm_forward.sh [--recut RECUT] [--rounds N] MODEL.onnx...
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { emitWords, functions } from '../codegen/wasm_functions.mjs';
import { readTensors } from '../onnx/safetensors.mjs';
import { layOut, readStep, writeInput } from './wasm_host.mjs';

const ort = await import('../onnx/node_modules/onnxruntime-web/dist/ort.wasm.mjs').catch(() => {
  console.error('no onnxruntime-web: npm ci --prefix tests/onnx');
  process.exit(1);
});
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'error';

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: { recut: { type: 'string', default: 'build/release/recut' }, rounds: { type: 'string', default: '20' } },
});
const folder = mkdtempSync(join(tmpdir(), 'recut-forward-'));

function command(words) {
  const { status, stderr } = spawnSync(options.recut, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${options.recut} ${words.join(' ')}: ${stderr}`);
}

// As a joint graph without gradients, which can be planned for.
function importModel(file) {
  const [graph, tensors] = [join(folder, 'model.recut'), join(folder, 'model.safetensors')];
  command(['import', file, '--out', graph, '--tensors', tensors]);
  const text = readFileSync(graph, 'utf8');
  const inputs = text.match(/^ {2}%\S+ = (input|parameter|buffer) /gm).length;
  writeFileSync(graph, text.replace(/}\s*$/, `  gradients ${Array(inputs).fill('none').join(', ')}\n}\n`));
  return { graph, values: new Map([...readTensors(tensors), ...readTensors(file.replace(/onnx$/, 'safetensors'))]) };
}

function ofRecut({ graph, values }, words) {
  const module = join(folder, 'step.wasm');
  command(['emit', graph, '--target', 'wasm', '-o', module, '--device', 'cpu8', ...words]);
  const step = readStep(module), laid = layOut(step);
  const memory = new WebAssembly.Memory({ initial: laid.pages });
  for (const input of laid.inputs) writeInput(memory, input, values.get('in.' + input.name).bytes);
  const view = new DataView(memory.buffer);
  for (const [at, value] of laid.words) view.setInt32(at, value, true);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(step.module), { recut: { memory, ...functions } });
  const calls = laid.launches.flatMap((launch) => launch.calls).map(([name, ...given]) => [exports[name], given]);
  const place = laid.arena + step.outputs[0].place.arena;
  const count = step.outputs[0].layouts[0].shape.reduce((a, b) => a * b, 1);
  return {
    title: words.length > 0 ? 'Recut, relaxed' : 'Recut, SIMD128',
    run: async () => calls.forEach(([call, given]) => call(...given)),
    output: () => new Float32Array(memory.buffer, place, count),
  };
}

async function ofOnnxruntime(file, values) {
  const kinds = { F32: ['float32', Float32Array], I64: ['int64', BigInt64Array] };
  const session = await ort.InferenceSession.create(readFileSync(file), { graphOptimizationLevel: 'all' });
  const feeds = Object.fromEntries(session.inputNames.map((name) => {
    const { dtype, shape, bytes } = values.get('in.' + name);
    const [kind, Values] = kinds[dtype];
    return [name, new ort.Tensor(kind, new Values(bytes.buffer.slice(0)), shape)];
  }));
  let results;
  return {
    title: `onnxruntime-web ${ort.env.versions.web}`,
    run: async () => { results = await session.run(feeds); },
    output: () => results[session.outputNames[0]].data,
  };
}

function difference(found, expected) {
  let apart = 0, most = 0;
  for (let i = 0; i < expected.length; ++i) {
    apart = Math.max(apart, Math.abs(found[i] - expected[i]));
    most = Math.max(most, Math.abs(expected[i]));
  }
  return apart / most;
}

try {
  for (const file of files) {
    const model = importModel(file);
    const all = [await ofOnnxruntime(file, model.values), ofRecut(model, []), ...(emitWords().length > 0 ? [ofRecut(model, emitWords())] : [])];
    const times = all.map(() => Infinity);
    for (let round = 0; round < Number(options.rounds); ++round)
      for (const [i, one] of all.entries()) {
        const began = performance.now();
        await one.run();
        times[i] = Math.min(times[i], performance.now() - began);
      }
    console.log(basename(file));
    for (const [i, one] of all.entries()) {
      const apart = difference(one.output(), all[0].output());
      if (!(apart < 1e-3)) throw new Error(`${one.title} differs by ${apart}`);
      const words = i === 0 ? '' : `   ${(times[i] / times[0]).toFixed(2)} of its time, outputs within ${apart.toExponential(1)}`;
      console.log(`  ${one.title.padEnd(26)}${times[i].toFixed(1).padStart(9)} ms${words}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
