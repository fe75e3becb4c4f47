// Random joint and forward graphs through the whole path: a plan at a budget of its own, a schedule, a program,
// machine code, with one thread and with several. The interpreter of graphs is the judge.
//
//   RECUT_RANDOM_STEPS=5000 build/release/tests/recut_tests "run: random graphs*"
//
// RECUT_RANDOM_SEED is where the seeds begin.
#include <fmt/core.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <iostream>

#include "engine/eval/compare.h"
#include "engine/fusion/fuse_pointwise.h"
#include "engine/ir/printer.h"
#include "engine/partition/strategy.h"
#include "engine/runtime/program.h"
#include "engine/schedule/make_schedule.h"
#include "engine/schedule/verifier.h"
#include "native/cpu/step.h"
#include "tests/effort.h"
#include "tests/paths.h"
#include "tests/random/finding.h"
#include "tests/random/random_graph.h"
#include "tests/random/same_meaning.h"

namespace recut {
namespace {

struct PlannedStep {
  Graph graph;
  FusionGroups groups;
  Schedule schedule;
};

Schedule scheduled(const Graph& graph, const PlanRequest& request) {
  const auto outcome = make_plan(graph, request);
  if (!outcome) FAIL(format(outcome.diagnostics()));
  auto schedule = make_schedule(graph, {StorageModel(graph), request.groups}, outcome->plan);
  if (!schedule) FAIL(format(schedule.diagnostics()));
  return std::move(*schedule);
}

// Plans within a random part of the bytes that the step takes without a budget, or the least
// possible; every other graph fused, by rows or chains.
PlannedStep plan_randomly(Graph graph, std::uint64_t seed) {
  test::Random random(seed);
  const StorageModel storages(graph);
  PlanRequest request;
  if (random.one_in(2))
    request.groups =
        fuse_pointwise(graph, storages, random.one_in(2) ? Fusion::rows : Fusion::chains);
  Schedule schedule = scheduled(graph, request);
  if (!random.one_in(4) && schedule.peak_bytes > 0) {
    request.budget = PeakBytes{random.between(schedule.peak_bytes / 4, schedule.peak_bytes)};
    schedule = scheduled(graph, request);
  }
  return {std::move(graph), std::move(request.groups), std::move(schedule)};
}

// None where an operator has no lowering.
std::optional<cpu::Step> compile(const PlannedStep& planned, const ProgramOptions& options) {
  auto program = make_program(planned.graph, {StorageModel(planned.graph), planned.groups},
                              planned.schedule, options);
  if (!program) return std::nullopt;
  auto step = cpu::Step::compile(std::move(*program));
  if (!step) FAIL(format(step.diagnostics()));
  return std::move(*step);
}

std::vector<Tensor> run_step(const Graph& graph, const cpu::Step& step, const Inputs& inputs,
                             int threads) {
  std::vector<Tensor> given;
  for (const NodeId id : step.program().inputs)
    given.push_back(as_kernels_read(graph.type(id), inputs.at(id)));
  // However small the work is: threads share all of it.
  auto run = cpu::Run::prepare(step, std::move(given), threads, 0);
  if (!run) FAIL(format(run.diagnostics()));
  if (const auto done = run->run(0); !done) FAIL(format(done.diagnostics()));
  return run->outputs();
}

// Reals may differ a little: f32 here, where eval computes in f64. The first difference leaves a
// debug bundle.
void check_close(const Graph& graph, std::uint64_t seed, const std::vector<Tensor>& found,
                 const std::vector<Tensor>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    REQUIRE(found[i].exists() == expected[i].exists());
    if (!found[i].exists()) continue;
    const Comparison comparison = compare(found[i], expected[i]);
    if (comparison.ok || comparison.relative_error < 1e-4) continue;
    const std::string problem = fmt::format("output {}: {}", i, comparison.problem);
    FAIL(problem << "\n"
                 << test::leave_finding(graph, seed, problem, RECUT_BINARY_DIR "/findings"));
  }
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* value = std::getenv(variable);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

TEST_CASE("run: random graphs at random budgets, with one thread and with many",
          "[native][cpu][random]") {
  const std::uint64_t count = number_from("RECUT_RANDOM_STEPS", test::tries(200));
  std::uint64_t ran = 0, refused = 0;
  for (std::uint64_t seed = number_from("RECUT_RANDOM_SEED", 1); ran < count; ++seed) {
    Graph graph = test::random_graph(seed);
    INFO("seed " << seed << ", " << ran << " ran before");
    const PlannedStep planned = plan_randomly(std::move(graph), seed);
    INFO(print(planned.graph));
    const bool library = seed % 2 == 0;
    const auto step = compile(planned, {.library = library});
    refused += step ? 0 : 1;
    REQUIRE(refused <= ran + 10);
    if (!step) continue;
    ++ran;
    const Inputs inputs = test::inputs_for(planned.graph, seed, test::Values::ordinary);
    const auto expected = evaluate(planned.graph, inputs);
    if (!expected) FAIL(format(expected.diagnostics()));
    const std::vector<Tensor> found = run_step(planned.graph, *step, inputs, 1);
    check_close(planned.graph, seed, found, expected->outputs);
    const std::vector<Tensor> again = run_step(planned.graph, *step, inputs, 3);
    if (library)
      check_close(planned.graph, seed, again, expected->outputs);
    else
      CHECK(test::outputs_difference(found, again) == "");
  }
  std::cout << "random steps: " << ran << " ran, " << refused << " were refused\n";
}

}  // namespace
}  // namespace recut
