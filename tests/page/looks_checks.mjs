// Pictures of the page at several sizes (build/wasm/page-pictures), and fingers on a phone's.
import assert from 'node:assert/strict';
import { checkDrawn } from './pixels.mjs';

const kPhone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true };
const kLink = 'v=1&sample=gpt2&budget=4563402752&select=add_33';

async function picture(kit, name, options, link = kLink) {
  const tab = await kit.open(link, options);
  await tab.idle();
  const png = await tab.picture(`${kit.pictures}/${name}.png`);
  const found = checkDrawn(png, name);
  const scale = options.deviceScaleFactor ?? 1;
  assert.equal(found.width, options.viewport.width * scale);
  return tab;
}

// Fingers by the browser's own protocol; `points`: where they are, in CSS pixels.
async function fingers(tab, way) {
  const session = await tab.page.context().newCDPSession(tab.page);
  const send = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  await send('touchStart', way[0]);
  for (const points of way.slice(1)) {
    await send('touchMove', points);
    await tab.page.waitForTimeout(16);
  }
  await send('touchEnd', []);
  await tab.idle();
}

const line = (from, to, steps) => Array.from({ length: steps + 1 }, (_, i) => [from[0] + ((to[0] - from[0]) * i) / steps, from[1] + ((to[1] - from[1]) * i) / steps]);

export const checks = {
  async 'on a desktop'(kit) {
    await picture(kit, 'desktop', { viewport: { width: 1680, height: 1050 } });
  },
  async 'on a laptop, light'(kit) {
    await picture(kit, 'laptop', { viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  },
  async 'on a phone: every panel by its tab'(kit) {
    const tab = await picture(kit, 'phone', kPhone);
    for (const label of ['bar/menu', 'bar/help', 'bar/palette']) {
      const { width, height } = await tab.box(label);
      assert.ok(width >= 44 && height >= 44, `${label} has ${width} × ${height}`);
    }
    for (const label of ['bar/peak', 'bar/step']) assert.notEqual(await tab.value(label), '');
    for (const panel of ['memory', 'values', 'details', 'check', 'text', 'compare', 'transforms']) {
      const tabOf = tab.page.locator(`[data-id$="/turn ${panel}"]`).first();
      const box = await tabOf.evaluate((one) => one.getBoundingClientRect().toJSON());
      await tab.page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
      await tab.page.locator(`[data-id$="/turn ${panel}"][aria-selected="true"]`).first().waitFor({ state: 'attached' });
      checkDrawn(await tab.picture(`${kit.pictures}/phone-${panel}.png`), panel);
    }
  },
  async 'on a phone that lies on its side'(kit) {
    await picture(kit, 'phone-wide', { ...kPhone, viewport: { width: 844, height: 390 } });
  },
  async 'fingers pan, pinch, scroll and drag'(kit) {
    const tab = await kit.open(kLink, kPhone);
    await tab.idle();
    const zoom = () => tab.value('graph/zoom');
    const canvas = await tab.box('graph/canvas');
    const [x, y] = [canvas.x + canvas.width / 2, canvas.y + canvas.height / 2];
    const before = await zoom();
    await fingers(tab, Array.from({ length: 9 }, (_, i) => [[x - 30 - i * 8, y], [x + 30 + i * 8, y]]));
    assert.notEqual(await zoom(), before);

    const budget = await tab.state('budget');
    const curve = await tab.box('trade-off/curve');
    await fingers(tab, line([curve.x + curve.width * 0.5, curve.y + 60], [curve.x + curve.width * 0.8, curve.y + 60], 10).map((one) => [one]));
    assert.notEqual(await tab.state('budget'), budget);
    await tab.command('panel.show', 'values');
    await tab.idle();
    const first = await tab.page.evaluate(() => [...document.querySelectorAll('[role="row"]')].map((one) => one.dataset.id).join());
    await fingers(tab, line([200, 800], [200, 640], 8).map((one) => [one]));
    await tab.page.waitForFunction(
      (was) => [...document.querySelectorAll('[role="row"]')].map((one) => one.dataset.id).join() !== was,
      first,
    );
  },
};
