// Fetches and starts the program, and says how far it is.
import { showProgress } from './cover.js';

// The response again, with every piece counted on its way.
function counted(response) {
  // Where the server packs what it sends, its length isn't that of what arrives.
  const packed = response.headers.get('Content-Encoding') !== null;
  const total = packed ? 0 : Number(response.headers.get('Content-Length') ?? 0);
  let loaded = 0;
  const counter = new TransformStream({
    transform(piece, sink) {
      loaded += piece.byteLength;
      showProgress(loaded, total);
      sink.enqueue(piece);
    },
  });
  const headers = { 'Content-Type': 'application/wasm' }; // whatever the server calls it
  return new Response(response.body.pipeThrough(counter), { headers });
}

async function fetchProgram() {
  const response = await fetch(new URL('../recut.wasm', import.meta.url));
  if (!response.ok) throw new Error(`recut.wasm: the server answers ${response.status}`);
  return counted(response);
}

// The module of Emscripten, once it runs, and the compiled program, for workers. `host`: what glue.js
// calls. `log`: takes lines.
export async function loadProgram(host, log) {
  const program = fetchProgram();
  program.catch(() => {}); // it is awaited below; until then a failure isn't unheard
  const { default: createRecut } = await import('../recut.js');
  const response = await program;
  let compiled;
  const module = await new Promise((resolve, reject) => {
    createRecut({
      host,
      print: log,
      printErr: log,
      instantiateWasm(imports, done) {
        WebAssembly.instantiateStreaming(response, imports)
          .then(({ instance, module }) => {
            compiled = module;
            done(instance, module);
          })
          .catch(reject);
        return {};
      },
    }).then(resolve, reject);
  });
  return { module, compiled: compiled };
}
