// Run-time compiled code in the program's own memory and table (instance.h). (This version of Emscripten takes no arrow
// functions here.)
mergeInto(LibraryManager.library, {
  // The exported functions of each instance, by name, as table slots. `free`: slots that closed instances no longer
  // need.
  $stepInstances: { last: 0, slots: {}, free: [] },

  // Like addFunction, but without its scan of the whole table.
  $stepSlots__deps: ['$stepInstances'],
  $stepSlots: function (made) {
    const names = Object.keys(made), free = stepInstances.free;
    if (names.length > free.length) {
      const begin = wasmTable.grow(names.length - free.length);
      for (let slot = wasmTable.length - 1; slot >= begin; --slot) free.push(slot);
    }
    const slots = {};
    names.forEach(function (name) {
      slots[name] = free.pop();
      wasmTable.set(slots[name], made[name]);
    });
    return slots;
  },

  step_instantiate__deps: ['$stepInstances', '$stepSlots'],
  step_instantiate: function (bytes, count, functions, problem) {
    try {
      const module = new WebAssembly.Module(HEAPU8.slice(bytes, bytes + count));
      const given = { memory: wasmMemory };
      let next = functions >> 2;
      WebAssembly.Module.imports(module).forEach(function (one) {
        if (one.kind === 'function') given[one.name] = wasmTable.get(HEAPU32[next++]);
      });
      const made = new WebAssembly.Instance(module, { recut: given }).exports;
      stepInstances.slots[++stepInstances.last] = stepSlots(made);
      return stepInstances.last;
    } catch (error) {
      stringToUTF8(String(error.message), problem, 256);
      return 0;
    }
  },
  step_export__deps: ['$stepInstances'],
  step_export: function (instance, name) {
    return stepInstances.slots[instance][UTF8ToString(name)] | 0;
  },
  step_drop__deps: ['$stepInstances'],
  step_drop: function (instance) {
    Object.values(stepInstances.slots[instance]).forEach(function (slot) {
      wasmTable.set(slot, null);
      stepInstances.free.push(slot);
    });
    delete stepInstances.slots[instance];
  },
  // Until about version 13, V8 loaded all values of a basic block at its beginning, so that six rows of a product ran
  // out of registers. No API tells that; Float16Array, which came with 13.5, gives the version away.
  step_loads_in_order: function () {
    return typeof Float16Array === 'undefined' ? 0 : 1;
  },
  step_is_valid: function (bytes, count) {
    return WebAssembly.validate(HEAPU8.slice(bytes, bytes + count)) ? 1 : 0;
  },
});
