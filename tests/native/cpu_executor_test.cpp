// Steps that the window really runs: the desktop's executor by itself, and behind the run panel.
#include "native/executors/cpu_executor.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "engine/workspace/open_document.h"
#include "gui/app/run_view.h"
#include "tests/gui/window.h"
#include "tests/input/parse.h"
#include "tests/native/run_command.h"

namespace recut::native {
namespace {

struct Scheduled {
  Document document;
  ScheduledPlan plan;

  ScheduledStep step() const { return {document, *plan.kernels, plan.schedule}; }
};

Scheduled schedule(Document document) {
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  auto plan = schedule_document(document, request);
  REQUIRE(plan.ok());
  return {std::move(document), std::move(*plan)};
}

Scheduled schedule_sample(const std::string& name) {
  auto document = open_document(sample(name), {});
  REQUIRE(document.ok());
  return schedule(std::move(*document));
}

TEST_CASE("the window's executor: figures of a step, and how far it is", "[gui][cpu]") {
  const Scheduled scheduled = schedule_sample("tiny_conv.json.gz");
  CpuExecutor executor;
  std::vector<double> shares;
  std::vector<std::string> progress_texts;
  std::vector<StepPhase> phases;
  const auto figures = executor.run(scheduled.step(), {.seed = 1, .steps = 3},
                                    [&](StepPhase phase, double share, const std::string& what) {
                                      phases.push_back(phase);
                                      shares.push_back(share);
                                      progress_texts.push_back(what);
                                      return true;
                                    });
  REQUIRE(figures.ok());
  CHECK(figures->steps == 3);
  CHECK(figures->measured_peak_bytes == figures->planned_peak_bytes);
  CHECK(figures->planned_peak_bytes <= scheduled.plan.schedule.arena_bytes);
  CHECK(figures->scratch_bytes > 0);  // of the convolutions
  CHECK(figures->step_ms_min > 0);
  CHECK(figures->step_ms_min <= figures->step_ms_median);
  const auto& kernels = scheduled.plan.schedule.kernels;
  REQUIRE(figures->kernel_ms.size() == kernels.size());
  for (std::size_t k = 0; k < kernels.size(); ++k)
    CHECK((figures->kernel_ms[k] > 0) == kernels[k].launches);

  CHECK(std::is_sorted(shares.begin(), shares.end()));
  CHECK(shares.back() == 1);
  CHECK(progress_texts == std::vector<std::string>{kCompilingMessage, "running", "step 1 of 3",
                                                   "step 2 of 3", "step 3 of 3"});
  CHECK(phases == std::vector{StepPhase::preparing, StepPhase::measuring, StepPhase::measuring,
                              StepPhase::measuring, StepPhase::checking});
  CHECK(find_device(executor.device()).ok());
}

TEST_CASE("the window's executor: a run that is to end does", "[gui][cpu]") {
  const Scheduled scheduled = schedule_sample("tiny_mlp.json.gz");
  CpuExecutor executor;
  for (const std::string_view last : {"running", "step 2 of 100000"}) {
    bool ended = false;
    const auto figures = executor.run(scheduled.step(), {.seed = 1, .steps = 100000},
                                      [&](StepPhase, double, const std::string& what) {
                                        CHECK_FALSE(ended);
                                        ended = what == last;
                                        return !ended;
                                      });
    REQUIRE_FALSE(figures.ok());
    CHECK(format(figures.diagnostics()).find("the run was ended") != std::string::npos);
    CHECK(ended);
  }
}

// A row of %table at index %i: only the file's value tells whether there is such a row.
TEST_CASE("the window's executor: weights have the file's values, others are drawn", "[gui][cpu]") {
  for (const std::int64_t index : {1, 7}) {
    GraphFile file;
    file.graph = parse(R"(graph "rows" {
  %table = input f32[2, 4]
  %i = parameter i64[1]
  %y = index_select(%table, 0, %i)
  results %y
}
)");
    const std::string bytes(reinterpret_cast<const char*>(&index), sizeof(index));
    file.tensors = {{"in.i", DType::i64, {1}, bytes}};
    auto document = open_document_graph(std::move(file), "rows", {});
    REQUIRE(document.ok());
    const Scheduled scheduled = schedule(std::move(*document));
    CpuExecutor executor;
    const auto figures = executor.run(scheduled.step(), {.seed = 1, .steps = 1},
                                      [](StepPhase, double, const std::string&) { return true; });
    CHECK(figures.ok() == (index < 2));
  }
}

TEST_CASE("the window's executor: the run panel has what was measured", "[gui][cpu]") {
  CpuExecutor executor;
  gui::NullBackend backend = gui::Window::sample_backend();
  backend.running = {&executor};
  gui::Window window(gui::bare_options(), backend);
  window.app.open("sample:tiny_conv");
  window.settle();
  REQUIRE(window.app.run("model.set", "fused").ok());
  window.settle();
  REQUIRE(window.app.run("run.step", "2").ok());
  window.settle();
  CHECK(window.state("run") == "done");
  const gui::SharedRun run = gui::shown_run(*window.app.document());
  REQUIRE(run);
  CHECK(run->measured_peak_bytes == run->planned_peak_bytes);
  CHECK(window.app.items.find("run/scratch")->value.find("measured") != std::string::npos);
  REQUIRE(run->planned);  // by this machine's prices
  CHECK(run->planned->device == find_device(executor.device())->title);
  for (std::size_t i = 1; i < run->slowest.size(); ++i)
    CHECK(run->kernel_ms[run->slowest[i - 1]] >= run->kernel_ms[run->slowest[i]]);
  for (const char* slow : {"run/slow 0", "run/slow 1"})
    CHECK(window.app.items.find(slow) != nullptr);
}

TEST_CASE("the window's executor: a graph of forward mode runs as the interpreter", "[gui][cpu]") {
  CpuExecutor executor;
  gui::NullBackend backend = gui::Window::sample_backend();
  backend.running = {&executor};
  gui::Window window(gui::bare_options(), backend);
  window.app.open("samples/blocks/residual_block.recut");
  window.settle();
  for (const char* command : {"pass.jvp", "run.check"}) {
    REQUIRE(window.app.run(command).ok());
    window.settle();
  }
  CHECK(window.state("run_fault") == "");
  CHECK(window.state("run_agrees") == "yes");
}

TEST_CASE("the window's executor: a graph that can't run says why", "[gui][cpu]") {
  CpuExecutor executor;
  gui::NullBackend backend;
  backend.running = {&executor};
  backend.files["test.recut"] =
      "graph \"no loops\" {\n  %x = input f32[4, 4]\n  %y = nonzero(%x) : i64[16, 2]\n  results "
      "%y\n"
      "  gradients none\n}\n";
  gui::Window window(gui::bare_options(), backend);
  window.app.open("test.recut");
  window.settle();
  REQUIRE(window.app.run("run.step").ok());
  window.settle();
  CHECK(window.state("run") == "failed");
  REQUIRE(window.app.items.find("run/fault") != nullptr);
  CHECK(window.app.items.find("run/fault")->value.find("operator 'nonzero' has no lowering") !=
        std::string::npos);
}

}  // namespace
}  // namespace recut::native
