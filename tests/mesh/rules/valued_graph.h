// Graphs with the values of all their nodes, to prove sharding rules on.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/eval/evaluator.h"
#include "engine/mesh/rules/validator.h"

namespace recut::test {

struct ValuedGraph {
  Graph graph;
  std::map<NodeId, std::vector<Tensor>> values;  // by output
};

// Fails where the graph or a value of it can't be computed.
Result<ValuedGraph> with_values(Graph graph, const Inputs& inputs);

// A graph in text with random inputs; integers and truth values are 0 and 1.
ValuedGraph valued(std::string_view text);

mesh::ConcreteCall concrete_call(const ValuedGraph& valued, NodeId id);

// Problems of all strategies of all calls, one line each, and how many were tried.
struct RuleReport {
  std::size_t tried = 0;
  std::string problems;
};
RuleReport check_rules(const ValuedGraph& valued, std::int64_t ranks);

// Strategies of a call on `ranks` ranks, one line each.
std::string strategies_of(const Graph& graph, std::string_view node, std::int64_t ranks);

// A tensor of these numbers.
Tensor numbers(DType dtype, Shape shape, const std::vector<double>& values);
std::vector<double> numbers_of(const Tensor& tensor);

}  // namespace recut::test
