// The program of this folder, compiled once and run as often as one likes, each time with memory of its own.
//
// usage, by hand: node --experimental-wasm-relaxed-simd program.mjs PROGRAM.js THREADS COMMAND…     commands: main.cpp
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { endThreadPools, threadPoolOf } from './threads.mjs';

export class Program {
  #create;
  #compiled;

  constructor(path) {
    this.#create = createRequire(import.meta.url)(resolve(path));
    this.#compiled = new WebAssembly.Module(readFileSync(path.replace(/\.js$/, '.wasm')));
  }

  // Runs the program and resolves to its exit code; a trap rejects.
  async run(args, threads = 1) {
    const threadPool = await threadPoolOf(threads);
    try {
      return await this.#run(args, threadPool);
    } finally {
      await endThreadPools();
    }
  }

  #run(args, threadPool) {
    return new Promise((ended, fell) => {
      this.#create({
        arguments: args,
        host: { threadPool },
        instantiateWasm: (imports, done) => {
          const instance = WebAssembly.instantiate(this.#compiled, imports);
          instance.then((made) => done(made, this.#compiled)).catch(fell);
          return {};
        },
        // Replaces node's own exit.
        quit: (status, fault) => {
          if (fault?.name === 'ExitStatus') ended(status);
          throw fault;
        },
      });
    });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [path, threads, ...args] = process.argv.slice(2);
  process.exit(await new Program(path).run(args, Number(threads)));
}
