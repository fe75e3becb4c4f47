// Runs kernels for tests/codegen/wasm_code.cpp: reads requests from its input and answers on its output until that
// ends. Both are a JSON text and bytes, each with its length before it, as 32 bits.
//
//   request  {"scratch", "seed", "stages": [[symbol, extent, grain, parallel]], "lengths": [module, buffer, ...]}
//   answer   {"fault": 0} and the buffers again, or {"error": "..."}
//
// The first answer, unasked, says what the engine can do: {"relaxed": true}.
import fs from 'node:fs'

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

// f64x2.relaxed_madd of three constants of zeros, dropped.
function hasRelaxed() {
  const zeros = [0xfd, 0x0c, ...new Array(16).fill(0)]
  const body = [0, ...zeros, ...zeros, ...zeros, 0xfd, 0x87, 0x02, 0x1a, 0x0b]
  return WebAssembly.validate(new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, body.length + 2, 1, body.length, ...body
  ]))
}

// What JavaScript's Math lacks, or has otherwise than C. erf by its series, erfc by its continued fraction (Abramowitz
// and Stegun 7.1.5 and 7.1.14), lgamma by Stirling's series for large arguments, steps down to small ones, and reflection
// (6.1.41, 6.1.15 and 6.1.17).
function erf(x) {
  if (Number.isNaN(x) || x === 0) return x
  if (Math.abs(x) > 1.5) return Math.sign(x) * (1 - erfc(Math.abs(x)))
  let sum = x
  for (let k = 1, term = x; k < 60; ++k) {
    term *= -x * x / k
    sum += term / (2 * k + 1)
  }
  return 2 / Math.sqrt(Math.PI) * sum
}

function erfc(x) {
  if (!(x > 1.5)) return 1 - erf(x)
  if (x > 30) return 0
  let tail = 0
  for (let k = 400; k > 0; --k) tail = k / 2 / (x + tail)
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + tail)
}

function lgamma(x) {
  if (Number.isNaN(x)) return x
  if (!Number.isFinite(x)) return Infinity
  if (x === 1 || x === 2) return 0
  if (x <= 0 && Number.isInteger(x)) return Infinity
  if (x < 0.5 && x > 1e-8 || x < -1e-8) return Math.log(Math.PI / Math.abs(Math.sin(Math.PI * (x % 2)))) - lgamma(1 - x)
  if (x <= 1e-8) return -Math.log(Math.abs(x))
  let steps = 1
  for (; x < 15; ++x) steps *= x
  const y = 1 / (x * x)
  const series = ((((1 / 1188 * y - 1 / 1680) * -y + 1 / 1260) * -y + 1 / 360) * -y + 1 / 12) / x
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - Math.log(steps)
}

// The next number of a type in a direction, by the bits of the two views on it.
function nextAfter(reals, integers, one, x, y) {
  if (Number.isNaN(x) || Number.isNaN(y)) return NaN
  if (x === y) return y
  reals[0] = x
  if (x === 0) integers[0] = one
  else integers[0] += x > 0 === y > x ? one : -one
  return x === 0 && y < 0 ? -reals[0] : reals[0]
}

const wide = new Float64Array(1), narrow = new Float32Array(1)
const functions = {
  ...Object.fromEntries(Object.getOwnPropertyNames(Math).map(name => [name, Math[name]])),
  exp2: x => 2 ** x,
  pow: (a, b) => a === 1 || a === -1 && (b === Infinity || b === -Infinity) ? 1 : a ** b,
  fmod: (a, b) => a % b,
  erf,
  erfc,
  lgamma,
  nextafter: (x, y) => nextAfter(wide, new BigInt64Array(wide.buffer), 1n, x, y),
  nextafterf: (x, y) => nextAfter(narrow, new Int32Array(narrow.buffer), 1, x, y)
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
