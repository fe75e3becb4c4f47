// A matrix product of 512 x 512 x 512 in f32 on one thread, as Recut emits it and as written by hand
// (wasm_by_hand.mjs), with SIMD128 and with relaxed multiply-adds, in node and in Chromium: GFLOP/s. All in turn in one
// run, the best of many rounds, since other work on the machine slows some of them. With relaxed multiply-adds the page
// takes six rows where the engine bears them (wasm/step/instance.js), else four.
//
// usage: wasm_products.sh [RECUT [ROUNDS]]     RECUT: build/release/recut
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasRelaxed } from '../codegen/wasm_functions.mjs';
import { productByHand, roomBytes } from './wasm_by_hand.mjs';
import { layOut, readStep } from './wasm_host.mjs';
import { race } from './wasm_race.mjs';

const kSize = 512;
const kGraph = `graph "product" {
  %a = input f32[${kSize}, ${kSize}]
  %b = input f32[${kSize}, ${kSize}]
  %c = mm(%a, %b)
  results %c
  gradients none, none
}
`;
// The tile of a hand-written product: which is best depends on the machine, so that several run.
const kTiles = [[4, 1], [4, 2], [4, 4], [6, 1], [6, 2]];

const [recut = 'build/release/recut', rounds = '150'] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'recut-products-'));

const plain = (calls) => calls.map((call) => call.map((one) => (typeof one === 'bigint' ? String(one) : one)));
const base64 = (bytes) => Buffer.from(bytes).toString('base64');

function ofRecut(relaxed, rows) {
  const graph = join(folder, 'product.recut'), module = join(folder, 'product.wasm');
  writeFileSync(graph, kGraph);
  const words = ['emit', graph, '--target', 'wasm', '-o', module, '--rows', String(rows), ...(relaxed ? ['--relaxed'] : [])];
  const { status, stderr } = spawnSync(recut, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${recut} emit: ${stderr}`);
  const step = readStep(module), { inputs, arena, words: lists, launches, pages } = layOut(step);
  return {
    title: `Recut, ${rows} rows`, ours: true, relaxed, module: base64(step.module), pages, words: lists,
    calls: plain(launches.flatMap((launch) => launch.calls)),
    reals: ['a', 'b'].map((name) => [inputs.find((one) => one.name === name).at, kSize * kSize]),
    result: [arena + (step.outputs[0].place.arena ?? 0), kSize * kSize],
  };
}

function byHand(relaxed, [rows, unroll]) {
  const plan = { m: kSize, n: kSize, k: kSize, rows, block: 60, depth: 256, unroll, relaxed };
  const whole = kSize * kSize, room = 12 * whole;
  return {
    title: `by hand, ${rows} x 8, unrolled ${unroll}`, relaxed, module: base64(productByHand(plan)),
    pages: Math.ceil((room + roomBytes(plan)) / 65536), words: [],
    calls: [['product', 0, 4 * whole, 8 * whole, room]], reals: [[0, whole], [4 * whole, whole]], result: [8 * whole, whole],
  };
}

function print(engine, candidates, found) {
  console.log(engine);
  const speed = (i) => (2e-6 * kSize ** 3) / found[i].ms;
  for (const relaxed of [false, true]) {
    const group = candidates.map((_, i) => i).filter((i) => candidates[i].relaxed === relaxed);
    if (group.length === 0) continue;
    const best = Math.max(...group.filter((i) => !candidates[i].ours).map(speed));
    for (const i of group) {
      const words = candidates[i].ours ? `   ${(speed(i) / best).toFixed(2)} of the best by hand` : '';
      console.log(`  ${relaxed ? 'relaxed' : 'SIMD128'}  ${candidates[i].title.padEnd(26)}` +
        `${speed(i).toFixed(1).padStart(6)} GFLOP/s${words}`);
      if (found[i].difference > 1e-3) throw new Error(`${candidates[i].title} differs by ${found[i].difference}`);
    }
  }
}

const allOf = (relaxed) => [...(relaxed ? [4, 6] : [4]).map((rows) => ofRecut(relaxed, rows)), ...kTiles.map((tile) => byHand(relaxed, tile))];
try {
  const every = [...allOf(false), ...allOf(true)];
  const here = every.filter((one) => !one.relaxed || hasRelaxed());
  print(`node ${process.version}`, here, await race({ candidates: here, rounds: Number(rounds) }));
  const { launch } = await import('../page/browser.mjs').catch(() => ({}));
  if (launch === undefined) console.log('no Chromium: tests/page has no playwright-core');
  else {
    const browser = await launch();
    const page = await browser.newPage();
    print(`Chromium ${browser.version()}`, every, await page.evaluate(race, { candidates: every, rounds: Number(rounds) }));
    await browser.close();
  }
} finally {
  rmSync(folder, { recursive: true });
}
