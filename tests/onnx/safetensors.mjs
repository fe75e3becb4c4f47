// Files of tensors: by name dtype, shape and bytes.
import fs from "node:fs";

export function readTensors(path) {
  const file = fs.readFileSync(path);
  const size = Number(file.readBigUInt64LE(0));
  const tensors = new Map();
  for (const [name, entry] of Object.entries(JSON.parse(file.toString("utf8", 8, 8 + size)))) {
    const [begin, end] = entry.data_offsets.map((at) => at + 8 + size);
    tensors.set(name, { dtype: entry.dtype, shape: entry.shape, bytes: Uint8Array.from(file.subarray(begin, end)) });
  }
  return tensors;
}

export function writeTensors(path, tensors) {
  const header = {}, parts = [];
  let at = 0;
  for (const [name, { dtype, shape, bytes }] of tensors) {
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.length] };
    parts.push(bytes);
    at += bytes.length;
  }
  let text = JSON.stringify(header);
  text += " ".repeat((8 - (text.length % 8)) % 8);
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(text.length));
  fs.writeFileSync(path, Buffer.concat([size, Buffer.from(text), ...parts]));
}
