// Proves the strategies of a call on values: runs it on every rank's pieces by the interpreter, and
// compares the results, put together, with those of the whole call.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/eval/tensor.h"
#include "engine/ir/graph.h"
#include "engine/mesh/rules/sharding_rule.h"

namespace recut::mesh {

// A call with values for its operands, as operand_nodes lists them: one tensor each, or all outputs
// of a node that has several.
struct ConcreteCall {
  const Graph* graph = nullptr;
  NodeId node;
  std::vector<std::vector<Tensor>> operands;
};

struct WrongStrategy {
  Strategy strategy;
  std::string problem;
};

struct Validation {
  std::size_t tried = 0;
  std::vector<WrongStrategy> wrong;
  std::optional<std::string> unchecked;  // why the whole call has no values
};

// Strategies with sums of parts are passed over where a value isn't finite.
Validation validate_rule(const ConcreteCall& call, std::int64_t ranks, std::uint64_t seed = 0);

// The same for given strategies of a rule.
Validation validate_strategies(const ConcreteCall& call, const ShardingRule& rule,
                               std::span<const Strategy> tried, std::int64_t ranks,
                               std::uint64_t seed = 0);

}  // namespace recut::mesh
