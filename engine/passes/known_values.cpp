// Runs the part of a graph that has known values in the interpreter:
//
//   %i = full([], 0)   %n = add(%i, 1)   %y = mul(%x, %n)   =>   %i = 0, %n = 1, %y unknown
#include "engine/passes/known_values.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/eval/evaluator.h"
#include "engine/ir/data_flow.h"
#include "engine/ir/rebuild.h"
#include "engine/support/text.h"

namespace recut {
namespace {

constexpr std::int64_t kMaxKnownElements = 4096;

bool follows_from_operands(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  if (is_external(op.op) || op.is(kInput | kRandom | kImpure | kCollective | kWait | kReadsStorage))
    return false;
  return std::all_of(graph[id].outputs.begin(), graph[id].outputs.end(),
                     [](const TensorType& type) {
                       return type.exists() && element_count(type.shape) <= kMaxKnownElements;
                     });
}

// Nodes whose values are known, by position.
std::vector<bool> known_nodes(const Graph& graph, const Inputs& inputs) {
  std::vector<bool> known(graph.order().size(), false);
  for (const NodeId id : graph.order()) {
    const auto operand_known = [&](NodeId operand) { return known[graph.position(operand)]; };
    known[graph.position(id)] =
        inputs.count(id) != 0 ||
        (follows_from_operands(graph, id) &&
         std::all_of(graph[id].operands.begin(), graph[id].operands.end(), operand_known));
  }
  return known;
}

// The first input that the graph's only result is computed from and that has no value.
std::string unknown_input(const Graph& test, std::span<const std::optional<Tensor>> inputs) {
  Graph whole = without_dead_nodes(test);
  const Users users(whole);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const NodeId input = whole.inputs()[i];
    const bool used = !users.of(input).empty() || whole.results.front() == input;
    if (!inputs[i] && used) return fmt::format("reads {}", quote(test.node_name(input)));
  }
  return "is large, random or of an unknown operator";
}

}  // namespace

KnownValues known_values(const Graph& graph, std::span<const std::optional<Tensor>> inputs,
                         std::span<const NodeId> ids) {
  Inputs given;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i]) given[graph.inputs()[i]] = *inputs[i];
  const std::vector<bool> known = known_nodes(graph, given);
  Graph part = with_nodes(graph, known);
  part.results.clear();
  part.gradients.clear();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!ids[i].valid() || !known[graph.position(ids[i])]) continue;
    part.results.push_back(ids[i]);
    places.push_back(i);
  }
  KnownValues values(ids.size());
  const auto evaluation = evaluate(part, given);
  if (!evaluation) return values;
  for (std::size_t i = 0; i < places.size(); ++i) values[places[i]] = evaluation->outputs[i];
  return values;
}

std::optional<Tensor> known_value(const Graph& graph, NodeId id) {
  return known_values(graph, KnownValues(graph.inputs().size()), std::vector{id}).front();
}

bool is_true(const Tensor& value) {
  return is_floating(value.dtype) ? unpack<double>(value).data.front() != 0
                                  : unpack<std::int64_t>(value).data.front() != 0;
}

Result<std::int64_t> known_trips(KnownLoop loop, std::int64_t most) {
  for (std::int64_t trips = 0;; ++trips) {
    KnownValues inputs = loop.carried;
    inputs.insert(inputs.end(), loop.whole.begin(), loop.whole.end());
    const auto holds = known_values(loop.test, inputs, loop.test.results);
    if (!holds.front())
      return error(fmt::format("its number of trips depends on data: the condition {} {}",
                               quote(loop.test.name), unknown_input(loop.test, inputs)));
    if (!is_true(*holds.front())) return trips;
    if (trips == most)
      return error(
          fmt::format("it runs more than {} trips, the most that Recut unrolls of it", most));
    loop.carried = known_values(loop.body, inputs, loop.body.results);
  }
}

}  // namespace recut
