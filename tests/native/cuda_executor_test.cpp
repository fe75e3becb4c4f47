// The window's steps on a fake GPU (fake_step.h): messages where it can't be opened, runs and
// trainings where it can, and the threads that may use it.
#include "native/executors/cuda_executor.h"
#include "engine/workspace/compile.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <thread>

#include "engine/workspace/open_document.h"
#include "engine/workspace/training_run.h"
#include "gui/app/run_view.h"
#include "gui/app/train_view.h"
#include "native/executors/cpu_executor.h"
#include "tests/gui/window.h"
#include "tests/native/fake_gpu.h"
#include "tests/native/fake_step.h"
#include "tests/native/run_command.h"
#include "tests/paths.h"

namespace recut::native {
namespace {

using test::fake_gpu;

// A graph without products, so that no library is needed.
constexpr const char* kCudaExecutorModel =
    "graph \"scales\" {\n  %w = parameter f32[8]\n  %x = input f32[16, 8]\n"
    "  %t = input f32[16, 8]\n  %y = mul.Tensor(%x, %w)\n  %z = tanh(%y)\n  %d = sub.Tensor(%z, "
    "%t)\n"
    "  %s = mul.Tensor(%d, %d)\n  %loss = mean(%s)\n  results %loss\n}\n";

// The processor, and the fake GPU in each precision.
struct Executors {
  explicit Executors(GpuTools tools) : access(std::make_shared<GpuAccess>(std::move(tools))) {}

  gui::NullBackend backend() {
    gui::NullBackend backend = gui::Window::sample_backend();
    backend.running = {&processor, &gpu, &gpu_tf32, &gpu_bf16};
    backend.files["scales.recut"] = kCudaExecutorModel;
    return backend;
  }

  CpuExecutor processor;
  std::shared_ptr<GpuAccess> access;
  CudaExecutor gpu{access, cuda::Precision::f32}, gpu_tf32{access, cuda::Precision::tf32},
      gpu_bf16{access, cuda::Precision::bf16};
};

// A new fake GPU; code lives as long as the tools do.
struct FakeTools {
  FakeTools() { fake_gpu() = test::FakeGpu(); }

  GpuTools tools() {
    return {[this] {
              ++opened;
              return refusal.empty() ? cuda::Gpu::open(test::fake_driver())
                                     : Result<cuda::SharedGpu>(error(refusal));
            },
            [this](const cuda::SharedGpu& gpu, Program program,
                   cuda::MatmulPrecision matmul_precision) {
              codes.emplace_back();
              return test::compile_fake(gpu, std::move(program), matmul_precision, codes.back());
            }};
  }

  std::vector<std::unique_ptr<test::CudaOnCpu>> codes;
  std::string refusal;
  int opened = 0;
};

struct ExecutorsWindow : gui::Window {
  explicit ExecutorsWindow(Executors& executors)
      : gui::Window(gui::bare_options(), executors.backend()) {
    app.open("scales.recut");
    settle();
    does("pass.differentiate");
    does("model.set", "fused");
  }

  void does(const char* command, const char* argument = "") {
    CAPTURE(command, argument);
    const auto done = app.run(command, argument);
    if (!done) FAIL(format(done.diagnostics()));
    settle();
  }
};

TEST_CASE("the window's GPU: where it can't be opened it says why, and all else runs",
          "[gui][cuda]") {
  FakeTools fake;
  fake.refusal = "this machine has no CUDA driver: libcuda.so.1 isn't found";
  Executors executors(fake.tools());
  ExecutorsWindow window(executors);
  CHECK(window.state("run_on") == "cpu");
  window.does("panel.show", "run");
  window.does("run.on", "cuda");
  CHECK(executors.gpu.title() == "NVIDIA GPU");
  CHECK(executors.gpu_tf32.title() == "NVIDIA GPU, tf32");
  CHECK(fake.opened == 0);
  window.does("run.step", "2");
  CHECK(fake.opened == 1);
  CHECK(window.state("run") == "failed");
  CHECK(window.state("run_fault").find(fake.refusal) != std::string::npos);
  CHECK(window.app.items.find("run/fault")->value.find(fake.refusal) != std::string::npos);
  CHECK(executors.gpu.remark() == fake.refusal);
  window.does("train.optimizer", "sgd 0.1");
  window.does("train.begin", "5");
  CHECK(window.state("training_fault").find(fake.refusal) != std::string::npos);

  window.does("run.on", "cpu");
  window.does("run.step", "2");
  CHECK(window.state("run") == "done");
  window.does("train.begin", "5");
  CHECK(window.state("training") == "done");
}

TEST_CASE("the window's GPU: steps run in the bytes that were planned", "[gui][cuda]") {
  if (!test::has_compiler()) SKIP("there is no compiler for the kernels");
  FakeTools fake;
  {
    Executors executors(fake.tools());
    ExecutorsWindow window(executors);
    const std::string device = window.state("device"), step = window.state("step");
    window.does("run.on", "cuda");
    window.does("run.check", "3");
    CHECK(window.state("run_fault") == "");
    CHECK(window.state("run") == "done");
    CHECK(window.state("run_agrees") == "yes");
    CHECK(window.state("run_where") == "Fake H100, f32 products");
    CHECK(executors.gpu.title() == "Fake H100");
    CHECK(window.state("measured_peak") == window.state("run_peak"));
    CHECK(window.app.items.find("run/GPU") != nullptr);
    CHECK(gui::shown_run(*window.app.document())->taken_bytes > 0);
    // The plan's prices stay what they were.
    CHECK(window.state("device") == device);
    CHECK(window.state("step") == step);
    window.does("run.on", "cuda-tf32");
    window.does("run.step", "3");
    CHECK(window.state("run_where") == "Fake H100, tf32 products");
    window.does("run.on", "cuda-bf16");
    window.does("run.check", "3");
    CHECK(window.state("run_where") == "Fake H100, bf16 products");
    CHECK(window.state("run_agrees") == "yes");
    CHECK(executors.gpu_bf16.title() == "Fake H100, bf16");
    CHECK(executors.gpu_bf16.library().lower ==
          cuda::lower_options(
              executors.access->sm_limits()));  // with cooperative groups, as recut run has them
    CHECK(fake.opened == 1);
  }
  CHECK(fake_gpu().used_bytes == 0);
}

TEST_CASE("the window's GPU: a step that was prepared is any thread's", "[gui][cuda]") {
  if (!test::has_compiler()) SKIP("there is no compiler for the kernels");
  FakeTools fake;
  auto document = open_document(RECUT_SOURCE_DIR "/samples/dropout.recut", {});
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  const auto plan = schedule_document(*document, request);
  REQUIRE(plan.ok());
  const Graph& graph = document->graph();
  const auto inputs = inputs_from(graph, {}, 5);
  REQUIRE(inputs.ok());
  CudaExecutor executor(std::make_shared<GpuAccess>(fake.tools()), cuda::Precision::f32);
  auto program = program_of(*document, *plan);
  REQUIRE(program.ok());
  std::optional<PreparedStep> step;
  const auto on_thread = [](const auto& work) { std::thread(work).join(); };
  on_thread([&] {
    auto prepared = executor.prepare(std::move(*program), [&](const Program& read) {
      return kernel_inputs(graph, read, *inputs);
    });
    if (prepared) step = std::move(*prepared);
  });
  REQUIRE(step.has_value());
  for (const std::uint64_t seed : {1, 2, 2}) {
    bool ran = false;
    on_thread([&] { ran = step->run->run(seed).ok(); });
    REQUIRE(ran);
    EvaluateOptions options;
    options.seed = seed;
    const auto compared = judge_outputs(graph, *inputs, options, step->run->outputs());
    REQUIRE(compared.ok());
    CHECK(all_ok(compared->outputs));
  }
  on_thread([&] { step.reset(); });
  CHECK(fake_gpu().used_bytes == 0);
}

// At the last product nothing of the arena is free; its library has an algorithm with 1,024 bytes
// of scratch and one without.
constexpr const char* kScratchModel =
    "graph \"full\" {\n  %x = input f32[16, 16]\n  %w = parameter f32[16, 16]\n"
    "  %t = tangent f32[16, 16]\n  %y = mm(%x, %w)\n  %v = permute(%x, [1, 0])\n"
    "  %g = mm(%v, %t)\n  results %y\n  gradients %g, none\n}\n";

// The fake libraries name the algorithm with scratch first, and it is the quicker.
void prefer_scratch() {
  fake_gpu().records = false;
  fake_gpu().slower_ms = 1;
}

TEST_CASE("the window's GPU: the budget bounds arena and scratch together", "[gui][cuda]") {
  const test::FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  FakeTools fake;
  prefer_scratch();
  const TemporaryFile model("full.recut");
  model.write(kScratchModel);
  const auto document = open_document(model.path(), {});
  REQUIRE(document.ok());
  CudaExecutor executor(std::make_shared<GpuAccess>(fake.tools()), cuda::Precision::f32);
  std::int64_t arena = 0;
  // As the window runs a step, and as a training has it prepared.
  const auto scratch = [&](const std::string& budget) {
    SchedulingRequest request;
    request.planning.cost_model = "fused";
    request.planning.budget = budget;
    const auto plan = schedule_document(*document, request);
    REQUIRE(plan.ok());
    const auto options = executor.program_options();
    REQUIRE(options.ok());
    auto program = program_of(*document, *plan, *options);
    REQUIRE(program.ok());
    arena = program->arena_bytes;
    const auto inputs = inputs_from(document->graph(), {}, 1);
    REQUIRE(inputs.ok());
    const auto prepared = executor.prepare(std::move(*program), [&](const Program& read) {
      return kernel_inputs(document->graph(), read, *inputs);
    });
    REQUIRE(prepared.ok());
    const auto figures =
        executor.run({*document, *plan->kernels, plan->schedule, plan->planned.report.budget_bytes},
                     {1, 2, true}, [](StepPhase, double, const std::string&) { return true; });
    REQUIRE(figures.ok());
    CHECK(figures->agreement->agrees());
    CHECK(figures->scratch_bytes == prepared->run->scratch_bytes());
    return figures->scratch_bytes;
  };
  CHECK(scratch("none") == 1024);
  const std::int64_t whole = arena;
  for (const std::int64_t left : {0, 1000, 5000})
    CHECK(scratch(std::to_string(whole + left)) == (whole + left - arena >= 1024 ? 1024 : 0));
}

TEST_CASE("the window's GPU: its budget goes with the plan", "[gui][cuda]") {
  const test::FakeLibraries libraries;
  if (!libraries.provided()) SKIP("there is no compiler for the libraries");
  FakeTools fake;
  prefer_scratch();
  Executors executors(fake.tools());
  gui::NullBackend backend = executors.backend();
  backend.files["full.recut"] = kScratchModel;
  gui::Window window(gui::bare_options(), std::move(backend));
  const auto does = [&](const char* command, const std::string& argument) {
    CAPTURE(command, argument);
    const auto done = window.app.run(command, argument);
    if (!done) FAIL(format(done.diagnostics()));
    window.settle();
    CHECK(window.state("run_fault") == "");
  };
  window.app.open("full.recut");
  window.settle();
  does("model.set", "fused");
  does("budget.set", "none");  // it begins with a budget of its own choice
  does("run.on", "cuda");
  does("run.step", "2");
  const gui::SharedRun figures = gui::shown_run(*window.app.document());
  CHECK(figures->scratch_bytes == 1024);
  does("budget.set", std::to_string(figures->planned_peak_bytes));
  does("run.step", "2");
  CHECK(gui::shown_run(*window.app.document())->scratch_bytes == 0);
}

TEST_CASE("the window's GPU: a training goes on there with the parameters as they are",
          "[gui][cuda][train]") {
  if (!test::has_compiler()) SKIP("there is no compiler for the kernels");
  FakeTools fake;
  {
    Executors executors(fake.tools());
    ExecutorsWindow window(executors);
    window.does("train.optimizer", "adam 0.01");
    window.does("train.begin", "30");
    const std::vector<double> losses = gui::shown_training(*window.app.document())->losses;
    REQUIRE(losses.size() == 30);
    window.does("train.again", "10");
    window.does("run.on", "cuda");
    window.does("train.begin", "10");
    CHECK(window.state("training_fault") == "");
    CHECK(window.state("training_plans") == "2");
    CHECK(window.state("training_peak") == window.state("training_planned_peak"));
    CHECK(fake_gpu().launches > 0);
    window.does("run.on", "cpu");
    window.does("train.begin", "10");
    CHECK(window.state("training_plans") == "3");
    const std::vector<double>& mixed = gui::shown_training(*window.app.document())->losses;
    REQUIRE(mixed.size() == 30);
    for (std::size_t i = 0; i < losses.size(); ++i)
      CHECK(std::abs(mixed[i] - losses[i]) <= 1e-4 * std::abs(losses[i]));
    CHECK(losses.back() < losses.front());
  }
  CHECK(fake_gpu().used_bytes == 0);
}

// Losses of the same training as recut train's, with and without --device cuda.
std::vector<double> losses_by(Executor& executor) {
  const TemporaryFile model("scales.recut");
  model.write(kCudaExecutorModel);
  OpenOptions options;
  options.training = TrainingOptions{Adam{}, {}};
  const auto document = open_document(model.path(), options);
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  const auto plan = schedule_document(*document, request);
  REQUIRE(plan.ok());
  TrainingRequest training;
  training.seed = 3;
  training.steps = 20;
  const auto trained = train(*document, *plan, executor, training);
  REQUIRE(trained.ok());
  CHECK(trained->where == executor.where());
  CHECK(trained->measured_peak_bytes == trained->planned_peak_bytes);
  CHECK(trained->trained.size() == 4);  // the scales, and what Adam keeps of them
  return trained->losses;
}

TEST_CASE("train: a GPU makes the losses that a processor makes", "[native][cuda][train]") {
  if (!test::has_compiler()) SKIP("there is no compiler for the kernels");
  FakeTools fake;
  CpuExecutor processor(2);
  const std::vector<double> expected = losses_by(processor);
  {
    CudaExecutor gpu(std::make_shared<GpuAccess>(fake.tools()), cuda::Precision::f32);
    const std::vector<double> found = losses_by(gpu);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      CHECK(std::abs(found[i] - expected[i]) <= 1e-4 * std::abs(expected[i]));
    CHECK(fake_gpu().launches > 0);
  }
  CHECK(fake_gpu().used_bytes == 0);
}

}  // namespace
}  // namespace recut::native
