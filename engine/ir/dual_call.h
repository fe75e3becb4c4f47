// Calls that make and unpack dual numbers, as torch.autograd.forward_ad has them: a dual number is
// a primal and its tangent at a level. Their operators are external (external_operator.h); Recut
// knows the operators of engine/ir/operators/dual_calls.def.
#pragma once

#include <cstdint>
#include <string>

#include "engine/ir/graph.h"
#include "engine/support/result.h"

namespace recut {

//   make     make_dual(primal, tangent, level): the primal with this tangent at the level
//   unpack   unpack_dual(dual, level): a list of the primal and the tangent at the level
//   primal   fw_primal(dual, level): the primal alone
enum class DualCallKind : std::uint8_t { make, unpack, primal };

inline constexpr int kMaxDualLevel = 1'000;

struct DualCall {
  DualCallKind kind = DualCallKind::make;
  NodeId value;    // the primal of a new dual number, or the dual number that is read
  NodeId tangent;  // of a new one
  int level = 0;
};

// True if the operator is in the table.
bool is_dual_call(const Node& node);

// The call by the roles of its arguments. Fails where the arguments have another form, or the types
// of primal, tangent and values don't agree.
Result<DualCall> dual_call(const Graph& graph, NodeId call);

}  // namespace recut
