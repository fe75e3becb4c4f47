// The small real graphs, run and compared with the values that PyTorch computed.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "engine/eval/compare.h"
#include "engine/eval/evaluator.h"
#include "engine/eval/inputs.h"
#include "engine/input/graph_file.h"
#include "engine/input/graph_file_reader.h"
#include "engine/input/safetensors.h"
#include "tests/paths.h"

namespace recut {
namespace {

// One model with its values; the bytes are what the tensors are views of.
struct Sample {
  Graph graph;
  std::string bytes;
  std::vector<NamedTensor> tensors;
  Inputs inputs;
  std::vector<std::optional<Tensor>> expected;
};

Sample load(const std::string& name) {
  const std::string path = RECUT_SOURCE_DIR "/samples/joint/" + name;
  auto file = read_graph_file(path + ".json.gz");
  INFO((file ? std::string() : format(file.diagnostics())));
  REQUIRE(file.ok());
  Sample sample{std::move(file->graph), *read_file(path + ".safetensors"), {}, {}, {}};
  sample.tensors = *parse_safetensors(sample.bytes, name);
  sample.inputs = *inputs_from(sample.graph, sample.tensors);
  sample.expected = *expected_outputs(sample.graph, sample.tensors);
  return sample;
}

void check_outputs(const Sample& sample, const Result<Evaluation>& evaluation) {
  INFO((evaluation ? std::string() : format(evaluation.diagnostics())));
  REQUIRE(evaluation.ok());
  const auto comparisons =
      compare_outputs(sample.graph, sample.inputs, evaluation->outputs, sample.expected);
  CHECK(comparisons.size() > 1);
  for (const OutputComparison& output : comparisons) {
    INFO(output.name << ": " << output.comparison.problem);
    CHECK(output.ok());
  }
}

std::vector<NodeId> calls(const Graph& graph) {
  std::vector<NodeId> ids;
  for (const NodeId id : graph.order())
    if (!graph.op(id).is(kInput)) ids.push_back(id);
  return ids;
}

// Forward alone, then forward once more within backward: nothing is saved but what may not run
// twice.
Plan recompute_all(const Graph& graph) {
  std::vector<bool> late(graph.order().size(), false);
  Plan plan;
  for (const NodeId id : graph.order()) {
    const bool tangent =
        graph[id].op == Op::placeholder && graph.input_kind(id) == InputKind::tangent;
    bool needs_tangent = tangent;
    for (const NodeId operand : graph[id].operands)
      needs_tangent = needs_tangent || late[graph.position(operand)];
    late[graph.position(id)] = needs_tangent;
  }
  for (const NodeId id : calls(graph)) {
    const bool once = graph.op(id).is(kImpure);
    if (!late[graph.position(id)]) plan.forward.push_back(id);
    if (once && !late[graph.position(id)]) plan.saved.push_back(id);
    if (!once || late[graph.position(id)]) plan.backward.push_back(id);
  }
  return plan;
}

TEST_CASE("tiny graphs give PyTorch's values, as a whole and by a plan that recomputes") {
  for (const std::string name : {"tiny_mlp", "tiny_lm", "tiny_conv", "tiny_lstm", "tiny_ops"}) {
    DYNAMIC_SECTION(name) {
      const Sample sample = load(name);
      const auto whole = evaluate(sample.graph, sample.inputs);
      check_outputs(sample, whole);
      const auto planned = evaluate(sample.graph, recompute_all(sample.graph), sample.inputs);
      check_outputs(sample, planned);
      CHECK(whole->peak_bytes > 0);
      CHECK(planned->peak_bytes > 0);
    }
  }
}

}  // namespace
}  // namespace recut
