// The page without eyes or without a mouse: the mirror's elements, the keyboard, input methods.
import assert from 'node:assert/strict';

// The widget that has the keyboard; a field has it by the hidden line of text.
const focused = (tab) =>
  tab.page.evaluate(() => {
    const one = document.activeElement;
    return one.id === 'line' ? one.dataset.field : (one.dataset.id ?? one.id);
  });

export const checks = {
  async 'every widget has an element with a role, a name and its place'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const roles = await tab.page.evaluate(() => {
      const found = {};
      for (const one of document.querySelectorAll('#mirror .item')) {
        const role = one.getAttribute('role') ?? one.tagName.toLowerCase();
        found[role] = (found[role] ?? 0) + 1;
        if (!one.getAttribute('aria-label')) found.nameless = (found.nameless ?? 0) + 1;
      }
      return found;
    });
    for (const role of ['button', 'tab', 'row', 'slider', 'textbox', 'checkbox', 'note']) assert.ok(roles[role] > 0, role);
    assert.equal(roles.nameless, undefined);
    const regions = await tab.page.getByRole('region').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    for (const name of ['Transforms', 'Graph', 'Values', 'Memory', 'Trade-off']) assert.ok(regions.includes(name), name);
    return JSON.stringify(roles);
  },

  async 'a press on an element is a press on the widget'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.page.locator('[data-id="bar/theme"]').evaluate((one) => one.click());
    await tab.waitState('theme', 'light');
    await tab.page.locator('[data-id="bar/help"]').evaluate((one) => one.click());
    await tab.waitState('overlay', 'help');
  },

  async 'Tab goes through the widgets and out of the page; Enter presses'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const wanted = ['bar/theme', 'bar/search', 'graph/fit', 'trade-off/budget field'];
    const seen = new Set();
    for (let i = 0; i < 300 && !wanted.every((id) => seen.has(id)); ++i) {
      await tab.page.keyboard.press('Tab');
      seen.add(await focused(tab));
    }
    for (const id of wanted) assert.ok(seen.has(id), id);
    await tab.page.locator('[data-id="bar/theme"]').focus();
    await tab.page.keyboard.press('Enter');
    await tab.waitState('theme', 'light');
    await tab.page.keyboard.press('Space');
    await tab.waitState('theme', 'dark');
    return seen.size + ' stops';
  },

  async 'the focus stays where it is while others come and go'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const found = await tab.page.evaluate(async () => {
      const { Mirror } = await import(new URL('js/mirror.js', location.href).href);
      const mirror = new Mirror(() => {}, () => {});
      const at = [0, 0, 9, 9];
      const items = (...ids) => ids.map((id) => ({ id, name: id, at, kind: id.split(' ')[1] ?? 'button' }));
      const show = (...ids) => mirror.show({ panels: {}, items: items(...ids) });
      const whole = ['bar/work', 'bar/name tab', 'bar/run', 'bar/theme', 'graph/fit', 'graph/name tab', 'graph/zoom'];
      show(...whole);
      document.querySelector('[data-id="graph/zoom"]').focus();
      const left = [];
      const tell = (words) => document.activeElement.dataset.id !== 'graph/zoom' && left.push(words);
      document.addEventListener('focusout', () => left.push('was taken away'));
      show(...whole.slice(1)), tell('one before it in another panel');
      show('bar/run', 'bar/theme', 'graph/fit', 'graph/name tab', 'graph/zoom'), tell('a group of another panel');
      show('graph/fit', 'graph/name tab', 'graph/zoom'), tell('a panel');
      show('graph/name tab', 'graph/zoom'), tell('a group of its panel');
      show('graph/zoom', 'graph/fit'), tell('the group before it, and one comes after');
      show(...whole), tell('all come again');
      return left;
    });
    assert.deepEqual(found, []);
  },

  async 'a field that the focus only passes takes no keyboard'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    for (const frames of [0, 1, 2, 3]) {
      await tab.page.evaluate(async (count) => {
        const focus = (id) => document.querySelector(`[data-id="${id}"]`).focus();
        const frame = () => new Promise((done) => requestAnimationFrame(done));
        focus('trade-off/budget field');
        for (let i = 0; i < count; ++i) await frame();
        focus('bar/theme');
        for (let i = 0; i < 6; ++i) await frame();
      }, frames);
      assert.equal(await focused(tab), 'bar/theme', `after ${frames} frames`);
      await tab.page.keyboard.press('Space');
      await tab.waitState('theme', frames % 2 === 0 ? 'light' : 'dark');
    }
  },

  async 'what is dragged says where it is, and arrows, Page keys, Home and End move it'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const span = (id) =>
      tab.page.locator(`[data-id="${id}"]`).evaluate((one) => {
        const [least, most, now] = ['min', 'max', 'now'].map((name) => Number(one.getAttribute('aria-value' + name)));
        return { least, most, now, words: one.getAttribute('aria-valuetext') };
      });
    // Presses a key on the widget that has the focus, and waits for a value that fits.
    const press = async (id, key, fits) => {
      const was = await span(id);
      await tab.page.keyboard.press(key);
      let is = was;
      for (let i = 0; i < 100 && !fits(is, was.now); ++i) {
        await tab.page.waitForTimeout(30);
        is = await span(id);
      }
      const found = `${key} on ${id}: ${JSON.stringify(was)}, then ${JSON.stringify(is)}`;
      assert.ok(fits(is, was.now) && is.least <= is.now && is.now <= is.most && is.words !== '', found);
      await tab.idle();
    };
    const focus = (id) => tab.page.locator(`[data-id="${id}"]`).focus();
    const less = ({ now }, was) => now < was, more = ({ now }, was) => now > was;
    const first = ({ now, least }) => now === least, last = ({ now, most }) => now === most;
    const kKeys = {
      'trade-off/curve': { ArrowLeft: less, ArrowRight: more, PageDown: less, Home: less, ArrowUp: more, End: last },
      'memory/budget': { ArrowLeft: less, PageDown: less, ArrowUp: more, Home: less, ArrowRight: more, End: last },
      'memory/steps': { End: last, ArrowLeft: less, Home: first, ArrowRight: more },
      'transforms/pass': { ArrowLeft: less, Home: first, ArrowRight: more, End: last },
      'splitter/left': { ArrowRight: more, ArrowLeft: less },
      'splitter/right': { ArrowRight: more, Home: less },
      'splitter/bottom': { ArrowUp: less, ArrowDown: more },
    };
    for (const [id, keys] of Object.entries(kKeys)) {
      await focus(id);
      for (const [key, fits] of Object.entries(keys)) await press(id, key, fits);
      assert.equal(await focused(tab), id);
    }
    assert.equal(await tab.state('budget'), 'none');
    assert.equal(await tab.page.locator('[data-id="splitter/left"]').getAttribute('aria-orientation'), 'vertical');
    assert.deepEqual(tab.faults, []);
  },

  async 'a pointer that jumps and presses at once presses what is there'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.click('bar/theme');
    await tab.waitState('theme', 'light');
    await tab.click('bar/menu');
    await tab.waitState('menu', 'file');
    await tab.click('bar/theme'); // beside the menu: closes it, and no more
    await tab.waitState('menu', '');
    await tab.idle();
    assert.equal(await tab.state('theme'), 'light');
  },

  async 'a field takes text, also from an input method, and Tab leaves it'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.page.locator('[data-id="trade-off/budget field"]').evaluate((one) => one.click());
    await tab.page.waitForFunction(() => document.activeElement.id === 'line');
    await tab.page.keyboard.press('Control+a');
    await tab.page.keyboard.type('88 KB');
    await tab.page.keyboard.press('Backspace');
    await tab.page.keyboard.type('B');
    await tab.page.keyboard.press('Enter');
    await tab.waitState('budget', '88000');

    await tab.page.keyboard.press('/');
    await tab.page.waitForFunction(() => document.activeElement.id === 'line');
    const session = await tab.page.context().newCDPSession(tab.page);
    await session.send('Input.imeSetComposition', { text: 'れ', selectionStart: 1, selectionEnd: 1 });
    await session.send('Input.insertText', { text: 'relu' });
    await tab.page.waitForFunction(() => document.querySelector('[data-id="bar/search"]').textContent === 'relu');
    await tab.page.keyboard.press('Tab');
    await tab.page.waitForFunction(() => document.activeElement.classList.contains('item'));
    assert.notEqual(await focused(tab), 'bar/search');
    await tab.page.keyboard.press('b'); // a command again, no letter
    await tab.waitState('pass_name', 'view_chains');
  },

  async 'notices and results are read aloud'(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    await tab.page.waitForFunction(() => /tiny_conv: peak .*within the budget/.test(document.getElementById('polite').textContent));
    await tab.command('file.open', 'sample:nothing').catch(() => {});
    await tab.page.waitForFunction(() => document.getElementById('urgent').textContent !== '');
  },

  async "the browser keeps its own keys"(kit) {
    const tab = await kit.open('v=1&sample=tiny_conv');
    await tab.idle();
    const kept = await tab.page.evaluate(() => {
      const stopped = (key, code, more) => !window.dispatchEvent(new KeyboardEvent('keydown', { key, code, cancelable: true, ...more }));
      return {
        F5: stopped('F5', 'F5'), F11: stopped('F11', 'F11'), F12: stopped('F12', 'F12'),
        t: stopped('t', 'KeyT', { ctrlKey: true }), w: stopped('w', 'KeyW', { ctrlKey: true }),
        k: stopped('k', 'KeyK', { ctrlKey: true }), u: stopped('u', 'KeyU', { ctrlKey: true }),
      };
    });
    assert.deepEqual(kept, { F5: false, F11: false, F12: false, t: false, w: false, k: true, u: false });
  },
};
