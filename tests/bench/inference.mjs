// Inference on the processor: models of ONNX by `recut run --for-inference` and by onnxruntime with all of its
// optimisations, on the same numbers of threads. Both in turn in one run, the least of many rounds each, since other work
// on the machine slows some of them. Prints milliseconds, the ratio, and how far the outputs are apart.
//
// usage: inference.mjs [--recut RECUT] [--threads 1,2] [--rounds N] [--steps N] MODEL.onnx…   each with its
//        MODEL.safetensors; before: npm ci --ignore-scripts --prefix tests/onnx && tests/onnx/make_models.py FOLDER --large
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { readTensors } from "../onnx/safetensors.mjs";

const ort = await import("../onnx/node_modules/onnxruntime-node/dist/index.js").catch(() => {
  console.error("no onnxruntime-node: npm ci --ignore-scripts --prefix tests/onnx");
  process.exit(1);
});
const { InferenceSession, Tensor } = ort.default;

const { values: options, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    recut: { type: "string", default: "build/release/recut" },
    threads: { type: "string", default: "1,2" },
    rounds: { type: "string", default: "5" },
    steps: { type: "string", default: "10" },
  },
});
const folder = mkdtempSync(join(tmpdir(), "recut-inference-"));
const kinds = { F32: ["float32", Float32Array], I64: ["int64", BigInt64Array] };

function byRecut(file, threads) {
  const [values, given] = [join(folder, "outputs.safetensors"), file.replace(/onnx$/, "safetensors")];
  const words = ["run", file, "--for-inference", "--json", "--threads", threads, "--steps", options.steps];
  const { status, stdout, stderr } = spawnSync(
    options.recut, [...words, "--tensors", given, "--out-tensors", values], { encoding: "utf8", maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error(`${options.recut} ${words.join(" ")}: ${stderr}`);
  const first = [...readTensors(values).values()][0];
  return { ms: JSON.parse(stdout).step_ms_min, output: new Float32Array(first.bytes.buffer) };
}

async function sessionOf(file, threads) {
  const session = await InferenceSession.create(file, {
    intraOpNumThreads: Number(threads), interOpNumThreads: 1, graphOptimizationLevel: "all",
  });
  const tensors = readTensors(file.replace(/onnx$/, "safetensors"));
  const feeds = {};
  for (const name of session.inputNames) {
    const { dtype, shape, bytes } = tensors.get("in." + name);
    const [kind, Values] = kinds[dtype];
    feeds[name] = new Tensor(kind, new Values(bytes.buffer), shape);
  }
  return { session, feeds };
}

async function byOnnxruntime({ session, feeds }) {
  let ms = Infinity, output;
  for (let step = 0; step < Number(options.steps); ++step) {
    const start = performance.now();
    const results = await session.run(feeds);
    ms = Math.min(ms, performance.now() - start);
    output = results[session.outputNames[0]].data;
  }
  return { ms, output };
}

function apart(found, expected) {
  let far = 0, most = 0;
  for (let i = 0; i < expected.length; ++i) {
    far = Math.max(far, Math.abs(found[i] - expected[i]));
    most = Math.max(most, Math.abs(expected[i]));
  }
  return far / most;
}

console.log("model          threads   onnxruntime     Recut   Recut / onnxruntime   outputs apart, of the largest");
for (const file of files)
  for (const threads of options.threads.split(",")) {
    const session = await sessionOf(file, threads);
    let [ours, theirs, far] = [Infinity, Infinity, 0];
    for (let round = 0; round < Number(options.rounds); ++round) {
      const [recut, other] = [byRecut(file, threads), await byOnnxruntime(session)];
      ours = Math.min(ours, recut.ms);
      theirs = Math.min(theirs, other.ms);
      far = Math.max(far, apart(recut.output, other.output));
    }
    await session.session.release();
    console.log(
      `${basename(file, ".onnx").padEnd(14)} ${threads.padStart(7)} ${theirs.toFixed(2).padStart(10)} ms ` +
      `${ours.toFixed(2).padStart(6)} ms ${(ours / theirs).toFixed(2).padStart(21)} ${far.toExponential(1).padStart(31)}`);
  }
rmSync(folder, { recursive: true });
