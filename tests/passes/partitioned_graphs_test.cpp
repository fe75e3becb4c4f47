// The partitioned graphs of a plan, run one after the other, give the results of the joint graph.
#include "engine/passes/partitioned_graphs.h"

#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "engine/input/graph_file_reader.h"
#include "engine/ir/verifier.h"
#include "engine/partition/strategy.h"
#include "engine/passes/runner.h"
#include "engine/passes/stages.h"
#include "tests/effort.h"
#include "tests/partition/joint_files.h"
#include "tests/random/same_meaning.h"

namespace recut {
namespace {

// The inputs of a partitioned graph by name: inputs of the joint graph and saved values.
Inputs given(const Graph& half, const std::map<std::string, Tensor>& values) {
  Inputs inputs;
  for (const NodeId id : half.order())
    if (half.op(id).is(kInput)) inputs.emplace(id, values.at(half.node_name(id)));
  return inputs;
}

Graph after_post_grad(const Graph& half) {
  CHECK(verify(half).empty());
  RunnerOptions options;
  const auto names = pipeline_names({{Stage::post_grad}, {}, {}}, options);
  REQUIRE(names.ok());
  const auto report = run_passes(half, *names, options);
  REQUIRE(report.ok());
  if (report->failure) FAIL(report->failure->pass << " " << report->failure->message);
  return report->graph();
}

// Outputs of the halves in order, as the graph's own results and gradients.
std::vector<Tensor> by_halves(const Graph& graph, const Plan& plan, const Inputs& inputs) {
  const PartitionedGraphs partitioned = partition_graphs(graph, plan);
  std::map<std::string, Tensor> values;
  for (const auto& [id, tensor] : inputs) values.emplace(graph.node_name(id), tensor);
  const Graph forward = after_post_grad(partitioned.forward);
  auto first = evaluate(forward, given(forward, values));
  REQUIRE(first.ok());
  std::vector<Tensor> outputs(
      first->outputs.begin(),
      first->outputs.begin() + static_cast<std::ptrdiff_t>(graph.results.size()));
  for (std::size_t i = graph.results.size(); i < partitioned.forward.results.size(); ++i)
    values.insert_or_assign(partitioned.forward.node_name(partitioned.forward.results[i]),
                            first->outputs[i]);
  const Graph backward = after_post_grad(partitioned.backward);
  const auto second = evaluate(backward, given(backward, values));
  REQUIRE(second.ok());
  std::size_t at = 0;
  for (const NodeId id : graph.gradients)
    outputs.push_back(id.valid() ? second->outputs[at++] : Tensor{});
  return outputs;
}

std::vector<std::string> tiny_files() {
  std::vector<std::string> files = joint_files();
  std::erase_if(files, [](const std::string& path) {
    return std::filesystem::path(path).filename().string().rfind("tiny_", 0) != 0;
  });
  return files;
}

TEST_CASE("partitioned graphs compute what the joint graph computes", "[partition]") {
  for (const std::string& path : test::tried(tiny_files())) {
    const std::string name = std::filesystem::path(path).filename().string();
    const auto file = read_graph_file(path);
    REQUIRE(file.ok());
    const Graph& graph = file->graph;
    const Inputs inputs = test::inputs_for(graph, 1, test::Values::ordinary);
    const auto whole = evaluate(graph, inputs);
    REQUIRE(whole.ok());
    for (const char* strategy : {"default", "peak"}) {
      INFO(name << " " << strategy);
      PlanRequest request;
      request.strategy = strategy;
      request.budget = NoBudget{};
      if (strategy == std::string("peak")) request.budget = PeakBytes{1};
      const auto outcome = make_plan(graph, request);
      REQUIRE(outcome.ok());
      CHECK(test::outputs_difference(whole->outputs, by_halves(graph, outcome->plan, inputs)) ==
            "");
    }
  }
}

}  // namespace
}  // namespace recut
