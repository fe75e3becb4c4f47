// While times are taken, the window draws nothing but the answer to a key or a button.
#include <catch2/catch_test_macros.hpp>

#include "tests/gui/window.h"

namespace recut::gui {
namespace {

// Takes a worker request and says what it is given to say.
class TellingHelper : public Helper {
 public:
  void begin(int request_id, bool, const HelperFile&, std::string_view) override {
    at_work = request_id;
  }
  void end(int) override {}
  void close(int) override {}
  std::vector<HelperReply> take_replies() override { return std::exchange(replies_, {}); }
  void say(const std::string& text) { replies_.push_back({at_work, HelperReply::kFound, text}); }

  int at_work = 0;

 private:
  std::vector<HelperReply> replies_;
};

Job measuring_job() {
  Job job{"Measuring", 0, true, false, {}};
  job.measures = true;
  job.worker_request = std::make_shared<WorkerRequest>(
      WorkerRequest{{},
                    [] { return std::string("measure"); },
                    [](JobControl& control, std::string_view reply) {
                      control.measuring(reply == "measuring");
                      return reply != "done";
                    },
                    [](JobControl&, const std::string&) {}});
  return job;
}

struct MeasuringWindow {
  MeasuringWindow() : window(bare_options(), with(helper)) {
    for (int i = 0; i < 10; ++i) window.tick();
  }
  static NullBackend with(Helper& helper) {
    NullBackend backend = Window::sample_backend();
    backend.helping = &helper;
    return backend;
  }
  // How many frames are drawn in some ticks.
  int frames(int ticks = 6) {
    const int before = window.app.frames();
    for (int i = 0; i < ticks; ++i) window.tick();
    return window.app.frames() - before;
  }

  TellingHelper helper;
  Window window;
};

TEST_CASE("measuring: a job that measures begins once its beginning was drawn", "[gui]") {
  MeasuringWindow it;
  it.window.app.jobs.start(measuring_job());
  it.window.app.want_frames();
  CHECK(it.frames(1) == 1);
  CHECK(it.helper.at_work == 0);
  (void)it.frames(1);
  CHECK(it.helper.at_work != 0);
}

TEST_CASE("measuring: nothing is drawn meanwhile but what was asked for", "[gui]") {
  MeasuringWindow it;
  App& app = it.window.app;
  app.jobs.start(measuring_job());
  (void)it.frames();
  it.helper.say("measuring");
  (void)it.frames(1);
  REQUIRE(app.jobs.measuring());

  app.say("A notice that can wait");
  CHECK(it.frames() == 0);
  CHECK(app.rest() != 0.0);  // a window that polled would take a core
  it.window.backend.give(PointerMoved{300, 300});
  CHECK(it.frames() == 0);
  CHECK_FALSE(app.idle());

  it.window.backend.give(KeyChanged{ImGuiKey_F1, true});
  it.window.backend.give(KeyChanged{ImGuiKey_F1, false});
  CHECK(it.frames() > 0);
  CHECK(it.frames() == 0);

  it.helper.say("done");
  CHECK(it.frames() > 0);
  CHECK_FALSE(app.jobs.measuring());
  it.window.settle();
}

TEST_CASE("measuring: what was stopped holds nothing up", "[gui]") {
  MeasuringWindow it;
  const JobId job = it.window.app.jobs.start(measuring_job());
  (void)it.frames();
  it.helper.say("measuring");
  (void)it.frames(1);
  it.window.app.jobs.cancel(job);
  it.window.app.want_frames();
  CHECK(it.frames() > 0);
}

}  // namespace
}  // namespace recut::gui
