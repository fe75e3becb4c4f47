// A server of plain files on the loopback address, for the page: node serve.mjs FOLDER [PORT]
// Any other server works as well; the page needs no headers of its own. With the cross-origin isolation headers that
// this one sends, steps run on several threads.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';

const kTypes = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.gz': 'application/gzip',
};

const kIsolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

async function answer(folder, headers, request, response) {
  let path;
  try {
    path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
  } catch {
    return response.writeHead(400).end();
  }
  if (path.endsWith('/')) path += 'index.html';
  const file = join(folder, path); // normalised: no path leads out of the folder
  const found = await stat(file).catch(() => null);
  if (!found?.isFile()) return response.writeHead(404).end();
  const type = kTypes[extname(file)] ?? 'application/octet-stream';
  const length = { 'Content-Type': type, 'Content-Length': found.size, 'Cache-Control': 'no-cache' };
  response.writeHead(200, { ...headers, ...length });
  createReadStream(file).pipe(response);
}

// Port 0: any free one. `prefix`: the path under which the files are served, "/a/b". `isolated`: send the cross-origin
// isolation headers, so that the page may share memory with its workers.
export function serve(folder, port = 0, prefix = '', isolated = false) {
  const server = createServer((request, response) => {
    if (!request.url.startsWith(prefix + '/')) return response.writeHead(404).end();
    request.url = request.url.slice(prefix.length);
    answer(folder, isolated ? kIsolation : {}, request, response);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () =>
      resolve({ url: `http://127.0.0.1:${server.address().port}${prefix}/`, close: () => server.close() }),
    );
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { url } = await serve(process.argv[2], Number(process.argv[3] ?? 0), '', true);
  console.log(`Recut stands at ${url} (Ctrl C ends it)`);
}
