// The text form. engine/input/text.h reads it back: print then parse is the identity.
//
//   graph "mlp" on cuda {
//     %x = input f32[8, 16]
//     %w = parameter f32[4, 16]
//     %t = tangent f32[8, 4]
//     %wt = permute(%w, [1, 0]) : f32[16, 4]{1, 16}  @"net.linear" #7
//     %y = mm(%x, %wt) : f32[8, 4]
//     results %y
//     gradients none, %w_grad
//   }
//
// A node: name, operator, arguments (positional as far as they go, then by name), the types of its
// outputs, then where it comes from: @"module path" and #seq_nr, and the policy of its checkpointed
// region: checkpoint PREFER_RECOMPUTE 3. A device that is no word stands in
// quotes (on "cuda:0"). A call of an operator that the table lacks begins with `external` and its
// full target: external mine.scale3.default(%x, 3) : f32[8, 4]. `; text` to the end of a line is a
// comment.
//
// Regions that calls name stand at the end, each as a graph of its own on the same device, unless
// it says another one. A region may have regions in turn.
//
//     %y = external torch.ops.higher_order.map_impl("body", [%x], []) : (f32[8, 4])
//     results %loss
//     region "body" {
//       %row = input f32[4]
//       %e = exp(%row) : f32[4]
//       results %e
//     }
//
// Behind results and gradients stands the graph's signature (graph_signature.h), a line a fact:
//
//     mutation 0 %running_mean          result 0 is the new value of this input
//     mutation 1 %weight metadata       its sizes and strides change; or: value metadata, both
//     tangent_of 2, 3                   the results of the tangents, in order
//     dual_input %x, %x_tangent level 0 an input, and its tangent by forward mode
//     dual_result 0, 1 level 0          a result, and the result that is its tangent
//     shared_storage %a, %b             inputs that lie in one storage
//     deterministic                     traced under deterministic algorithms
#pragma once

#include <string>

#include "engine/ir/graph.h"
#include "engine/ir/verifier.h"

namespace recut {

std::string print(const Graph& graph);

// As print(), with every failure below its node as a comment that begins with "; ^".
std::string print(const Graph& graph, const Failures& failures);

// One node's line, without indentation.
std::string print_node(const Graph& graph, NodeId id);
std::string print_argument(const Graph& graph, const Argument& argument);

}  // namespace recut
