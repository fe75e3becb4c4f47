// Replaces a slice or selection written into a full by padding, as gradients of slices and
// selections are written.
//
//   %b = full([2, 128, 50], 0.0)
//   %y = slice_scatter(%b, %x, 1, 0, -1)   =>   %y = constant_pad_nd(%x, [0, 0, 0, 1], 0.0)
//
// Needs nothing. Bit-exact. Establishes: no contiguous part is written into a splat by a slice of
// step 1 or by a selection. The rules are rules/slice_backward_to_pad.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult slice_backward_to_pad(const Graph& graph) {
  return run_rules(graph, builtin_rules("slice_backward_to_pad"));
}

}  // namespace recut::passes
