// The operators that random graphs use, and how their arguments are drawn.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/graph.h"
#include "tests/random/random_graph.h"

namespace recut::test {

using NamedArguments = std::vector<std::pair<std::string_view, Argument>>;

// The state from which arguments are drawn.
struct Draw {
  Random& random;
  const Graph& graph;
  const std::vector<NodeId>& values;  // candidates for operands

  NodeId value() { return random.of(values); }       // any; the later, the likelier
  NodeId value_of(const TensorType& type);           // of that dtype and shape; invalid: none
  NodeId value_with_dimensions(std::int64_t least);  // invalid: there is none
  const TensorType& type(NodeId id) const { return graph.type(id); }
};

// A row: an operator, and how to draw its arguments. They need not fit: a refused call is drawn
// again.
struct RandomCall {
  std::string_view op;
  std::optional<NamedArguments> (*arguments)(Draw& draw);
};

std::span<const RandomCall> random_calls();

Shape random_shape(Random& random);
DType random_dtype(Random& random);

}  // namespace recut::test
