// Connects parallel_run.cpp to the page's thread pool (page/js/thread_pool.js). Byte counts are unsigned 32-bit
// numbers. (This version of Emscripten takes no arrow functions here.)
mergeInto(LibraryManager.library, {
  pool_threads: function () {
    return Module.host && Module.host.threadPool ? Module.host.threadPool.size : 1;
  },
  // Returns the step's number, or 0 and the reason in `problem`.
  pool_open: function (bytes, count, functions, pages, problem) {
    try {
      const module = new WebAssembly.Module(HEAPU8.slice(bytes, bytes + count));
      const given = {};
      let next = functions >> 2;
      WebAssembly.Module.imports(module).forEach(function (one) {
        if (one.kind === 'function') given[one.name] = wasmTable.get(HEAPU32[next++]);
      });
      return Module.host.threadPool.open(module, pages, given);
    } catch (error) {
      stringToUTF8(String(error.message), problem, 256);
      return 0;
    }
  },
  pool_close: function (step) {
    Module.host.threadPool.close(step);
  },
  pool_prepare: function (step, fault, scratch, stride) {
    Module.host.threadPool.prepare(step, fault, scratch, stride);
  },
  pool_copy_in: function (step, at, from, count) {
    Module.host.threadPool.bytes(step).set(HEAPU8.subarray(from >>> 0, (from >>> 0) + (count >>> 0)), at >>> 0);
  },
  pool_copy_out: function (step, at, to, count) {
    HEAPU8.set(Module.host.threadPool.bytes(step).subarray(at >>> 0, (at >>> 0) + (count >>> 0)), to >>> 0);
  },
  pool_fill: function (step, at, count, paint) {
    Module.host.threadPool.bytes(step).fill(paint, at >>> 0, (at >>> 0) + (count >>> 0));
  },
  pool_end_of_written: function (step, at, count, paint) {
    const bytes = Module.host.threadPool.bytes(step);
    let end = count >>> 0;
    while (end > 0 && bytes[(at >>> 0) + end - 1] === paint) --end;
    return end | 0;
  },
  // `seed`: the address of its 64 bits.
  pool_run: function (step, stage, buffers, extent, grain, seed) {
    const value = new BigInt64Array(HEAPU8.buffer, seed, 1)[0];
    Module.host.threadPool.run(step, stage, buffers >>> 0, extent, grain, value);
  },
});
