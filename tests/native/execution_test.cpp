// The progress that a run reports, and its figures of each kernel.
#include "native/cpu/execution.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "engine/workspace/open_document.h"
#include "tests/paths.h"

namespace recut::cpu {
namespace {

struct Scheduled {
  Document document;
  ScheduledPlan plan;
  ReadyStep step;
};

Scheduled scheduled_sample() {
  auto document = open_document(RECUT_SOURCE_DIR "/samples/joint/tiny_mlp.json.gz", {});
  REQUIRE(document.ok());
  SchedulingRequest request;
  request.planning.cost_model = "fused";
  auto plan = schedule_document(*document, request);
  REQUIRE(plan.ok());
  auto step = StepCache(std::nullopt, {}).compile(*document, request, *plan);
  REQUIRE(step.ok());
  return {std::move(*document), std::move(*plan), std::move(*step)};
}

TEST_CASE("execution: every kernel that launches has its time", "[native][cpu]") {
  const Scheduled sample = scheduled_sample();
  ExecutionRequest request;
  request.seed = 1;
  request.steps = 4;
  int last = 0;
  request.after_step = [&](int steps) {
    CHECK(steps == last + 1);
    last = steps;
    return true;
  };
  const auto execution = execute(sample.document, sample.step, request);
  REQUIRE(execution.ok());
  CHECK(last == 4);
  REQUIRE(execution->kernel_ms.size() <= sample.plan.schedule.kernels.size());
  double sum = 0, by_kernel = 0;
  for (std::size_t k = 0; k < execution->kernel_ms.size(); ++k) {
    CHECK((execution->kernel_ms[k] > 0) == sample.plan.schedule.kernels[k].launches);
    sum += execution->kernel_ms[k];
  }
  for (const KernelTime& time : execution->times) by_kernel += time.ms;
  CHECK(std::abs(sum - by_kernel) < 1e-9 + 1e-6 * sum);
}

// Waking a thread for a microsecond's work costs more than that, and where the cores are busy, a
// thousand times more.
TEST_CASE("execution: small kernels are one thread's, with the same bits", "[native][cpu]") {
  const Scheduled sample = scheduled_sample();
  const Step& step = sample.step.step;
  int parallel = 0;
  for (std::uint32_t k = 0; k < step.program().kernels.size(); ++k)
    for (const Step::StageCode& stage : step.kernel(k)) {
      parallel += stage.parallel ? 1 : 0;
      CHECK(stage.work < loop::kMinParallelWork);
    }
  CHECK(parallel > 0);
  const auto inputs = inputs_from(sample.document.graph(), {}, 1);
  REQUIRE(inputs.ok());
  const auto outputs = [&](int threads, double min_parallel_work) {
    auto run = Run::prepare(step, kernel_inputs(sample.document.graph(), step.program(), *inputs),
                            threads, min_parallel_work);
    REQUIRE(run.ok());
    REQUIRE(run->run(1).ok());
    std::vector<std::string> bytes;
    for (const Tensor& output : run->outputs())
      bytes.push_back(output.exists() ? recut::bytes_of(output) : "");
    return bytes;
  };
  const auto alone = outputs(1, loop::kMinParallelWork);
  CHECK(outputs(3, loop::kMinParallelWork) == alone);
  CHECK(outputs(3, 0) == alone);
}

TEST_CASE("execution: a run that is ended runs no further step", "[native][cpu]") {
  const Scheduled sample = scheduled_sample();
  ExecutionRequest request;
  request.seed = 1;
  int last = 0;
  request.after_step = [&](int steps) {
    last = steps;
    return steps < 2;
  };
  CHECK_FALSE(execute(sample.document, sample.step, request).ok());
  CHECK(last == 2);
}

}  // namespace
}  // namespace recut::cpu
