// The functions of bridge.h, as Emscripten links them: texts become strings, and the host does the rest. (This version
// of Emscripten takes no arrow functions here.)
mergeInto(LibraryManager.library, {
  host_set_title: function (title) {
    Module.host.setTitle(UTF8ToString(title));
  },
  host_set_cursor: function (css) {
    Module.host.setCursor(UTF8ToString(css));
  },
  host_wake: function () {
    Module.host.wake();
  },
  host_ask_for_file: function () {
    Module.host.askForFile();
  },
  host_fetch_sample: function (name) {
    Module.host.fetchSample(UTF8ToString(name));
  },
  host_save: function (name, bytes, count) {
    Module.host.save(UTF8ToString(name), HEAPU8.slice(bytes, bytes + count));
  },
  host_save_canvas: function (name) {
    Module.host.saveCanvas(UTF8ToString(name));
  },
  host_models_state: function () {
    return Module.host.modelsState();
  },
  host_read_model: function (name, bytes, count, sizes, size) {
    const given = HEAPU8.subarray(bytes, bytes + count);
    const answer = Module.host.readModel(UTF8ToString(name), given, UTF8ToString(sizes));
    return Module.host.keepBytes(answer, size);
  },
  host_open_dimensions: function (bytes, count, size) {
    return Module.host.keepBytes(Module.host.openDimensions(HEAPU8.subarray(bytes, bytes + count)), size);
  },
  host_load: function (name) {
    const text = Module.host.load(UTF8ToString(name));
    return text === null ? 0 : Module.host.keep(text);
  },
  host_store: function (name, text) {
    Module.host.store(UTF8ToString(name), UTF8ToString(text));
  },
  host_copy: function (text) {
    Module.host.copy(UTF8ToString(text));
  },
  host_helper_file: function (serial, path, bytes, count) {
    Module.host.helper.file(serial, UTF8ToString(path), HEAPU8.slice(bytes, bytes + count));
  },
  host_helper_begin: function (request, urgent, serial, task, count) {
    Module.host.helper.begin(request, urgent !== 0, serial, HEAPU8.slice(task, task + count));
  },
  host_helper_end: function (request) {
    Module.host.helper.end(request);
  },
  host_helper_close: function (serial) {
    Module.host.helper.close(serial);
  },
  host_reply: function (bytes, count) {
    Module.host.reply(HEAPU8.slice(bytes, bytes + count));
  },
  host_text_field: function (shown, label, left, top, width, height) {
    Module.host.textField(shown !== 0, UTF8ToString(label), left, top, width, height);
  },
  host_mirror: function (json) {
    Module.host.mirror(JSON.parse(UTF8ToString(json)));
  },
  host_announce: function (message, urgent) {
    Module.host.announce(UTF8ToString(message), urgent !== 0);
  },
  host_set_link: function (fragment) {
    Module.host.setLink(UTF8ToString(fragment));
  },
});
