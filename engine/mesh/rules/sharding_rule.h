// The ways to shard a call along one axis of a mesh: Shardy's factors, instantiated for the shapes
// and attributes of one call.
//
// A factor is a dimension of the call's iteration space, as an index of an einsum. A mesh axis is
// given to one factor, and the placements of all tensors follow: a tensor with that factor is
// sharded there, and any other one is replicated. Factors of mm are m, k and n: m k, k n -> m n.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/ir/call.h"
#include "engine/ir/graph.h"
#include "engine/mesh/placement.h"

namespace recut::mesh {

enum class FactorKind : std::uint8_t {
  pass,    // each index is computed alone
  reduce,  // a result that lacks the factor is Partial
  masked,  // an operand's values are indices of it: each rank takes those of its shard
  merge,   // ranks would combine pairs of values: no strategy has it yet
  halo,    // neighbours would exchange borders: no strategy has it yet
  whole    // every index is needed at once
};

struct Factor {
  std::string name;
  FactorKind kind = FactorKind::pass;
  Reduction reduction = Reduction::sum;  // of reduce
  std::int64_t size = 0;
  std::int64_t least_shard = 1;  // elements that every rank needs
  // Of masked: the operand that holds indices, and the operand whose elements are zeroed where an
  // index is another rank's. Without the latter the results' elements are.
  std::size_t indices = 0;
  std::optional<std::size_t> zeroed = {};
};

// The factor of each dimension, -1: none, so that the dimension is never sharded. A dimension may
// be a multiple of its factor, which then is its major part.
using DimensionFactors = std::vector<int>;

// If exactly these operands are Partial(from), the results are Partial(to).
struct PartialGroup {
  std::vector<std::size_t> operands;
  Reduction from = Reduction::sum, to = Reduction::sum;
};

// An attribute that is a size: a rank's call has the sizes of its own shard.
struct SizeArgument {
  std::size_t parameter = 0;
  int factor = -1;  // a factor's size, or sizes of a tensor's dimensions
  bool of_result = false;
  std::size_t tensor = 0;
  std::size_t first = 0, count = 0;  // dimensions; a lone number is the first one's size
};

struct ShardingRule {
  std::vector<Factor> factors;
  std::vector<DimensionFactors> operands, results;
  std::vector<Shape> operand_shapes, result_shapes;
  std::vector<bool> constant;  // results that are replicated in every strategy: empty or absent
  std::vector<PartialGroup> groups;
  // Operands that count once in a sum over ranks: Partial where the axis reduces and they lack its
  // factor.
  std::vector<std::size_t> once;
  std::vector<SizeArgument> sizes;
  // A value depends on the element's index in the whole result: a rank computes its shard as a part
  // of the whole call.
  bool by_global_index = false;
  bool allows_empty = false;  // also where a rank has no element
};

// One way to run a call along an axis: placements of its tensor operands, as operand_nodes lists
// them, and of its results.
struct Strategy {
  std::vector<Placement> operands, results;
  int factor = -1;  // that the axis is given to; -1: none

  bool operator==(const Strategy&) const = default;
};

// The tensors of a call's arguments in order; one that is given twice stands twice.
std::vector<NodeId> operand_nodes(std::span<const Argument> arguments);

// The rule of a call. Without a row of the table every dimension is whole.
ShardingRule sharding_rule(const Call& call, std::span<const TensorType> results);
ShardingRule sharding_rule(const Graph& graph, NodeId id);

// All strategies on an axis of `ranks` ranks that its shapes permit, "all replicate" first.
std::vector<Strategy> strategies(const ShardingRule& rule, std::int64_t ranks);

// "m k, k n -> m n; k: sum"
std::string format(const ShardingRule& rule);
// "S(0), R -> S(0)"
std::string format(const Strategy& strategy);

}  // namespace recut::mesh
