// Every lesson to its end, in every language: in the first one by what its tasks ask of the reader,
// with pointer and keys; in the others by "Show me", whose commands are the same.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const shelf = new URL('../../gui/lessons', import.meta.url).pathname;
const kFirst = 'en';
const kOthers = readdirSync(shelf).filter((name) => name !== kFirst);

// A lesson's steps, each with the label it points at first, the command that does its task, and its question.
function stepsOf(name) {
  const text = readFileSync(join(shelf, kFirst, name + '.lesson'), 'utf8');
  const line = (part, key) => part.match(new RegExp(`^${key}: (.*)$`, 'm'))?.[1] ?? '';
  return text.split(/^== /m).slice(1).map((part) => ({ point: line(part, 'point'), show: line(part, 'show'), ask: line(part, 'ask') }));
}

function names() {
  const files = readdirSync(join(shelf, kFirst)).filter((file) => file.endsWith('.lesson'));
  return files.map((file) => file.replace('.lesson', ''));
}

// Takes hold of the budget's line and goes on to the left until the popup says that it is enough.
async function dragBudget(tab) {
  const [x, y] = await tab.middle('trade-off/budget');
  await tab.page.mouse.move(x, y);
  await tab.page.mouse.down();
  for (let at = x; at > x - 400 && (await tab.state('task')) === 'open'; at -= 8) {
    await tab.page.mouse.move(at, y);
    await tab.idle();
  }
  await tab.page.mouse.up();
}

async function typeBudget(tab, budget) {
  await tab.click('trade-off/budget field');
  await tab.page.waitForFunction(() => document.activeElement.id === 'line');
  await tab.page.keyboard.press('Control+a');
  await tab.page.keyboard.type(budget);
  await tab.page.keyboard.press('Enter');
}

// What a reader does where a step shows that command; none here: the key for "Show me".
const kByHand = {
  'select.node': (tab, node, point) => tab.click(point.startsWith('graph/') ? point : 'values/' + node),
  'flow.next': (tab) => tab.click('graph/flow next'),
  'setting.set': (tab, words, point) => tab.click(words.startsWith('memory.list') ? 'memory/list' : point),
  'pass.set': (tab, pass) => tab.click('transforms/pass ' + pass),
  'check.run': (tab) => tab.click('check/seed'),
  'model.set': (tab) => tab.click('code/fuse'),
  'code.follow': (tab) => tab.page.keyboard.press('k'),
  'code.form': (tab, form) => tab.click('code/form ' + form),
  'memory.view': (tab, view) => tab.click('memory/' + view),
  'budget.set': (tab, budget, point) => (point === 'trade-off/curve' ? dragBudget(tab) : typeBudget(tab, budget)),
};
const showMe = (tab) => tab.page.keyboard.press('F9');

async function follow(tab, name, byHand) {
  await tab.page.keyboard.press('F4');
  await tab.waitState('overlay', 'lessons');
  await tab.click('lessons/' + name);
  const steps = stepsOf(name);
  let acts = 0;
  for (const [i, { point, show, ask }] of steps.entries()) {
    await tab.waitState('lesson', `${name} ${i + 1}`);
    await tab.waitState('task', show === '' && ask === '' ? 'none' : 'open');
    await tab.idle();
    if (show !== '') {
      const [command, ...words] = show.split(' ');
      const act = (byHand && kByHand[command]) || showMe;
      if (act !== showMe) ++acts;
      await act(tab, words.join(' '), point);
      await tab.waitState('task', 'done');
      await tab.idle(); // the popup goes along with what it points at
    }
    if (show === '' && ask !== '') {
      await showMe(tab); // the answer
      await tab.waitState('task', 'done');
      await tab.idle();
    }
    if (i % 2 === 0) await tab.page.keyboard.press('F8');
    else await tab.click('lesson/next');
  }
  await tab.waitState('lesson', '');
  await tab.waitState(`setting.lesson.${name}`, 'done');
  assert.equal(await tab.state('overlay'), 'lessons'); // its list again, with a tick
  await tab.page.keyboard.press('Escape');
  assert.deepEqual(tab.faults, [], name);
  return acts;
}

async function followAll(kit, language) {
  const tab = await kit.open('v=1&sample=tiny_conv', { deviceScaleFactor: 0.5 }); // fewer pixels to draw
  await tab.idle();
  if (language !== kFirst) {
    await tab.page.keyboard.press('F4');
    await tab.click('lessons/language ' + language);
    await tab.waitState('setting.language', language);
    await tab.page.keyboard.press('Escape');
  }
  let acts = 0;
  for (const name of names()) acts += await follow(tab, name, language === kFirst);
  return `${names().length} lessons, ${acts} tasks by hand`;
}

export const checks = Object.fromEntries(
  [kFirst, ...kOthers].map((language) => [`lessons in ${language}, each to its end`, (kit) => followAll(kit, language)]),
);
