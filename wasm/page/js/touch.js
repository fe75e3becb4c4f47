// Touch gestures. One finger taps, drags handles (the graph, the budget) and scrolls lists; held still, it is the right
// button. Two fingers pinch: the wheel at their position.
import { canvas, pixelsOf } from './canvas.js';

const kStill = 9; // CSS pixels that a tap may move
const kHeld = 550; // milliseconds after which a resting finger is the right button
const kPinch = 0.16; // relative distance of one step of the wheel
const kAway = 320; // milliseconds that a flick lasts

export function listenToTouch(engine, loop) {
  const fingers = new Map(); // pointerId → the latest event
  let gesture = null; // of one finger: 'down', 'drag', 'scroll', 'held'; of two: 'pinch'
  let began = null;
  let apart = 0;
  let holding = 0;
  let speed = [0, 0]; // of a scroll, in CSS pixels per millisecond
  let flick = 0;

  const send = (event) => engine.call('pointer', ...pixelsOf(event), 1);
  const press = (button) => {
    engine.call('button', button, 1);
    loop.tick();
    engine.call('button', button, 0);
    loop.tick();
  };

  function scroll(dx, dy) {
    const step = engine.call('wheel_step') / (canvas.width / canvas.clientWidth);
    engine.call('wheel', dx / step, dy / step);
    loop.wake();
  }

  function begin(event) {
    cancelAnimationFrame(flick);
    gesture = 'down';
    began = event;
    speed = [0, 0];
    send(event);
    loop.tick();
    holding = setTimeout(() => {
      if (gesture !== 'down') return;
      gesture = 'held';
      press(1);
    }, kHeld);
  }

  function move(event, before) {
    const dx = event.clientX - before.clientX;
    const dy = event.clientY - before.clientY;
    if (gesture === 'down') {
      if (Math.hypot(event.clientX - began.clientX, event.clientY - began.clientY) < kStill) return;
      clearTimeout(holding);
      gesture = engine.call('drags_at', ...pixelsOf(began)) ? 'drag' : 'scroll';
      if (gesture === 'drag') {
        engine.call('button', 0, 1);
        loop.tick();
      }
    }
    if (gesture === 'drag') send(event);
    if (gesture === 'scroll') {
      const time = Math.max(1, event.timeStamp - before.timeStamp);
      speed = [dx / time, dy / time];
      scroll(dx, dy);
    }
    loop.wake();
  }

  // Scrolls on for a while, slower and slower.
  function glide() {
    let last = performance.now();
    const on = (now) => {
      const time = now - last;
      last = now;
      scroll(speed[0] * time, speed[1] * time);
      speed = speed.map((one) => one * Math.exp(-time / kAway));
      if (Math.hypot(...speed) > 0.02) flick = requestAnimationFrame(on);
    };
    flick = requestAnimationFrame(on);
  }

  function end(event) {
    clearTimeout(holding);
    if (gesture === 'down') {
      send(event);
      press(0);
    }
    if (gesture === 'drag') engine.call('button', 0, 0);
    if (gesture === 'scroll' && Math.hypot(...speed) > 0.1) glide();
    gesture = null;
    loop.tick();
    engine.call('pointer_left'); // nothing stays hovered
    loop.wake();
  }

  const distance = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  const middle = ([a, b]) => ({ clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 });

  function beginPinch() {
    clearTimeout(holding);
    if (gesture === 'drag') engine.call('button', 0, 0);
    gesture = 'pinch';
    apart = distance([...fingers.values()]);
  }

  function pinch() {
    const two = [...fingers.values()];
    const now = Math.max(1, distance(two));
    send(middle(two));
    engine.call('wheel', 0, Math.log(now / Math.max(1, apart)) / kPinch);
    apart = now;
    loop.wake();
  }

  const ours = (event) => event.pointerType === 'touch';
  canvas.addEventListener('pointerdown', (event) => {
    if (!ours(event)) return;
    event.preventDefault();
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event);
    if (fingers.size === 1) begin(event);
    if (fingers.size === 2) beginPinch();
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = fingers.get(event.pointerId);
    if (!ours(event) || before === undefined) return;
    fingers.set(event.pointerId, event);
    if (gesture === 'pinch') {
      if (fingers.size === 2) pinch();
    } else {
      move(event, before);
    }
  });
  const gone = (event) => {
    if (!ours(event) || !fingers.delete(event.pointerId)) return;
    if (gesture === 'pinch') {
      if (fingers.size === 0) gesture = null;
      return;
    }
    if (event.type === 'pointercancel' && gesture === 'down') gesture = 'held';
    end(event);
  };
  canvas.addEventListener('pointerup', gone);
  canvas.addEventListener('pointercancel', gone);
}
