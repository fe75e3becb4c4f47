// The canvas: its size in the screen's own pixels, and a context that is lost and restored.

export const canvas = document.getElementById('screen');

// CSS pixels of an event as pixels of the canvas.
export function pixelsOf(event) {
  const ratio = canvas.width / Math.max(1, canvas.clientWidth);
  return [event.clientX * ratio, event.clientY * ratio];
}

function resize(engine, [wide, high]) {
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  engine.call('resized', wide, high, devicePixelRatio);
}

const nearly = () => [canvas.clientWidth, canvas.clientHeight].map((one) => Math.max(1, Math.round(one * devicePixelRatio)));

// What the browser counts, to the pixel, where it counts the screen's pixels; rounding may be one off.
// (In a browser that plays another device it counts its own screen's.)
function exactly(entry) {
  const box = entry.devicePixelContentBoxSize?.[0];
  const size = nearly();
  const exact = box === undefined ? size : [box.inlineSize, box.blockSize];
  return exact.every((one, i) => Math.abs(one - size[i]) <= 1) ? exact.map((one) => Math.max(1, one)) : size;
}

export const fitCanvas = (engine) => resize(engine, nearly());

// The renderer asks for the whole of WebGL's state in every frame to put it back afterwards, and every
// question waits until all that was drawn is on the screen. Nobody else draws here, so what it found
// the first time is what it finds again.
export function rememberState() {
  const gl = canvas.getContext('webgl2');
  const known = new Map();
  gl.getParameter = (name) => {
    if (!known.has(name)) known.set(name, WebGL2RenderingContext.prototype.getParameter.call(gl, name));
    return known.get(name);
  };
  canvas.addEventListener('webglcontextlost', () => known.clear());
}

// A canvas that changes its size is empty, so it is drawn again before anybody sees that.
export function watchCanvas(engine, loop) {
  const observer = new ResizeObserver(([entry]) => {
    resize(engine, exactly(entry));
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
