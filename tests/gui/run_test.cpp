// Running a step from the window: by an executor that a platform brings, with progress, to its
// figures; and what is said where there is none.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/support/units.h"
#include "gui/app/menu.h"
#include "gui/app/run_view.h"
#include "gui/canvas/canvas.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/stub_executor.h"
#include "tests/gui/window.h"

namespace recut::gui {
namespace {

TEST_CASE("run: figures are of the plan that ran, the slowest kernels first", "[gui]") {
  StubExecutor executor;
  Window window(bare_options(), with_executor(executor));
  window.app.open("sample:tiny_conv");
  window.settle();
  CHECK(window.state("run") == "none");
  REQUIRE(window.app.run("run.step", "7").ok());
  CHECK(window.state("run") == "running");
  window.settle();
  CHECK(window.state("run") == "done");
  const DocumentView& document = *window.app.document();
  const SharedRun run = shown_run(document);
  REQUIRE(run);
  CHECK(run->steps == 7);
  CHECK(run->of == shown_schedule(document));
  CHECK(run->slowest.front() == run->of->launches.back());
  CHECK(std::to_string(run->measured_peak_bytes) == window.state("measured_peak"));
  const NodeId last = run->of->node(run->of->launches.back());
  CHECK(run->node_ms[document.graph().position(last)] > 0);
  CHECK(window.app.items.find("run/step")->value.find("measured") != std::string::npos);
  CHECK(window.app.items.find("run/scratch")->value == "3.00 KiB measured");
  CHECK(window.app.items.find("run/slow 0")->value == run->of->name(run->slowest.front()));

  // Another plan hasn't run.
  REQUIRE(window.app.run("budget.set", "none").ok());
  window.settle();
  CHECK(shown_run(document) == nullptr);
  CHECK(window.state("measured_peak").empty());
}

// Prices of another device say nothing of a measured time.
TEST_CASE("run: planned times beside measured ones are of what it ran on", "[gui]") {
  StubExecutor executor;
  Window window(bare_options(), with_executor(executor));
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("run.step").ok());
  window.settle();
  const auto value = [&] { return window.app.items.find("run/step")->value; };
  CHECK(value() == "3.00 ms measured");
  CHECK_FALSE(shown_run(*window.app.document())->planned);
  CHECK(window.app.items.find("run/prices")->value.find("no times planned") == 0);

  executor.profile = "cpu8";
  REQUIRE(window.app.run("run.step").ok());
  window.settle();
  const SharedRun run = shown_run(*window.app.document());
  REQUIRE(run->planned);
  CHECK(run->planned->step_us > window.app.document()->shown->report().step_us);
  CHECK(value() == format_micros(run->planned->step_us) + " planned, 3.00 ms measured");
  CHECK(window.app.items.find("run/prices")->value == "planned for " + run->planned->device);
  double sum = 0;
  for (const std::uint32_t k : run->of->launches) sum += run->planned->kernel_us[k];
  CHECK(std::abs(sum - run->planned->step_us) < 1e-6 * run->planned->step_us);

  REQUIRE(window.app.run("device.set", "cpu8").ok());
  window.settle();
  CHECK(window.app.items.find("run/step")->value == window.state("step") + " planned");
}

TEST_CASE("run: outputs are compared with the interpreter's where that is asked for", "[gui]") {
  StubExecutor executor;
  Window window(bare_options(), with_executor(executor));
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("run.step").ok());
  window.settle();
  CHECK(window.app.items.find("run/check")->kind == ItemKind::button);
  executor.agreement.outputs = 12;
  executor.agreement.max_relative_error = 1.2e-6;
  REQUIRE(window.app.run("run.check", "3").ok());
  window.settle();
  CHECK(window.state("run_agrees") == "yes");
  CHECK(window.app.items.find("run/agreement")->value ==
        "12 outputs are the interpreter's; relative error at most 1.2e-06");
  executor.agreement.problem = "gradient of w: 3 of 4 elements differ";
  REQUIRE(window.app.run("run.check").ok());
  window.settle();
  CHECK(window.state("run_agrees") == "no");
  CHECK(window.app.items.find("run/agreement")->value == executor.agreement.problem);
}

// As a page's worker does it: the schedule is made there, too, and comes back.
TEST_CASE("run: a helper runs the step", "[gui]") {
  StubExecutor executor;
  NearHelper helper(&executor);
  NullBackend backend = with_executor(executor);
  backend.helping = &helper;
  Window window(bare_options(), backend);
  window.app.open("sample:tiny_conv");
  window.settle();
  for (int runs = 1; runs <= 2; ++runs) {
    const int before = helper.begun;
    REQUIRE(window.app.run("run.check", "7").ok());
    window.settle();
    CHECK(helper.begun > before);
    CHECK(executor.runs == runs);
    CHECK(window.state("run") == "done");
    const DocumentView& document = *window.app.document();
    const SharedRun run = shown_run(document);
    REQUIRE(run);
    CHECK(run->steps == 7);
    CHECK(run->where == "nothing");
    CHECK(run->agreement);
    CHECK(run->of == shown_schedule(document));
    CHECK(run->kernel_ms.size() == run->of->schedule.kernels.size());
  }
  executor.fault = "operator 'x' has no lowering yet";
  REQUIRE(window.app.run("run.step").ok());
  window.settle();
  CHECK(window.state("run") == "failed");
}

TEST_CASE("run: the graph is coloured by measured times, or by the plan", "[gui]") {
  StubExecutor executor;
  Window window(bare_options(), with_executor(executor));
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("run.step").ok());
  window.settle();
  DocumentView& document = *window.app.document();
  const Canvas& canvas = canvas_of(document.memories);
  REQUIRE(canvas.marks);
  CHECK(canvas.marks->most_ms == 0);
  REQUIRE(window.app.run("run.times").ok());
  window.settle();
  const SharedRun run = shown_run(document);
  CHECK(canvas.marks->most_ms == run->most_ms);
  const auto warmest =
      std::max_element(canvas.marks->boxes.begin(), canvas.marks->boxes.end(),
                       [](const BoxMarks& a, const BoxMarks& b) { return a.ms < b.ms; });
  CHECK(warmest->ms == run->most_ms);
  REQUIRE(window.app.run("run.times").ok());
  window.settle();
  CHECK(canvas.marks->most_ms == 0);
}

// The budget bounds the arena, as in recut schedule, where the plan can run in one.
TEST_CASE("run: a fused plan's arena holds the budget", "[gui]") {
  StubExecutor executor;
  Window window(bare_options(), with_executor(executor));
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("model.set", "fused").ok());
  REQUIRE(window.app.run("panel.show", "code").ok());
  DocumentView& document = *window.app.document();
  int held = 0;
  for (const char* budget : {"95%", "90%", "85%", "80%", "70%", "60%"}) {
    CAPTURE(budget);
    REQUIRE(window.app.run("budget.set", budget).ok());
    window.settle();
    const SharedSchedule schedule = shown_schedule(document);
    REQUIRE(schedule);
    const auto planned =
        schedule_document(*document.document, {request_of(document.plan_settings), {}});
    REQUIRE(planned.ok());
    CHECK(schedule->schedule.arena_bytes == planned->schedule.arena_bytes);
    if (!document.holds()) continue;
    CHECK(schedule->beyond(document.plan_settings.budget_bytes) == planned->beyond_budget());
    held += schedule->beyond(document.plan_settings.budget_bytes) == 0 ? 1 : 0;
  }
  CHECK(held > 2);
}

TEST_CASE("run: an arena above the budget is said", "[gui]") {
  StubExecutor executor;
  Window window(bare_options(), with_executor(executor));
  window.app.open("samples/joint/tiny_mlp.json.gz");
  window.settle();
  const std::int64_t peak = window.app.document()->start->peak();
  REQUIRE(window.app.run("memory.view", "arena").ok());
  REQUIRE(window.app.run("budget.set", std::to_string(peak)).ok());
  REQUIRE(window.app.run("run.step").ok());
  window.settle();
  const SharedRun run = shown_run(*window.app.document());
  REQUIRE(run);
  REQUIRE(run->of->schedule.arena_bytes > peak);  // starts of buffers are multiples of 64
  CHECK(window.app.items.find("run/arena") != nullptr);
  const Item* text = window.app.items.find("memory/arena words");
  REQUIRE(text != nullptr);
  CHECK(text->value.find("above the budget") != std::string::npos);
}

TEST_CASE("run: what is in the way is said", "[gui]") {
  StubExecutor executor;
  Window window(bare_options(), with_executor(executor));
  window.app.open("sample:tiny_conv");
  window.settle();
  executor.fault = "operator 'x' has no lowering yet";
  REQUIRE(window.app.run("run.step").ok());
  window.settle();
  CHECK(window.state("run") == "failed");
  REQUIRE(window.app.items.find("run/fault") != nullptr);
  CHECK(window.app.items.find("run/fault")->value.find("no lowering") != std::string::npos);
  for (const char* steps : {"0", "-1", "many", "1000000"})
    CHECK_FALSE(window.app.run("run.step", steps).ok());
  CHECK(executor.runs == 1);

  Window alone(bare_options());
  alone.app.open("sample:tiny_conv");
  alone.settle();
  const Result<Done> refused = alone.app.run("run.step");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.diagnostics().front().message.find("can't run") != std::string::npos);
  REQUIRE(alone.app.run("panel.show", "run").ok());
  alone.settle();
  CHECK_FALSE(alone.app.items.find("run/run")->enabled);
}

TEST_CASE("run: where there is a choice, the chosen one runs, and it is kept", "[gui]") {
  StubExecutor one, other;
  other.name = "other";
  NullBackend backend = with_executor(one);
  backend.running.push_back(&other);
  Window window(bare_options(), backend);
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("panel.show", "run").ok());
  window.settle();
  CHECK(window.state("run_on") == "stub");
  CHECK(window.play("click \"run/on other\"\nwait idle\nexpect state run_on other\n") == "");
  REQUIRE(window.app.run("run.step").ok());
  window.settle();
  CHECK(one.runs == 0);
  CHECK(other.runs == 1);
  REQUIRE(window.app.run("run.on").ok());  // the next, which is the first again
  CHECK(window.state("setting.run.on") == "stub");
  const Result<Done> unknown = window.app.run("run.on", "nowhere");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.diagnostics().front().message == "steps run on one of stub, other");
  const auto rows = rows_of(window.app, *find_menu("plan"));
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [](const MenuRow& row) { return row.label == "run.on other"; });
  REQUIRE(row != rows.end());
  CHECK(row->title == "Run on: executor other");
  CHECK_FALSE(row->on);

  // Of one there is nothing to choose.
  Window alone(bare_options(), with_executor(one));
  alone.app.open("sample:tiny_conv");
  alone.settle();
  CHECK_FALSE(alone.app.run("run.on", "stub").ok());
  REQUIRE(alone.app.run("panel.show", "run").ok());
  alone.settle();
  CHECK(alone.app.items.find("run/on stub") == nullptr);
}

TEST_CASE("run: a run that is stopped leaves nothing", "[gui]") {
  StubExecutor executor;
  Window window(bare_options(), with_executor(executor));
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("run.step").ok());
  REQUIRE(window.app.run("run.cancel").ok());
  window.settle();
  CHECK(window.state("run") == "none");
  CHECK(shown_run(*window.app.document()) == nullptr);
}

}  // namespace
}  // namespace recut::gui
