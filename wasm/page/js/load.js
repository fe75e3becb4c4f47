// Fetches and starts the program, and reports progress.
import { showProgress } from './cover.js';

// The same response, with every chunk counted.
function counted(response) {
  // If the server compresses the response, its length isn't that of the received data.
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
  const headers = { 'Content-Type': 'application/wasm' }; // in place of the server's type
  return new Response(response.body.pipeThrough(counter), { headers });
}

async function fetchProgram() {
  const response = await fetch(new URL('../recut.wasm', import.meta.url));
  if (!response.ok) throw new Error(`recut.wasm: the server answers ${response.status}`);
  return counted(response);
}

// The running Emscripten module, and the compiled program, for workers. `host`: the object that glue.js calls. `log`
// takes lines.
export async function loadProgram(host, log) {
  const program = fetchProgram();
  program.catch(() => {}); // it is awaited below; this marks an early rejection as handled
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
