// What the page's workers call (js/worker.js): the helper's side, without a window.
#include <emscripten/emscripten.h>

#include <string>

#include "gui/app/errands.h"
#include "wasm/page/bridge.h"
#include "wasm/step/page_runner.h"

namespace {

recut::gui::ErrandServer& server() {
  static recut::step::PageRunner runner;
  static recut::gui::ErrandServer server(&runner);
  return server;
}

}  // namespace

extern "C" {

// The bytes are the caller's.
EMSCRIPTEN_KEEPALIVE void worker_open(int serial, const char* path, const char* bytes,
                                      std::size_t count) {
  server().open(serial, path, {bytes, count});
}

EMSCRIPTEN_KEEPALIVE void worker_close(int serial) { server().close(serial); }

EMSCRIPTEN_KEEPALIVE void worker_serve(int serial, const char* task, std::size_t count) {
  server().serve(serial, {task, count},
                 [](const std::string& reply) { host_reply(reply.data(), reply.size()); });
}
}
