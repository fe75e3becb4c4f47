// Code that is made while the program runs, in the program's own memory and table (instance.h).
// (This version of Emscripten takes no arrow functions in here.)
mergeInto(LibraryManager.library, {
  // The exported functions of an instance, by name: places in the table.
  $stepInstances: { last: 0, places: {} },

  step_instantiate__deps: ['$stepInstances'],
  step_instantiate: function (bytes, count, functions, problem) {
    try {
      const module = new WebAssembly.Module(HEAPU8.slice(bytes, bytes + count));
      const given = { memory: wasmMemory };
      let next = functions >> 2;
      WebAssembly.Module.imports(module).forEach(function (one) {
        if (one.kind === 'function') given[one.name] = wasmTable.get(HEAPU32[next++]);
      });
      const made = new WebAssembly.Instance(module, { recut: given }).exports;
      const places = {};
      Object.keys(made).forEach(function (name) {
        places[name] = addFunction(made[name]);
      });
      stepInstances.places[++stepInstances.last] = places;
      return stepInstances.last;
    } catch (error) {
      stringToUTF8(String(error.message), problem, 256);
      return 0;
    }
  },
  step_export__deps: ['$stepInstances'],
  step_export: function (instance, name) {
    return stepInstances.places[instance][UTF8ToString(name)] | 0;
  },
  step_drop__deps: ['$stepInstances'],
  step_drop: function (instance) {
    Object.values(stepInstances.places[instance]).forEach(function (place) {
      removeFunction(place);
    });
    delete stepInstances.places[instance];
  },
  step_is_valid: function (bytes, count) {
    return WebAssembly.validate(HEAPU8.slice(bytes, bytes + count)) ? 1 : 0;
  },
});
