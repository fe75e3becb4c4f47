// The figures of lessons that speak of kernels: that they are what schedule and prices say, of the
// plan that is shown and of the pinned baseline.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/cost/cost.h"
#include "engine/fusion/kernel_traffic.h"
#include "engine/support/units.h"
#include "gui/app/code_view.h"
#include "gui/app/lesson_figure.h"
#include "gui/app/lesson_kernels.h"
#include "gui/model/plan_kernels.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

std::string figure(const Window& window, std::string_view name) {
  const auto found = lesson_figure(window.app, name);
  return found ? found->text : "no such";
}

void show_block(Window& window, const char* model) {
  REQUIRE(window.app.run("lesson.scene", "block").ok());
  window.settle();
  REQUIRE(window.app.run("model.set", model).ok());
  window.settle();
  REQUIRE(window.app.run("lesson.count").ok());
  window.settle();
}

// Each launch of the schedule, with the calls and the time that the schedule gives it.
TEST_CASE("lesson figures: kernels are those of the schedule", "[gui]") {
  for (const char* path : {"sample:tiny_conv", "samples/joint/tiny_mlp.json.gz", "sample:mlp"})
    for (const char* model : {"eager", "fused"}) {
      CAPTURE(path, model);
      Window window(bare_options());
      window.app.open(path);
      window.settle();
      REQUIRE(window.app.run("model.set", model).ok());
      window.settle();
      REQUIRE(window.app.run("memory.prepare").ok());
      window.settle();
      const SharedSchedule schedule = shown_schedule(*window.app.document());
      REQUIRE(schedule);
      const PlanKernels kernels = kernels_of(schedule->plan);
      REQUIRE(kernels.all.size() == schedule->launches.size());
      std::int64_t moved = 0;
      for (std::size_t i = 0; i < kernels.all.size(); ++i) {
        const std::uint32_t k = schedule->launches[i];
        CHECK(kernels.all[i].calls ==
              loop::computed_calls(schedule->graph(), schedule->kernel(k).calls));
        const double moving = static_cast<double>(kernels.all[i].moved) /
                              schedule->plan->planned.costs.device.rates.bytes_per_second;
        // The gradients of a convolution are two kernels by their price: neither moves everything.
        if (schedule->graph()[kernels.all[i].calls.front()].op != Op::convolution_backward)
          CHECK(schedule->micros(k) >= 1e6 * moving * (1 - 1e-9));
        CHECK(kernels.all[i].moved >= schedule->bytes(k));
        moved += kernels.all[i].moved;
      }
      CHECK(kernels.moved() == moved);
    }
}

TEST_CASE("lesson figures: of the plan shown, and of the one before", "[gui]") {
  Window window(bare_options());
  show_block(window, "eager");
  const SharedPlanView eager = window.app.document()->shown;
  std::int64_t traffic = 0;
  for (const PlanStep& step : eager->replay().steps)
    traffic += node_traffic(eager->graph(), step.node);
  CHECK(figure(window, "moved") == format_bytes(traffic));
  CHECK(figure(window, "before kernels") == "–");
  CHECK(figure(window, "before peak") == "–");
  CHECK(figure(window, "holds h") == "1");
  const std::string kernels = figure(window, "kernels"), peak = figure(window, "peak");
  // One value is read and one written by t, up and gate; h reads another one.
  CHECK(figure(window, "moves t up gate h") ==
        format_bytes(9 * byte_size(eager->graph()[eager->graph().find("h")].type())));

  REQUIRE(window.app.run("baseline.pin", "shown").ok());
  REQUIRE(window.app.run("model.set", "fused").ok());
  window.settle();
  CHECK(figure(window, "kernels") == "–");
  REQUIRE(window.app.run("lesson.count").ok());
  window.settle();
  CHECK(figure(window, "before kernels") == kernels);
  CHECK(figure(window, "before peak") == peak);
  CHECK(figure(window, "kernels") == window.state("kernels"));
  CHECK(figure(window, "holds h") == "4");
  CHECK(figure(window, "moves t up gate h") == figure(window, "moves h"));
  CHECK(figure(window, "moves h") ==
        format_bytes(3 * byte_size(eager->graph()[eager->graph().find("h")].type())));
}

TEST_CASE("lesson figures: places in the arena, and the line of code", "[gui]") {
  Window window(bare_options());
  show_block(window, "fused");
  const ScheduleView& schedule = *shown_schedule(*window.app.document());
  CHECK(figure(window, "arena") == format_bytes(schedule.schedule.arena_bytes));
  const auto kernel = schedule.kernels_of(schedule.graph().find("h")).front();
  CHECK(figure(window, "kernel h") == fmt::format("{}", kernel));
  for (const Buffer& buffer : schedule.schedule.buffers) {
    const std::string& name = schedule.graph().node_name(buffer.owner);
    CAPTURE(name);
    CHECK(figure(window, "address " + name) == format_count(buffer.offset));
    CHECK(figure(window, "end " + name) == format_count(buffer.offset + buffer.bytes));
  }
  CHECK(figure(window, "address gate") == "–");  // it stays inside
  REQUIRE(window.app.run("select.node", "gate").ok());
  window.settle();
  CHECK(window.app.items.find("details/storage")->value == "none: it stays inside its kernel");
  CHECK(figure(window, "address nobody") == "–");
  CHECK(figure(window, "kernel nobody") == "–");
  CHECK(figure(window, "moves nobody") == "–");
  CHECK(figure(window, "line") == "–");
  CHECK(figure(window, "before arena") == "no such");
  CHECK(figure(window, "before bytes h") == "no such");

  REQUIRE(window.app.run("panel.show", "code").ok());
  REQUIRE(window.app.run("select.node", "h").ok());
  window.settle();
  const std::string line = window.state("code_line");
  CHECK(line.substr(line.find_first_not_of(' ')) == figure(window, "line"));
}

// What a reader switched elsewhere doesn't hide what a lesson speaks of.
TEST_CASE("lesson figures: a scene shows memory as lessons do", "[gui]") {
  Window window(bare_options());
  show_block(window, "fused");
  REQUIRE(window.app.run("memory.view", "arena").ok());
  REQUIRE(window.app.run("lesson.scene", "layers").ok());
  window.settle();
  CHECK(window.state("setting.memory.view").empty());
  CHECK(window.app.items.find("memory/peak") != nullptr);
}

TEST_CASE("lesson figures: compared as a reader finds them", "[gui]") {
  Window window(bare_options());
  show_block(window, "eager");
  const auto compared = [&](const char* left, const char* sign, const char* right) {
    return compares(window.app, left, sign, right);
  };
  CHECK(compared("peak", "=", "peak"));
  CHECK(compared("peak", "<=", "peak"));
  CHECK_FALSE(compared("peak", "<", "peak"));
  CHECK(compared("0.5 peak", "<", "peak"));
  CHECK(compared("peak", ">", "0.5 peak"));
  CHECK_FALSE(compared("0.5 peak", "=", "peak"));
  CHECK(compared("kernels", ">", "1"));
  CHECK(compared("recompute", "=", "0"));
  CHECK(compared("bytes t", "<", "moves t up gate h"));
  // What isn't known stands in no relation; nor does what is no number.
  CHECK_FALSE(compared("before peak", "<=", "peak"));
  CHECK_FALSE(compared("peak", ">=", "budget"));
  CHECK_FALSE(compared("peak_at", "=", "peak_at"));
  CHECK_FALSE(compared("no such figure", "=", "no such figure"));
}

TEST_CASE("lesson figures: a finger taps where a pointer clicks", "[gui]") {
  Window window(bare_options());
  CHECK(filled_in(window.app, "{click} it") == "Click it");
  window.backend.give(PointerMoved{20, 20, true});
  window.tick();
  CHECK(filled_in(window.app, "{click} it") == "Tap it");
  window.backend.give(PointerMoved{-1e6f, -1e6f});  // the finger has gone
  window.tick();
  CHECK(filled_in(window.app, "{click} it") == "Tap it");
  window.backend.give(PointerMoved{20, 20});
  window.tick();
  CHECK(filled_in(window.app, "{right_click} it") == "right-click it");
}

}  // namespace
}  // namespace recut::gui
