// The browser features that the page needs, and whether this browser has them.

// The smallest module with an exception tag: it validates where WebAssembly has exceptions.
const kTag = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 13, 3, 1, 0, 0);

function hasWebgl2() {
  try {
    const context = document.createElement('canvas').getContext('webgl2');
    context?.getExtension('WEBGL_lose_context')?.loseContext();
    return context !== null;
  } catch {
    return false;
  }
}

// The names of missing features.
export function missingFeatures() {
  const wasm = typeof WebAssembly === 'object' && typeof WebAssembly.instantiate === 'function';
  const needs = [
    ['WebAssembly, in which Recut is written', wasm],
    ["WebAssembly's exceptions (browsers since 2022 have them)", wasm && WebAssembly.validate(kTag)],
    ['WebGL 2, to draw with: it may be switched off, or the graphics driver too old', hasWebgl2()],
    ['DecompressionStream, to unpack graphs', typeof DecompressionStream === 'function'],
  ];
  return needs.filter(([, there]) => !there).map(([name]) => name);
}
