// What a module of kernels imports from "recut", and what the engine can do.

// f64x2.relaxed_madd of three constants of zeros, dropped.
export function hasRelaxed() {
  const zeros = [0xfd, 0x0c, ...new Array(16).fill(0)]
  const body = [0, ...zeros, ...zeros, ...zeros, 0xfd, 0x87, 0x02, 0x1a, 0x0b]
  return WebAssembly.validate(new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, body.length + 2, 1, body.length, ...body
  ]))
}

// How `recut emit` is to write modules for this engine, as the page does (wasm/step/instance.cpp).
export function emitWords() {
  if (!hasRelaxed()) return []
  return ['--relaxed', '--rows', typeof Float16Array === 'undefined' ? '4' : '6']
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
export const functions = {
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
