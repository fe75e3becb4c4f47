// A step on a fake GPU (fake_step.h): memory, launches, their CUDA graph, faults.
#include <catch2/catch_test_macros.hpp>

#include "tests/codegen/attention_graph.h"
#include "tests/native/fake_gpu.h"
#include "tests/native/fake_step.h"
#include "tests/native/run_command.h"

namespace recut::cuda {
namespace {

using test::execute_fake;
using test::fake_gpu;
using test::fake_step;
using test::FakeGpu;
using test::FakeStep;
using test::open_fake_gpu;

template <class T>
std::string error_text_cuda_step(const Result<T>& result) {
  REQUIRE_FALSE(result.ok());
  return result.diagnostics().front().message;
}

TEST_CASE("cuda: which GPUs and drivers are refused, and why", "[native][cuda]") {
  const auto refusal = [](const auto& change) {
    fake_gpu() = FakeGpu();
    change(fake_gpu());
    return error_text_cuda_step(Gpu::open(test::fake_driver()));
  };
  CHECK(refusal([](FakeGpu& gpu) { gpu.driver_version = 11080; }) ==
        "the CUDA driver is too old: it knows CUDA 11.8, and Recut needs 12.0");
  CHECK(refusal([](FakeGpu& gpu) { gpu.gpus = 0; }) ==
        "this machine has no GPU that CUDA's driver can see");
  CHECK(refusal([](FakeGpu& gpu) { gpu.capability = 75; }) ==
        "Fake H100 is an sm_75 GPU, and Recut's kernels need sm_80 or later");
  fake_gpu() = FakeGpu();
  CHECK(open_fake_gpu()->capability() == 90);
  CHECK(open_fake_gpu()->driver_version() == "13.0");
}

TEST_CASE("cuda: too little memory is told with what is asked and what is free", "[native][cuda]") {
  fake_gpu() = FakeGpu();
  const SharedGpu gpu = open_fake_gpu();
  const auto half = DeviceMemory::reserve(gpu, std::int64_t{32} << 20, "the first half");
  REQUIRE(half.ok());
  CHECK(error_text_cuda_step(
            DeviceMemory::reserve(gpu, std::int64_t{48} << 20, "the step's arena")) ==
        "the step's arena can't be had: it takes 48.0 MiB, and Fake H100 has 32.0 MiB free");
}

TEST_CASE("cuda: steps as they are launched, in the bytes that were planned", "[native][cuda]") {
  if (!test::has_compiler()) SKIP("there is no compiler for the kernels");
  for (const auto& [name, budget] :
       {std::pair("joint/tiny_mlp.json.gz", "none"), std::pair("recompute.recut", "60000"),
        std::pair("dropout.recut", "none")}) {
    INFO(name);
    {
      const FakeStep step = fake_step(RECUT_SOURCE_DIR "/samples/" + std::string(name), budget);
      const auto execution = execute_fake(step);
      if (!execution) FAIL(execution.diagnostics().front().message);
      CHECK(execution->agrees());
      CHECK(execution->max_relative_error() < 1e-4);
      CHECK(execution->holds());
      CHECK(execution->not_recorded.empty());
      CHECK(execution->taken_bytes >= execution->planned_peak_bytes);
      // Once as it is, once to be recorded, five times with clocks.
      CHECK(fake_gpu().graph_launches == 4);
      CHECK(fake_gpu().launches >= 7 * static_cast<int>(execution->launches));
      for (const KernelTime& time : execution->times) CHECK(time.ms >= 1.99);
    }
    CHECK(fake_gpu().used_bytes == 0);
  }
}

TEST_CASE("cuda: attention is launched from the step's own code", "[native][cuda][attention]") {
  if (!test::has_compiler()) SKIP("there is no compiler for the kernels");
  test::AttentionGraph form;
  form.batches = form.heads = form.key_heads = 2;
  form.queries = form.keys = 40;
  form.features = form.value_features = 16;
  const native::TemporaryFile file("attention.recut");
  file.write(form.joint_text());
  const FakeStep step = fake_step(file.path(), "none", true);
  CHECK(step.ready->step.program().library.size() == 2);
  CHECK(step.ready->step.program().kernels.empty());
  const auto execution = execute_fake(step);
  if (!execution) FAIL(execution.diagnostics().front().message);
  CHECK(execution->agrees());
  CHECK(execution->max_relative_error() < 1e-5);
  CHECK(execution->holds());
  CHECK(execution->not_recorded.empty());
  CHECK(execution->scratch_bytes == 2 * 2 * 40 * 4);
}

TEST_CASE("cuda: a recorded step draws by the seed of each run", "[native][cuda]") {
  if (!test::has_compiler()) SKIP("there is no compiler for the kernels");
  const FakeStep step = fake_step(RECUT_SOURCE_DIR "/samples/dropout.recut");
  const Graph& graph = step.document.graph();
  const auto inputs = inputs_from(graph, {}, 5);
  REQUIRE(inputs.ok());
  auto run =
      Run::prepare(step.ready->step, kernel_inputs(graph, step.ready->step.program(), *inputs), {});
  REQUIRE(run.ok());
  for (const std::uint64_t seed : {1, 1, 2, 3, 3}) {
    REQUIRE(run->run(seed).ok());
    EvaluateOptions options;
    options.seed = seed;
    const auto compared = judge_outputs(graph, *inputs, options, run->outputs());
    REQUIRE(compared.ok());
    CHECK(all_ok(compared->outputs));
  }
  CHECK(fake_gpu().graph_launches == 4);
  CHECK(fake_gpu().changed_nodes >= 2);
  CHECK(fake_gpu().changed_nodes % 2 == 0);
}

TEST_CASE("cuda: what can't be recorded is launched kernel by kernel", "[native][cuda]") {
  if (!test::has_compiler()) SKIP("there is no compiler for the kernels");
  const FakeStep step = fake_step(native::sample("tiny_mlp.json.gz"));
  fake_gpu().records = false;
  const auto execution = execute_fake(step);
  REQUIRE(execution.ok());
  CHECK(execution->agrees());
  CHECK(fake_gpu().graph_launches == 0);
  CHECK(execution->not_recorded ==
        "the step can't be recorded as a graph: CUDA_ERROR_FAKE (the test's own)");
}

TEST_CASE("cuda: the data's fault is told, and the next run is well again", "[native][cuda]") {
  if (!test::has_compiler()) SKIP("there is no compiler for the kernels");
  const native::TemporaryFile file("gather.recut");
  file.write(
      "graph \"gather\" {\n  %w = parameter f32[4, 2]\n  %i = input i64[3]\n"
      "  %t = tangent f32[3, 2]\n  %y = embedding(%w, %i)\n  %g = embedding_dense_backward(%t, %i, "
      "4, -1, false)\n"
      "  results %y\n  gradients %g, none\n}\n");
  const FakeStep step = fake_step(file.path());
  const Graph& graph = step.document.graph();
  auto inputs = inputs_from(graph, {}, 5);
  REQUIRE(inputs.ok());
  for (const NodeId id : graph.inputs()) {
    if (graph.type(id).dtype != DType::i64) continue;
    Tensor bad = allocate(graph.type(id), nullptr);
    pack(Integers(graph.type(id).shape, 9), bad);
    inputs->at(id) = bad;
  }
  auto run =
      Run::prepare(step.ready->step, kernel_inputs(graph, step.ready->step.program(), *inputs), {});
  REQUIRE(run.ok());
  for (int i = 0; i < 3; ++i)
    CHECK(error_text_cuda_step(run->run(1)).find("out of range") != std::string::npos);
}

}  // namespace
}  // namespace recut::cuda
