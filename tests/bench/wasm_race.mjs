// Runs modules in turn, in node or, as its own text, in a page; so it needs nothing from outside.
//
// A candidate: {module: base64, pages, words: [[address, 32 bits]], calls: [[function, argument, ...]], reals: [[at,
// count]] to begin with, result: [at, count]}. Arguments that are text are 64 bits. Gives each one's best time in
// milliseconds, and the largest difference of its result from the first one's.
export async function race({ candidates, rounds }) {
  const prepared = [];
  for (const { module, pages, words, calls, reals, result } of candidates) {
    const memory = new WebAssembly.Memory({ initial: pages });
    const view = new DataView(memory.buffer), numbers = new Float32Array(memory.buffer);
    for (const [at, value] of words) view.setInt32(at, value, true);
    reals.forEach(([at, count], r) => {
      for (let i = 0; i < count; ++i) numbers[at / 4 + i] = (((i + r) * 7919) % 2003) / 1001 - 1;
    });
    const bytes = Uint8Array.from(atob(module), (one) => one.charCodeAt(0));
    const { instance } = await WebAssembly.instantiate(bytes, { recut: { memory } });
    const typed = calls.map(([name, ...given]) =>
      [instance.exports[name], given.map((one) => (typeof one === 'string' ? BigInt(one) : one))]);
    const run = () => typed.forEach(([call, given]) => call(...given));
    prepared.push({ run, best: Infinity, found: numbers.subarray(result[0] / 4, result[0] / 4 + result[1]) });
  }
  const kWarmUp = 20; // engines compile in two tiers, the better one aside
  const kRuns = 4; // of one time: a page's clock is coarse
  for (let round = -kWarmUp; round < rounds; ++round)
    for (const one of prepared) {
      const began = performance.now();
      for (let i = 0; i < kRuns; ++i) one.run();
      if (round >= 0) one.best = Math.min(one.best, (performance.now() - began) / kRuns);
    }
  const expected = prepared[0].found;
  const difference = (found) => found.reduce((most, x, i) => Math.max(most, Math.abs(x - expected[i])), 0);
  return prepared.map(({ best, found }) => ({ ms: best, difference: difference(found) }));
}
