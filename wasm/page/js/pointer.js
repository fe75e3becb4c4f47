// Mouse, pen and wheel. touch.js handles fingers.
import { canvas, pixelsOf } from './canvas.js';

const kButtons = [0, 2, 1]; // left, middle, right, in the program's numbering
const kNotch = 100; // CSS pixels of a wheel notch
const kLine = 40; // CSS pixels of a line, where the browser scrolls by lines
const kPinch = 20; // CSS pixels of a notch, for a pinch on a touchpad

function wheelSteps(event) {
  const unit = event.deltaMode === 0 ? 1 : event.deltaMode === 1 ? kLine : canvas.clientHeight;
  const notch = event.ctrlKey ? kPinch : kNotch;
  return [(-event.deltaX * unit) / notch, (-event.deltaY * unit) / notch];
}

export function listenToPointer(engine, loop) {
  const isFinger = (event) => event.pointerType === 'touch';
  const move = (event) => {
    if (isFinger(event)) return;
    engine.call('pointer', ...pixelsOf(event), 0);
    loop.wake();
  };
  canvas.addEventListener('pointermove', move);
  canvas.addEventListener('pointerdown', (event) => {
    if (isFinger(event) || event.button > 2) return;
    event.preventDefault();
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    move(event);
    engine.call('button', kButtons[event.button], 1);
    loop.tick();
  });
  canvas.addEventListener('pointerup', (event) => {
    if (isFinger(event) || event.button > 2) return;
    move(event);
    engine.call('button', kButtons[event.button], 0);
    loop.tick();
  });
  canvas.addEventListener('pointerleave', (event) => {
    if (isFinger(event) || event.buttons !== 0) return;
    engine.call('pointer_left');
    loop.wake();
  });
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      engine.call('pointer', ...pixelsOf(event));
      engine.call('wheel', ...wheelSteps(event));
      loop.wake();
    },
    { passive: false },
  );
}
