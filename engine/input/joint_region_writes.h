// Writes of nested graphs to their inputs, in an fx-joint-graph: values never change, so a call gives
// the written values beside its own results, and they become those of its operands.
//
//   %c = cond(%p, "yes", "no", [%x])             %c = cond(%p, "yes", "no", [%x])
//   region "yes"  { … add_.Tensor(%a, 1) … }  =>  %x' = getitem(%c, 1)
//   region "no"   { … }                           region "yes" { … results %r, %w }
//                                                 region "no"  { … results %r, %a }
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "engine/input/joint_nodes.h"
#include "engine/input/written_values.h"
#include "engine/ir/graph.h"
#include "engine/ir/region_call.h"
#include "engine/support/result.h"

namespace recut {

class RegionWrites {
 public:
  using Operands = std::vector<WrittenValues::Operand>;

  // Adds a nested graph with the values of its written inputs as further results: `nodes` are those
  // of its file. Fails where one of them is a constant.
  Result<Done> add(Graph& graph, const std::string& name, Graph region, const JointNodes& nodes,
                   const Operands& written);

  // The operands that a call writes, as positions among its `whole`, and the first of their outputs.
  struct WrittenOperands {
    std::vector<std::size_t> positions;
    std::size_t first_output = 0;
  };

  // Makes all nested graphs of a call give the values of all operands that one of them writes. Fails
  // where the call isn't of a condition or a called graph with a list of outputs.
  Result<WrittenOperands> extend(Graph& graph, const Operator& op, std::vector<Argument>& arguments,
                                 std::vector<TensorType>& types) const;

  // The nodes of the file that a call writes, each with the value that the call gives. `operands` are
  // the nodes that it reads, in order. Fails where a write would change another operand, too.
  static Result<Operands> writes(Graph& graph, NodeId id, const WrittenOperands& written,
                                 const Operands& operands, const WrittenValues& values);

 private:
  struct Written {
    std::size_t results = 0;               // without those of writes
    std::map<std::size_t, NodeId> values;  // by the input's position
  };
  std::string variant(Graph& graph, const std::string& name,
                      const std::vector<std::size_t>& positions) const;

  std::map<std::string, Written, std::less<>> written_;  // by the name of the nested graph
};

}  // namespace recut
