// The canvas: its size in the screen's own pixels, and a context that is lost and restored.

export const canvas = document.getElementById('screen');

// CSS pixels of an event as pixels of the canvas.
export function pixelsOf(event) {
  const ratio = canvas.width / Math.max(1, canvas.clientWidth);
  return [event.clientX * ratio, event.clientY * ratio];
}

export const ratio = () => canvas.width / Math.max(1, canvas.clientWidth);

function resize(engine, wide, high) {
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  engine.call('resized', wide, high, devicePixelRatio);
}

export function fitCanvas(engine) {
  const scale = devicePixelRatio;
  resize(engine, Math.max(1, Math.round(canvas.clientWidth * scale)), Math.max(1, Math.round(canvas.clientHeight * scale)));
}

// A canvas that changes its size is empty, so it is drawn again before anybody sees that.
export function watchCanvas(engine, loop) {
  const observer = new ResizeObserver(([entry]) => {
    const exact = entry.devicePixelContentBoxSize?.[0];
    if (exact) resize(engine, Math.max(1, exact.inlineSize), Math.max(1, exact.blockSize));
    else fitCanvas(engine);
    loop.tick();
  });
  try {
    observer.observe(canvas, { box: 'device-pixel-content-box' });
  } catch {
    observer.observe(canvas); // Safari knows no pixels of the device here
  }
  canvas.addEventListener('webglcontextlost', (event) => {
    event.preventDefault(); // we want it back
    engine.call('context', 0);
  });
  canvas.addEventListener('webglcontextrestored', () => {
    engine.call('context', 1);
    loop.wake();
  });
}
