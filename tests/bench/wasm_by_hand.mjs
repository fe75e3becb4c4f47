// A matrix product of f32 as one would write it in WebAssembly by hand, for wasm_products.mjs to compare with: after
// GotoBLAS, both factors packed, a tile of some rows by eight columns in locals, the loop over k unrolled.
//
//   product(a, b, c, room): c[m, n] = a[m, k] b[k, n], row by row; `room`: packed blocks of roomBytes(...)

const kColumns = 8; // of a tile: two vectors

// ---- The binary form ---------------------------------------------------------------------------------------------

const unsigned = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...unsigned(n >>> 7)]);
const signed = (n) => (n >= -64 && n < 64 ? [n & 127] : [(n & 127) | 128, ...signed(n >> 7)]);
const sized = (bytes) => [...unsigned(bytes.length), ...bytes];
const list = (all) => [...unsigned(all.length), ...all.flat()];
const name = (text) => sized([...new TextEncoder().encode(text)]);
const simd = (code, ...rest) => [0xfd, ...unsigned(code), ...rest];

const kI32 = 0x7f, kF32 = 0x7d, kV128 = 0x7b;
const get = (x) => [0x20, ...unsigned(x)];
const set = (x) => [0x21, ...unsigned(x)];
const number = (n) => [0x41, ...signed(n)];
const add = [0x6a], multiply = [0x6c];
const plus = (x, n) => [...get(x), ...number(n), ...add];
const grow = (x, n) => [...plus(x, n), ...set(x)];
const loadF32 = (at, offset) => [...get(at), 0x2a, 2, ...unsigned(offset)];
const storeF32 = (at, offset, value) => [...get(at), ...value, 0x38, 2, ...unsigned(offset)];
const load = (at, offset) => [...get(at), ...simd(0, 2, ...unsigned(offset))];
const loadSpread = (at, offset) => [...get(at), ...simd(9, 2, ...unsigned(offset))];
const store = (at, offset, value) => [...get(at), ...value, ...simd(11, 2, ...unsigned(offset))];
const mulF32x4 = simd(0xe6), addF32x4 = simd(0xe4), maddF32x4 = simd(0x105);

// body, until x has grown to `end` by steps that the body takes
const until = (x, end, body) => [0x03, 0x40, ...body, ...get(x), ...end, 0x48, 0x0d, 0, 0x0b];

function moduleOf(locals, body) {
  const section = (id, bytes) => [id, ...sized(bytes)];
  const code = [...list(locals.map((type) => [1, type])), ...body, 0x0b];
  return new Uint8Array([
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, list([[0x60, ...list([[kI32], [kI32], [kI32], [kI32]]), 0]])),
    ...section(2, list([[...name('recut'), ...name('memory'), 2, 0, 1]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...name('product'), 0, 0]])),
    ...section(10, list([sized(code)])),
  ]);
}

// ---- The product -------------------------------------------------------------------------------------------------

export const roomBytes = ({ n, depth, block }) => 4 * depth * (n + block);

// `rows`: of a tile; `block`: of A that is packed at once; `depth`: of a block of k; `unroll`: steps of k in one
// iteration. n is a multiple of eight, k of `depth`, that of `unroll`; a last block of A may be smaller.
export function productByHand({ m, n, k, rows, block, depth, unroll, relaxed }) {
  const locals = [];
  const local = (type) => 4 + locals.push(type) - 1;
  const [a, b, c, room] = [0, 1, 2, 3];
  const [kk, p, i, j, from, to, end] = Array.from({ length: 7 }, () => local(kI32));
  const [left, right, corner] = Array.from({ length: 3 }, () => local(kI32));
  const sums = Array.from({ length: rows }, () => [local(kV128), local(kV128)]);
  const [low, high, spread, one] = [local(kV128), local(kV128), local(kV128), local(kF32)];
  const packedLeft = 4 * depth * n; // in the room, behind B

  // A step of k: what stands at `left` and `right`, so many steps further on.
  const step = (height, u) => [
    ...load(right, 32 * u), ...set(low),
    ...load(right, 32 * u + 16), ...set(high),
    ...sums.slice(0, height).flatMap((pair, r) => [
      ...loadSpread(left, 4 * (height * u + r)), ...set(spread),
      ...pair.flatMap((sum, half) => {
        const factors = [...get(spread), ...get(half === 0 ? low : high)];
        return relaxed ? [...factors, ...get(sum), ...maddF32x4, ...set(sum)]
                       : [...factors, ...mulF32x4, ...get(sum), ...addF32x4, ...set(sum)];
      }),
    ]),
  ];
  const tile = (height) => [
    ...sums.slice(0, height).flatMap((pair, r) => pair.flatMap((sum, half) =>
      [...load(corner, 4 * n * r + 16 * half), ...set(sum)])),
    ...plus(left, 4 * height * depth), ...set(end),
    ...until(left, get(end), [
      ...Array.from({ length: unroll }, (_, u) => step(height, u)).flat(),
      ...grow(right, 32 * unroll), ...grow(left, 4 * height * unroll),
    ]),
    ...sums.slice(0, height).flatMap((pair, r) => pair.flatMap((sum, half) =>
      store(corner, 4 * n * r + 16 * half, get(sum)))),
  ];
  // Panels of eight columns, each k by k.
  const packRight = [
    ...get(room), ...set(to), ...number(0), ...set(p),
    ...until(p, number(4 * n), [
      ...get(b), ...get(kk), ...number(4 * n), ...multiply, ...add, ...get(p), ...add, ...set(from),
      ...plus(from, 4 * n * depth), ...set(end),
      ...until(from, get(end), [
        ...store(to, 0, load(from, 0)), ...store(to, 16, load(from, 16)), ...grow(from, 4 * n), ...grow(to, 32),
      ]),
      ...grow(p, 32),
    ]),
  ];
  // Rows i to i + count of A as tiles of `height`, each k by k.
  const packLeft = (count, height) => [
    ...plus(room, packedLeft), ...set(to), ...number(0), ...set(j),
    ...until(j, number(count), [
      ...get(i), ...get(j), ...add, ...number(4 * k), ...multiply, ...get(a), ...add,
      ...get(kk), ...number(4), ...multiply, ...add, ...set(from), ...plus(from, 4 * depth), ...set(end),
      ...until(from, get(end), [
        ...Array.from({ length: height }, (_, r) =>
          [...loadF32(from, 4 * k * r), ...set(one), ...storeF32(to, 4 * r, get(one))]).flat(),
        ...grow(from, 4), ...grow(to, 4 * height),
      ]),
      ...grow(j, height),
    ]),
  ];
  const rowsOf = (count, height) => [
    ...packLeft(count, height), ...number(0), ...set(p),
    ...until(p, number(4 * n), [
      ...number(0), ...set(j), ...plus(room, packedLeft), ...set(left),
      ...until(j, number(count), [
        ...get(room), ...get(p), ...number(depth), ...multiply, ...add, ...set(right),
        ...get(i), ...get(j), ...add, ...number(4 * n), ...multiply, ...get(c), ...add, ...get(p), ...add, ...set(corner),
        ...tile(height), ...grow(j, height),
      ]),
      ...grow(p, 32),
    ]),
    ...grow(i, count),
  ];
  const whole = m - (m % block), over = (m % block) - (m % block % rows), last = m % block % rows;
  const body = [
    ...number(0), ...set(kk), ...number(0), ...set(p), // c is cleared
    ...until(p, number(4 * m * n), [
      ...get(c), ...get(p), ...add, ...set(to), ...store(to, 0, simd(12, ...new Array(16).fill(0))), ...grow(p, 16),
    ]),
    ...until(kk, number(k), [
      ...packRight, ...number(0), ...set(i),
      ...(whole > 0 ? until(i, number(whole), rowsOf(block, rows)) : []),
      ...(over > 0 ? rowsOf(over, rows) : []),
      ...(last > 0 ? rowsOf(last, last) : []),
      ...grow(kk, depth),
    ]),
  ];
  return moduleOf(locals, body);
}
