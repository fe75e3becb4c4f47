// Runs kernels for tests/codegen/wasm_code.cpp: reads requests from its input and answers on its output until that
// ends. Both are a JSON text and bytes, each with its length before it, as 32 bits.
//
//   request  {"scratch", "seed", "stages": [[symbol, extent, grain, parallel]], "lengths": [module, buffer, ...]}
//   answer   {"fault": 0} and the buffers again, or {"error": "..."}
//
// The first answer, unasked, says what the engine can do: {"relaxed": true}.
import fs from 'node:fs'
import { functions, hasRelaxed } from './wasm_functions.mjs'

const kGuard = 64 // bytes behind each buffer that have to stay as they are
const kGuardByte = 0xa5

function read(count) {
  const bytes = Buffer.alloc(count)
  for (let have = 0; have < count;) {
    const got = fs.readSync(0, bytes, have, count - have, null)
    if (got === 0) process.exit(0)
    have += got
  }
  return bytes
}

const readSized = () => read(read(4).readUInt32LE())

function write(bytes) {
  for (let done = 0; done < bytes.length;) done += fs.writeSync(1, bytes, done)
}

function writeSized(bytes) {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(bytes.length)
  write(length)
  write(bytes)
}

function answer(words, bytes = Buffer.alloc(0)) {
  writeSized(Buffer.from(JSON.stringify(words)))
  writeSized(bytes)
}

// Where everything stands in the memory, one behind another with a guard between.
function layOut(lengths) {
  let end = 1024
  const places = lengths.map(length => {
    const at = end
    end = Math.ceil((at + length + kGuard) / 64) * 64
    return at
  })
  return { places, end }
}

function run(request, module, buffers) {
  const { places, end } = layOut([8, 4 * buffers.length, request.scratch, ...buffers.map(buffer => buffer.length)])
  const [fault, list, scratch, ...begins] = places
  const memory = new WebAssembly.Memory({ initial: Math.ceil(end / 65536) })
  const bytes = new Uint8Array(memory.buffer).fill(kGuardByte), view = new DataView(memory.buffer)
  view.setBigInt64(fault, 0n, true)
  begins.forEach((begin, b) => {
    bytes.set(buffers[b], begin)
    view.setInt32(list + 4 * b, begin, true)
  })
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module), { recut: { memory, ...functions } })
  for (const [symbol, extent, grain, parallel] of request.stages) {
    const part = (first, last) =>
      instance.exports[symbol](list, BigInt(first), BigInt(last), BigInt(request.seed), fault, scratch)
    const middle = parallel ? Math.floor(extent / 2 / grain) * grain : extent
    part(0, middle)
    if (middle < extent) part(middle, extent)
  }
  const ends = [scratch + request.scratch, ...begins.map((begin, b) => begin + buffers[b].length)]
  for (const behind of ends)
    if (bytes.subarray(behind, behind + kGuard).some(byte => byte !== kGuardByte))
      throw new Error('wrote beyond a buffer')
  const after = begins.map((begin, b) => Buffer.from(bytes.slice(begin, begin + buffers[b].length)))
  answer({ fault: Number(view.getBigInt64(fault, true)) }, Buffer.concat(after))
}

answer({ relaxed: hasRelaxed() })
for (;;) {
  const request = JSON.parse(readSized())
  const bytes = readSized()
  let end = 0
  const [module, ...buffers] = request.lengths.map(length => bytes.subarray(end, end += length))
  try {
    run(request, module, buffers)
  } catch (fault) {
    answer({ error: `${fault.name}: ${fault.message}` })
  }
}
