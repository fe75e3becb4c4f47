// The canvas: its size in the screen's own pixels, and a context that is lost and restored.

export const canvas = document.getElementById('screen');

// An event's CSS pixels as canvas pixels.
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

// The exact size from browsers that report device pixels; rounding may be one off. (A browser that emulates another
// device reports its own screen's pixels.)
function exactly(entry) {
  const box = entry.devicePixelContentBoxSize?.[0];
  const size = nearly();
  const exact = box === undefined ? size : [box.inlineSize, box.blockSize];
  return exact.every((one, i) => Math.abs(one - size[i]) <= 1) ? exact.map((one) => Math.max(1, one)) : size;
}

export const fitCanvas = (engine) => resize(engine, nearly());

// Caches WebGL's state. The renderer queries all of it in every frame to restore it, and each query waits until the GPU
// has drawn. Only the renderer draws here, so the first answers stay true.
export function rememberState() {
  const gl = canvas.getContext('webgl2');
  const known = new Map();
  gl.getParameter = (name) => {
    if (!known.has(name)) known.set(name, WebGL2RenderingContext.prototype.getParameter.call(gl, name));
    return known.get(name);
  };
  canvas.addEventListener('webglcontextlost', () => known.clear());
}

// A canvas that changes its size is empty, so it is drawn again before the browser shows it.
export function watchCanvas(engine, loop) {
  const observer = new ResizeObserver(([entry]) => {
    resize(engine, exactly(entry));
    loop.tick();
  });
  try {
    observer.observe(canvas, { box: 'device-pixel-content-box' });
  } catch {
    observer.observe(canvas); // Safari has no device pixels here
  }
  canvas.addEventListener('webglcontextlost', (event) => {
    event.preventDefault(); // asks for the context to be restored
    engine.call('context', 0);
  });
  canvas.addEventListener('webglcontextrestored', () => {
    engine.call('context', 1);
    loop.wake();
  });
}
