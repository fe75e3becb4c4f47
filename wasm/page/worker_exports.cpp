// Functions that the page's workers call (js/worker.js): the helper's side, without a window.
#include <emscripten/emscripten.h>

#include <new>
#include <string>

#include "gui/jobs/worker_requests.h"
#include "wasm/page/bridge.h"
#include "wasm/page/models.h"
#include "wasm/step/page_executor.h"

namespace {

recut::gui::WorkerServer& server() {
  static recut::step::PageExecutor executor;
  static recut::gui::WorkerServer server(&executor, recut::page::read_model);
  return server;
}

// Runs the work; 0 if memory ran out, after which the worker is of no more use.
template <class Work>
int within_memory(Work&& deed) {
  try {
    deed();
    return 1;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

}  // namespace

extern "C" {

// The caller owns the bytes. Returns 0 where memory has run out.
EMSCRIPTEN_KEEPALIVE int worker_open(int serial, const char* path, const char* bytes,
                                     std::size_t count) {
  return within_memory([&] { server().open(serial, path, {bytes, count}); });
}

EMSCRIPTEN_KEEPALIVE void worker_close(int serial) { server().close(serial); }

// Returns 0 where memory has run out.
EMSCRIPTEN_KEEPALIVE int worker_serve(int serial, const char* task, std::size_t count) {
  return within_memory([&] {
    server().serve(serial, {task, count},
                   [](const std::string& reply) { host_reply(reply.data(), reply.size()); });
  });
}
}
