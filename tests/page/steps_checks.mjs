// Training steps that run in the page: planned beside measured, and beside the interpreter.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { serve } from '../../wasm/serve.mjs';
import { Skipped } from '../checks.mjs';

const kGraphs = '../../../shared/graphs';
const kPoolThread = 'js/pool_thread.js';

function fileOf(kit, name) {
  const own = join(kit.samples, name + '.json.gz');
  return existsSync(own) ? own : resolve(kit.samples, kGraphs, name + '.json.gz');
}

async function openGraph(kit, tab, name) {
  const file = fileOf(kit, name);
  if (!existsSync(file)) return false;
  // The document that is open may have this one's name.
  const open = Number(await tab.state('documents'));
  await tab.choose(file, () => tab.command('file.open'));
  await tab.waitState('documents', String(open + 1));
  await tab.waitState('document', basename(file, '.json.gz'));
  await tab.idle(300);
  await tab.command('effort.set', '0.1'); // how near a plan is to the best is of no matter here
  await tab.command('model.set', 'fused');
  await tab.idle(300);
  return true;
}

async function runStep(tab, command, steps) {
  await tab.page.evaluate(() => window.longTasks.splice(0));
  await tab.command(command, String(steps));
  await tab.idle(900);
  assert.equal(await tab.state('run'), 'done', await tab.state('run_fault'));
  const bytes = await tab.state('measured_peak');
  assert.equal(bytes, await tab.state('run_peak'));
  const longest = Math.max(0, ...(await tab.page.evaluate(() => window.longTasks.splice(0))));
  const [step, compiled] = [await tab.state('run_ms'), await tab.state('compile_ms')];
  const where = await tab.state('run_where');
  return `${where}: ${bytes} bytes as planned, step ${step} ms, compiled in ${compiled} ms, longest task ${longest.toFixed(0)} ms`;
}

// The page runs the program that the command shows for the same settings: with as many rows of a product at once as
// this browser's instructions suit.
async function expectProgram(kit, tab, name) {
  const program = await tab.state('run_program');
  const shown = [4, 6].map((rows) => {
    const words = ['emit', fileOf(kit, name), '--target', 'wasm', '--effort', '0.1', '--rows', String(rows)];
    return spawnSync(kit.recut, words, { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout.match(/, program ([0-9a-f]{16})/)?.[1];
  });
  assert.ok(shown.includes(program), `the page runs program ${program}, the command shows ${shown}`);
}

// Without a budget, and with the least peak that there is. How long it takes is told, not judged.
async function checkedSteps(kit, name, command, steps, url) {
  const tab = await kit.open('v=1&sample=tiny_conv', { url });
  await tab.idle();
  if (!(await openGraph(kit, tab, name))) throw new Skipped(`no ${name} beside the checkout`);
  const words = [];
  for (const budget of ['none', '1']) {
    await tab.command('budget.set', budget);
    await tab.idle(300);
    words.push(await runStep(tab, command, steps));
    if (budget === 'none') await expectProgram(kit, tab, name);
    if (command === 'run.check') assert.equal(await tab.state('run_agrees'), 'yes');
  }
  assert.deepEqual(tab.faults, []);
  return words.join('; ');
}

// Each processor has one where the page is isolated from other origins.
const threadsOf = (tab) =>
  tab.page.evaluate(() => (crossOriginIsolated ? Math.min(8, navigator.hardwareConcurrency) : 1));

// What runs and trainings say of it.
async function expectThreads(tab, said) {
  const threads = await threadsOf(tab);
  assert.equal(said, `this page, ${threads} thread${threads === 1 ? '' : 's'}`);
}

async function openTraining(kit, name, optimizer, url) {
  const tab = await kit.open('v=1&sample=tiny_conv&theme=dark', { url });
  await tab.idle();
  await openGraph(kit, tab, name);
  await tab.command('panel.show', 'train');
  await tab.command('train.optimizer', optimizer);
  await tab.idle(300);
  await tab.command('budget.set', 'none');
  await tab.idle(300);
  return tab;
}

async function trainOn(tab, command, steps) {
  await tab.command(command, String(steps));
  await tab.idle(300);
  assert.equal(await tab.state('training'), 'done', await tab.state('training_fault'));
  assert.equal(await tab.state('training_peak'), await tab.state('training_planned_peak'));
  await expectThreads(tab, await tab.state('training_where'));
}

// Until so many steps were made, and more are to come.
async function trainedSteps(tab, least) {
  for (let i = 0; i < 600; ++i) {
    if (Number(await tab.state('training_steps')) >= least) return;
    await tab.page.waitForTimeout(20);
  }
  throw new Error(`${await tab.state('training_steps')} steps, ${await tab.state('training')}: ${await tab.state('training_fault')}`);
}

// Trains while the budget falls from none to these bytes; gives the number of steps, which is doubled where a
// slow machine made them all before the new plan was there.
async function trainedThrough(tab, budget, least) {
  for (let steps = least; ; steps *= 2) {
    await tab.command('budget.set', 'none');
    await tab.idle(300);
    await tab.page.evaluate(() => window.longTasks.splice(0));
    await tab.command('train.begin', String(steps));
    await trainedSteps(tab, 1);
    await tab.command('budget.set', String(budget));
    await tab.idle(300);
    assert.equal(await tab.state('training'), 'done', await tab.state('training_fault'));
    if (Number(await tab.state('training_plans')) >= 2 || steps >= 8 * least) return steps;
  }
}

// With a budget that changes meanwhile. The desktop's losses are the judge of the first and the last.
async function trained(kit, name, optimizer, least, url) {
  const tab = await openTraining(kit, name, optimizer, url);
  const peak = Number(await tab.state('peak'));
  const steps = await trainedThrough(tab, Math.round(0.9 * peak), least);
  assert.equal(await tab.state('training_steps'), String(steps));
  assert.equal(await tab.state('training_peak'), await tab.state('training_planned_peak'));
  assert.ok(Number(await tab.state('training_peak')) <= 0.9 * peak);
  const plans = Number(await tab.state('training_plans'));
  assert.ok(plans >= 2, `${plans} plans`);
  const [first, last] = [Number(await tab.state('training_first_loss')), Number(await tab.state('training_loss'))];
  assert.ok(last < 0.8 * first, `${first} to ${last}`);
  const longest = Math.max(0, ...(await tab.page.evaluate(() => window.longTasks.splice(0))));
  const where = await tab.state('training_where');
  await expectThreads(tab, where);
  await tab.picture(join(kit.pictures, `train_${name}_${where.match(/[0-9]+/)[0]}.png`));
  const [rate, file] = [optimizer.split(' '), join(kit.samples, name + '.json.gz')];
  const native = spawnSync(kit.recut, ['train', file, '--optimizer', rate[0], '--lr', rate[1], '--steps', String(steps),
    '--seed', '1', '--json'], { encoding: 'utf8' });
  const losses = JSON.parse(native.stdout).losses;
  assert.ok(Math.abs(first / losses[0] - 1) < 1e-4, `${first} here, ${losses[0]} by the command`);
  assert.ok(Math.abs(last - losses[steps - 1]) < 0.02 * losses[0], `${last} here, ${losses[steps - 1]} by the command`);
  for (let i = 0; i < 2; ++i) {
    await tab.command('train.again', '100000'); // ends what is at work, in the middle of a step
    await trainedSteps(tab, 1);
  }
  await tab.click('train/stop');
  await tab.idle();
  assert.equal(await tab.state('training'), 'done');
  assert.ok(Number(await tab.state('training_steps')) < 100_000);
  assert.deepEqual(tab.faults, []);
  return `${name}, ${optimizer}, ${where}: loss ${first.toFixed(3)} to ${last.toFixed(3)} in ${steps} steps by ${plans} plans, longest task ${longest.toFixed(0)} ms`;
}

// By one plan, and then by another; with a run of the step between, which has threads and memory, too.
async function lossesOf(kit, name, optimizer, steps, url) {
  const tab = await openTraining(kit, name, optimizer, url);
  await trainOn(tab, 'train.begin', steps);
  await runStep(tab, 'run.step', 3);
  await expectThreads(tab, await tab.state('run_where'));
  await trainOn(tab, 'train.begin', 10);
  assert.equal(await tab.state('training_plans'), '1');
  await tab.command('budget.set', String(Math.round(0.9 * Number(await tab.state('peak')))));
  await tab.idle(300);
  await trainOn(tab, 'train.begin', steps);
  assert.equal(await tab.state('training_plans'), '2');
  assert.deepEqual(tab.faults, []);
  return { losses: (await tab.state('training_losses')).split(' '), where: await tab.state('training_where') };
}

async function sameLosses(kit, name, optimizer, steps) {
  const [one, several] = [
    await lossesOf(kit, name, optimizer, steps, kit.url),
    await lossesOf(kit, name, optimizer, steps, kit.isolatedUrl),
  ];
  assert.equal(one.losses.length, 2 * steps + 10);
  assert.equal(new Set(one.losses).size, one.losses.length);
  assert.deepEqual(several.losses, one.losses);
  return `${name}, ${optimizer}: ${one.losses.length} losses are the same on ${one.where} and ${several.where}`;
}

// The page with another script for the pool's other threads.
async function siteWithMember(kit, script, use) {
  const folder = await mkdtemp(join(tmpdir(), 'recut-page-'));
  await cp(kit.siteFolder, folder, { recursive: true });
  await writeFile(join(folder, kPoolThread), script);
  const site = await serve(folder, 0, '', true);
  try {
    return await use(site.url, folder);
  } finally {
    site.close();
    await rm(folder, { recursive: true });
  }
}

// Runs and trainings say the same of it.
async function fallsBy(tab, words) {
  for (const [command, state] of [['run.step', 'run'], ['train.begin', 'training']]) {
    await tab.command(command, '10');
    await tab.idle(60);
    assert.equal(await tab.state(state), 'failed');
    assert.match(`${command}: ${await tab.state(state + '_fault')}`, words);
  }
}

const kNeverReady = "onmessage = ({ data }) => data.module === undefined && postMessage('started');";
// Falls in every turn; words of memory as in thread_pool.js.
const kFalls = `
onmessage = ({ data }) => {
  if (data.module === undefined) return postMessage('started');
  const control = new Int32Array(data.memory.buffer);
  Atomics.add(control, 4, 1);
  Atomics.notify(control, 4);
  for (let turn = 0; ; ) {
    Atomics.wait(control, 0, turn);
    turn = Atomics.load(control, 0);
    if (Atomics.load(control, 3) !== 0) break;
    Atomics.add(control, 5, 1);
    Atomics.sub(control, 2, 1);
    Atomics.notify(control, 2);
  }
  Atomics.sub(control, 4, 1);
  Atomics.notify(control, 4);
};
`;

const kSmall = ['tiny_mlp', 'tiny_conv', 'tiny_lm', 'tiny_lstm', 'tiny_ops', 'mlp'];
// By hand: RECUT_PAGE_STEPS="lstm cpu_resnet18 cpu_bert"; "cpu_gpt2:run.step" without the interpreter, for which the
// page has no memory beside that step.
const kMore = (process.env.RECUT_PAGE_STEPS ?? '').split(' ').filter((name) => name !== '');

export const checks = {
  async 'steps of small graphs'(kit) {
    const words = [];
    for (const name of kSmall) words.push(`${name}: ${await checkedSteps(kit, name, 'run.check', 3, kit.url)}`);
    return words.join('\n  ');
  },
  async 'a check that the memory does not suffice for says so'(kit) {
    const folder = await mkdtemp(join(tmpdir(), 'recut-page-'));
    try {
      const file = join(folder, 'large.recut'), type = 'f32[60000000]';
      await writeFile(file, `graph "large" {\n  %x = parameter ${type}\n  %t = tangent ${type}\n  %y = relu(%x)\n` +
        '  %g = mul.Tensor(%y, %t)\n  results %y\n  gradients %g\n}\n');
      const tab = await kit.open('v=1&sample=tiny_conv');
      await tab.idle();
      await tab.choose(file, () => tab.command('file.open'));
      await tab.waitState('document', 'large');
      await tab.command('run.check', '1');
      await tab.idle(300);
      assert.match(await tab.state('run_fault'), /no memory left/);
      assert.equal(await openGraph(kit, tab, 'tiny_mlp'), true);
      await runStep(tab, 'run.check', 1);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  async 'training, with a budget that changes meanwhile'(kit) {
    const words = [
      await trained(kit, 'tiny_lm', 'sgd 0.2', 300, kit.url),
      await trained(kit, 'mlp', 'sgd 0.1', 100, kit.url),
      await trained(kit, 'mlp', 'sgd 0.1', 100, kit.isolatedUrl),
    ];
    return words.join('\n  ');
  },
  async 'training with several threads gives the bits of one'(kit) {
    const words = [];
    for (const [name, optimizer] of [['tiny_lm', 'adamw 0.01'], ['mlp', 'adam 0.001']])
      words.push(await sameLosses(kit, name, optimizer, 40));
    return words.join('\n  ');
  },
  async 'a thread that does not start is said by runs and trainings alike, and the next has another'(kit) {
    await siteWithMember(kit, kNeverReady, async (url, folder) => {
      const tab = await openTraining(kit, 'tiny_lm', 'sgd 0.2', url);
      if ((await threadsOf(tab)) > 1) await fallsBy(tab, /a thread of the page does not start/);
      await cp(join(kit.siteFolder, kPoolThread), join(folder, kPoolThread));
      await trainOn(tab, 'train.begin', 10);
      assert.equal(await tab.state('training_steps'), '10');
    });
  },
  async 'where threads say nothing, steps have none'(kit) {
    await siteWithMember(kit, '', async (url) => {
      const tab = await openTraining(kit, 'tiny_lm', 'sgd 0.2', url);
      await tab.command('train.begin', '10');
      await tab.idle(60);
      assert.equal(await tab.state('training'), 'done', await tab.state('training_fault'));
      assert.equal(await tab.state('training_where'), 'this page, 1 thread');
    });
  },
  async 'so is one that falls, and the next training goes on'(kit) {
    await siteWithMember(kit, kFalls, async (url, folder) => {
      const tab = await openTraining(kit, 'mlp', 'sgd 0.1', url); // small kernels have no other thread
      if ((await threadsOf(tab)) > 1) await fallsBy(tab, /a thread of the page has stopped/);
      await cp(join(kit.siteFolder, kPoolThread), join(folder, kPoolThread));
      await trainOn(tab, 'train.begin', 10);
      assert.equal(await tab.state('training_steps'), '10');
    });
  },
  async 'a step of a larger one'(kit) {
    return checkedSteps(kit, 'cpu_unet', 'run.check', 3, kit.url);
  },
  async 'the same with several threads, where the page is isolated from other origins'(kit) {
    return checkedSteps(kit, 'cpu_unet', 'run.check', 3, kit.isolatedUrl);
  },
  ...Object.fromEntries(
    kMore.flatMap((words) => {
      const [name, command = 'run.check'] = words.split(':');
      const on = (where, url) => [`${name}, ${where}`, (kit) => checkedSteps(kit, name, command, 3, url(kit))];
      return [on('one thread', (kit) => kit.url), on('several threads', (kit) => kit.isolatedUrl)];
    }),
  ),
};
