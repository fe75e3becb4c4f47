// Training steps that run in the page: planned beside measured, and beside the interpreter.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

const kGraphs = '../../../shared/graphs';

async function openGraph(kit, tab, name) {
  const own = join(kit.samples, name + '.json.gz');
  const file = existsSync(own) ? own : resolve(kit.samples, kGraphs, name + '.json.gz');
  if (!existsSync(file)) return false;
  await tab.choose(file, () => tab.command('file.open'));
  await tab.waitState('document', basename(file, '.json.gz'));
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

// Without a budget, and with the least peak that there is. How long it takes is told, not judged.
async function checkedSteps(kit, name, command, steps, url) {
  const tab = await kit.open('v=1&sample=tiny_mlp', { url });
  await tab.idle();
  if (!(await openGraph(kit, tab, name))) return `not run: no ${name} beside the checkout`;
  const words = [];
  for (const budget of ['none', '1']) {
    await tab.command('budget.set', budget);
    await tab.idle(300);
    words.push(await runStep(tab, command, steps));
    if (command === 'run.check') assert.equal(await tab.state('run_agrees'), 'yes');
  }
  assert.deepEqual(tab.faults, []);
  return words.join('; ');
}

// Until so many steps were made, and more are to come.
async function trainedSteps(tab, least) {
  for (let i = 0; i < 600; ++i) {
    if (Number(await tab.state('training_steps')) >= least) return;
    await tab.page.waitForTimeout(20);
  }
  throw new Error(`${await tab.state('training_steps')} steps, ${await tab.state('training')}: ${await tab.state('training_fault')}`);
}

// With a budget that changes meanwhile. The desktop's losses are the judge of the first and the last.
async function trained(kit, name, optimizer, steps) {
  const tab = await kit.open('v=1&sample=tiny_mlp&theme=dark');
  await tab.idle();
  await openGraph(kit, tab, name);
  await tab.command('panel.show', 'train');
  await tab.command('train.optimizer', optimizer);
  await tab.idle(300);
  await tab.command('budget.set', 'none');
  await tab.idle(300);
  const peak = Number(await tab.state('peak'));
  await tab.page.evaluate(() => window.longTasks.splice(0));
  await tab.command('train.begin', String(steps));
  await trainedSteps(tab, 1);
  await tab.command('budget.set', String(Math.round(0.9 * peak)));
  await tab.idle(300);
  assert.equal(await tab.state('training'), 'done', await tab.state('training_fault'));
  assert.equal(await tab.state('training_steps'), String(steps));
  assert.equal(await tab.state('training_peak'), await tab.state('training_planned_peak'));
  assert.ok(Number(await tab.state('training_peak')) <= 0.9 * peak);
  const plans = Number(await tab.state('training_plans'));
  assert.ok(plans >= 2, `${plans} plans`);
  const [first, last] = [Number(await tab.state('training_first_loss')), Number(await tab.state('training_loss'))];
  assert.ok(last < 0.8 * first, `${first} to ${last}`);
  const longest = Math.max(0, ...(await tab.page.evaluate(() => window.longTasks.splice(0))));
  await tab.page.screenshot({ path: join(kit.pictures, `train_${name}.png`) });
  const [rate, file] = [optimizer.split(' '), join(kit.samples, name + '.json.gz')];
  const native = spawnSync(kit.recut, ['train', file, '--optimizer', rate[0], '--lr', rate[1], '--steps', String(steps),
    '--seed', '1', '--json'], { encoding: 'utf8' });
  const losses = JSON.parse(native.stdout).losses;
  assert.ok(Math.abs(first / losses[0] - 1) < 1e-4, `${first} here, ${losses[0]} by the command`);
  assert.ok(Math.abs(last - losses[steps - 1]) < 0.02 * losses[0], `${last} here, ${losses[steps - 1]} by the command`);
  await tab.command('train.again', '100000');
  await trainedSteps(tab, 1);
  await tab.click('train/stop');
  await tab.idle();
  assert.equal(await tab.state('training'), 'done');
  assert.ok(Number(await tab.state('training_steps')) < 100_000);
  assert.deepEqual(tab.faults, []);
  return `${name}, ${optimizer}: loss ${first.toFixed(3)} to ${last.toFixed(3)} in ${steps} steps by ${plans} plans, longest task ${longest.toFixed(0)} ms`;
}

const kSmall = ['tiny_mlp', 'tiny_conv', 'tiny_lm', 'tiny_lstm', 'tiny_ops', 'mlp'];
// By hand: RECUT_PAGE_STEPS="lstm cpu_resnet18 cpu_bert"; "cpu_gpt2:run.step" without the interpreter, whose memory it
// doesn't have beside the step.
const kMore = (process.env.RECUT_PAGE_STEPS ?? '').split(' ').filter((name) => name !== '');

export const checks = {
  async 'steps of small graphs'(kit) {
    const words = [];
    for (const name of kSmall) words.push(`${name}: ${await checkedSteps(kit, name, 'run.check', 3, kit.url)}`);
    return words.join('\n  ');
  },
  async 'training, with a budget that changes meanwhile'(kit) {
    const words = [await trained(kit, 'tiny_lm', 'sgd 0.2', 300), await trained(kit, 'mlp', 'sgd 0.1', 100)];
    return words.join('\n  ');
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
