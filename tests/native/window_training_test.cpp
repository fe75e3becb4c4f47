// Training from the window: by the desktop's executor, on a thread of its own or by a helper, by
// one plan and by several.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/workspace/open_document.h"
#include "engine/workspace/training.h"
#include "engine/workspace/training_run.h"
#include "gui/app/train_view.h"
#include "native/executors/cpu_executor.h"
#include "tests/gui/near_helper.h"
#include "tests/gui/window.h"
#include "tests/input/parse.h"
#include "tests/paths.h"

namespace recut::native {
namespace {

constexpr const char* kWindowTrainingModel = RECUT_SOURCE_DIR "/samples/mlp.recut";

gui::NullBackend with(Executor& executor, gui::Helper* helper = nullptr) {
  gui::NullBackend backend = gui::Window::sample_backend();
  backend.running = {&executor};
  backend.helping = helper;
  return backend;
}

struct TrainingWindow : gui::Window {
  explicit TrainingWindow(Executor& executor, gui::Helper* helper = nullptr)
      : gui::Window(gui::bare_options(), with(executor, helper)) {
    app.open(kWindowTrainingModel);
    settle();
    does("model.set", "fused");
    does("train.optimizer", "adam 0.01");
  }

  void does(const char* command, const char* argument = "") {
    CAPTURE(command, argument);
    const auto done = app.run(command, argument);
    if (!done) FAIL(format(done.diagnostics()));
    settle();
  }
  const gui::TrainView& view() {
    const gui::TrainView* view = gui::shown_training(*app.document());
    REQUIRE(view != nullptr);
    return *view;
  }
};

// The losses of `recut train`, by the plan without a budget.
std::vector<double> losses_of_command(int steps, int threads) {
  OpenOptions options;
  Adam adam;
  adam.learning_rate = 0.01;
  options.training = TrainingOptions{adam, {}};
  const auto document = open_document(kWindowTrainingModel, options);
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  const auto plan = schedule_document(*document, request);
  REQUIRE(plan.ok());
  TrainingRequest training;
  training.seed = 1;
  training.steps = steps;
  CpuExecutor processor(threads);
  const auto trained = train(*document, *plan, processor, training);
  REQUIRE(trained.ok());
  return trained->losses;
}

// Another plan may order sums differently.
void check_close(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i, found[i], expected[i]);
    CHECK(std::abs(found[i] - expected[i]) <= 1e-3 * std::abs(expected[i]));
  }
}

TEST_CASE("training: the window's losses are the command's", "[gui][cpu][train]") {
  CpuExecutor executor;
  TrainingWindow window(executor);
  CHECK(window.state("recipe") == "adam 0.01");
  CHECK(window.state("training") == "none");
  window.does("train.begin", "60");
  CHECK(window.state("training") == "done");
  CHECK(window.state("training_steps") == "60");
  CHECK(window.state("training_plans") == "1");
  CHECK(window.state("training_where") == executor.where());
  CHECK(window.state("training_peak") == window.state("training_planned_peak"));
  const std::vector<double> losses = window.view().losses;
  check_close(losses, losses_of_command(60, 1));
  CHECK(window.view().means.back() < 0.8 * losses.front());
  CHECK(window.app.items.find("train/loss curve") != nullptr);
  CHECK(window.app.items.find("train/arena")->value.find("as planned") != std::string::npos);

  // In stretches, and from the beginning: the same numbers.
  window.does("train.again", "7");
  window.does("train.begin", "53");
  CHECK(window.state("training_plans") == "1");
  CHECK(window.view().losses == losses);
}

TEST_CASE("training: a budget that changes meanwhile is held from there on", "[gui][cpu][train]") {
  CpuExecutor executor;
  TrainingWindow window(executor);
  window.does("train.optimizer", "sgd 0.1");  // Adam's new state fills the peak
  window.does("budget.set", "none");
  window.does("train.begin", "120");
  const std::vector<double> losses = window.view().losses;
  const std::int64_t peak = window.view().stretches.front().measured_peak_bytes;

  REQUIRE(window.app.run("train.again", "120").ok());
  while (window.view().steps() == 0) window.tick();
  REQUIRE(window.view().steps() < 120);
  REQUIRE(window.app.run("budget.set", std::to_string(peak * 9 / 10)).ok());
  window.settle();
  const gui::TrainView& view = window.view();
  CHECK(view.steps() == 120);
  REQUIRE(view.stretches.size() >= 2);
  CHECK(view.stretches[1].first > 0);
  CHECK(view.stretches.back().measured_peak_bytes <= peak * 9 / 10);
  for (const gui::PlanStretch& stretch : view.stretches)
    CHECK(stretch.measured_peak_bytes == stretch.planned_peak_bytes);
  check_close(view.losses, losses);
  CHECK(window.app.items.find("train/stretch 1") != nullptr);
}

// The same as a page's worker does it.
TEST_CASE("training: a helper trains, and one that fell has lost it", "[gui][cpu][train]") {
  CpuExecutor executor;
  TrainingWindow alone(executor);
  alone.does("train.begin", "40");

  gui::NearHelper helper(&executor);
  TrainingWindow window(executor, &helper);
  window.does("train.begin", "30");
  window.does("train.begin", "10");
  CHECK(window.state("training_peak") == window.state("training_planned_peak"));
  CHECK(window.view().losses == alone.view().losses);

  helper.answer = gui::HelperReply::kFell;
  window.does("train.begin", "10");
  CHECK(window.state("training") == "failed");
  CHECK(window.state("training_fault").find("the helper is gone") != std::string::npos);
  helper.answer = gui::HelperReply::kFound;
  window.does("train.begin", "40");
  CHECK(window.view().losses == alone.view().losses);

  helper.close(window.app.document()->serial);
  window.does("train.begin", "10");
  CHECK(window.state("training_fault").find("the parameters are gone") != std::string::npos);
}

TEST_CASE("training: it stops with the steps at work, and goes on", "[gui][cpu][train]") {
  CpuExecutor executor;
  TrainingWindow window(executor);
  REQUIRE(window.app.run("train.begin", "100000").ok());
  while (window.view().steps() == 0) window.tick();
  CHECK_FALSE(window.app.run("train.begin").ok());
  window.does("train.stop");
  CHECK(window.state("training") == "done");
  const std::int64_t steps = window.view().steps();
  CHECK(steps < 1000);
  window.does("train.begin", "5");
  CHECK(window.view().steps() == steps + 5);
}

TEST_CASE("training: another graph is another training", "[gui][cpu][train]") {
  CpuExecutor executor;
  TrainingWindow window(executor);
  window.does("train.begin", "5");
  window.does("train.optimizer", "sgd 0.1");
  CHECK(window.state("training") == "none");
  CHECK(window.state("recipe") == "sgd 0.1");
  window.does("train.begin", "5");
  CHECK(window.view().steps() == 5);
  window.does("train.none");
  CHECK(window.state("recipe").empty());
  CHECK_FALSE(window.app.run("train.begin").ok());
}

TEST_CASE("training: what is in the way is said", "[gui][cpu][train]") {
  CpuExecutor executor;
  TrainingWindow window(executor);
  for (const char* words : {"", "rmsprop", "adam 0", "adam -1", "adam fast", "sgd 1e9", "sgd nan"})
    CHECK_FALSE(window.app.run("train.optimizer", words).ok());
  for (const char* steps : {"0", "-1", "many", "1000000"})
    CHECK_FALSE(window.app.run("train.begin", steps).ok());

  window.does("train.optimizer", "sgd 100");
  window.does("train.begin", "200");
  CHECK(window.view().diverged());
  CHECK(window.view().steps() < 200);
  CHECK(window.app.items.find("train/words")->value.find("no number") != std::string::npos);
  CHECK_FALSE(window.app.run("train.begin").ok());

  // Without a loss there is no training step: the recipe is as it was.
  gui::NullBackend backend = with(executor);
  backend.files["test.recut"] =
      "graph \"no loss\" {\n  %w = parameter f32[4]\n  %y = exp(%w)\n  results %y\n}\n";
  gui::Window other(gui::bare_options(), backend);
  other.app.open("test.recut");
  other.settle();
  REQUIRE(other.app.run("train.optimizer", "adam").ok());
  other.settle();
  CHECK(other.state("recipe").empty());
  CHECK(other.state("recipe_faults").find("loss") != std::string::npos);
  CHECK_FALSE(other.app.run("train.begin").ok());
}

TEST_CASE("window: a training begins with the file's weights", "[gui][train]") {
  GraphFile file;
  file.graph = parse(R"(graph "square" {
  %x = input f32[1]
  %w = parameter f32[1]
  %a = mul.Tensor(%w, %w)
  %b = mul.Tensor(%x, %a)
  %c = mul.Tensor(%b, 0)
  %d = add.Tensor(%a, %c)
  %loss = sum(%d)
  results %loss
}
)");
  const float weight = 3;
  const std::string bytes(reinterpret_cast<const char*>(&weight), sizeof(weight));
  file.tensors = {{"in.w", DType::f32, {1}, bytes}};
  OpenOptions options;
  options.training = TrainingOptions{Adam{}, {}};
  auto opened = open_document_graph(std::move(file), "square", options);
  REQUIRE(opened.ok());
  const auto document = std::make_shared<const Document>(std::move(*opened));
  auto session = gui::TrainingSession::begin(document, 1);
  REQUIRE(session.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  const auto plan = schedule_document(*document, request);
  REQUIRE(plan.ok());
  CpuExecutor executor;
  REQUIRE((*session)->compile({*document, *plan->kernels, plan->schedule}, "plan", executor).ok());
  const auto figures = (*session)->advance({.seed = 1, .steps = 1, .seconds = 10});
  REQUIRE(figures.ok());
  REQUIRE(figures->losses.size() == 1);
  CHECK(figures->losses.front() == 9);
}

}  // namespace
}  // namespace recut::native
