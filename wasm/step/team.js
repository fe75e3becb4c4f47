// How team_run.cpp reaches the page's team (page/js/team.js). Numbers of bytes have 32 bits without a sign.
// (This version of Emscripten takes no arrow functions in here.)
mergeInto(LibraryManager.library, {
  team_threads: function () {
    return Module.host && Module.host.team ? Module.host.team.size : 1;
  },
  team_open: function (bytes, count, functions, pages, problem) {
    try {
      const module = new WebAssembly.Module(HEAPU8.slice(bytes, bytes + count));
      const given = {};
      let next = functions >> 2;
      WebAssembly.Module.imports(module).forEach(function (one) {
        if (one.kind === 'function') given[one.name] = wasmTable.get(HEAPU32[next++]);
      });
      Module.host.team.open(module, pages, given);
      return 1;
    } catch (error) {
      stringToUTF8(String(error.message), problem, 256);
      return 0;
    }
  },
  team_close: function () {
    Module.host.team.close();
  },
  team_prepare: function (fault, scratch, stride) {
    Module.host.team.prepare(fault, scratch, stride);
  },
  team_copy_in: function (at, from, count) {
    Module.host.team.bytes.set(HEAPU8.subarray(from >>> 0, (from >>> 0) + (count >>> 0)), at >>> 0);
  },
  team_copy_out: function (at, to, count) {
    HEAPU8.set(Module.host.team.bytes.subarray(at >>> 0, (at >>> 0) + (count >>> 0)), to >>> 0);
  },
  team_fill: function (at, count, paint) {
    Module.host.team.bytes.fill(paint, at >>> 0, (at >>> 0) + (count >>> 0));
  },
  team_end_of_written: function (at, count, paint) {
    const bytes = Module.host.team.bytes;
    let end = count >>> 0;
    while (end > 0 && bytes[(at >>> 0) + end - 1] === paint) --end;
    return end | 0;
  },
  // `seed`: the address of its 64 bits.
  team_run: function (stage, buffers, extent, grain, seed) {
    Module.host.team.run(stage, buffers >>> 0, extent, grain, new BigInt64Array(HEAPU8.buffer, seed, 1)[0]);
  },
});
