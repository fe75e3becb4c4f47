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
    await tab.waitState('pass', '3');
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
