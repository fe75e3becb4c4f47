// A step as `recut emit --target wasm -o` writes it, laid out in one memory.
import { readFileSync } from 'node:fs';

const kBytes = { f64: 8, i64: 8, f32: 4, i32: 4, f16: 2, bf16: 2, i16: 2, i8: 1, u8: 1, bool: 1 };
const kFault = 64; // address behind the memory's first used word

export const elementsOf = ({ shape }) => shape.reduce((a, b) => a * b, 1);
// Number of elements from the first to the last that strides reach.
const reachOf = ({ shape, strides }) =>
  shape.includes(0) ? 0 : shape.reduce((last, size, d) => last + (size - 1) * strides[d], 1);
export const bytesOf = ({ dtype, elements }) => kBytes[dtype] * elements;

export function readStep(path) {
  return { ...JSON.parse(readFileSync(path.replace(/wasm$/, 'json'), 'utf8')), module: readFileSync(path) };
}

// Writes an input, dense in `values` as bytes, to the addresses of its strides.
export function writeInput(memory, { dtype, shape, strides, at }, values) {
  const into = new Uint8Array(memory.buffer), bytes = kBytes[dtype];
  for (let i = 0; i < elementsOf({ shape }); ++i) {
    let place = 0, rest = i;
    for (let d = shape.length - 1; d >= 0; --d) {
      place += (rest % shape[d]) * strides[d];
      rest = Math.floor(rest / shape[d]);
    }
    into.set(values.subarray(i * bytes, (i + 1) * bytes), at + place * bytes);
  }
}

// Lays out inputs, arena and scratch. `words`: addresses and 32-bit values to write first. Each launch has its calls,
// [function, first argument, ...].
export function layOut(step) {
  let end = 2 * kFault;
  const place = (bytes) => {
    const at = end;
    end = Math.ceil((at + bytes) / 64) * 64;
    return at;
  };
  const inputs = step.inputs.map((input) => {
    const elements = reachOf(input);
    return { ...input, elements, at: place(bytesOf({ dtype: input.dtype, elements })) };
  });
  const scratch = place(step.scratch_bytes);
  const arena = place(step.arena_bytes);
  const words = [];
  const launches = step.launches.map(({ kernel, buffers }) => {
    const list = place(4 * buffers.length);
    buffers.forEach((one, i) =>
      words.push([list + 4 * i, (one.input === undefined ? arena : inputs[one.input].at) + (one.arena ?? one.offset ?? 0)]));
    const calls = step.kernels[kernel].stages.map((stage) =>
      [stage.function, list, 0n, BigInt(stage.extent), 0n, kFault, scratch]);
    return { kernel, calls };
  });
  return { inputs, arena, words, launches, fault: kFault, pages: Math.ceil(end / 65536) };
}
