// Runs ONNX models by onnxruntime and adds what they give to their tensors: NAME.onnx with the inputs in
// NAME.safetensors (in.<input>) makes out.0, out.1, … in the same file. By hand, where a model is new or has changed:
//   npm ci --prefix tests/onnx && node tests/onnx/reference.mjs FOLDER/*.onnx
import fs from "node:fs";
import * as ort from "onnxruntime-web";
import { readTensors, writeTensors } from "./safetensors.mjs";

const kinds = {
  F32: ["float32", Float32Array], I64: ["int64", BigInt64Array], BOOL: ["bool", Uint8Array], I32: ["int32", Int32Array],
};

async function run(path) {
  const tensorsPath = path.replace(/\.onnx$/, ".safetensors");
  const tensors = readTensors(tensorsPath);
  for (const name of [...tensors.keys()]) if (name.startsWith("out.")) tensors.delete(name);
  const session = await ort.InferenceSession.create(fs.readFileSync(path), { graphOptimizationLevel: "disabled" });
  const feeds = {};
  for (const name of session.inputNames) {
    const { dtype, shape, bytes } = tensors.get("in." + name);
    const [kind, Values] = kinds[dtype];
    feeds[name] = new ort.Tensor(kind, new Values(bytes.buffer), shape);
  }
  const start = performance.now();
  const results = await session.run(feeds);
  session.outputNames.forEach((name, i) => {
    const { type, data, dims } = results[name];
    const dtype = Object.keys(kinds).find((key) => kinds[key][0] === type);
    const bytes = Uint8Array.from(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    tensors.set("out." + i, { dtype, shape: [...dims], bytes });
  });
  writeTensors(tensorsPath, tensors);
  console.log(`${path}: ${session.outputNames.length} outputs in ${(performance.now() - start).toFixed(0)} ms`);
}

ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";
for (const path of process.argv.slice(2))
  await run(path).catch((why) => {
    console.error(`${path}: ${why}`);
    process.exitCode = 1;
  });
