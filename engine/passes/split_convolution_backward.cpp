// Splits a convolution_backward that computes the gradients of input and weight into two calls.
//
//   %g = convolution_backward(…, [true, true, true])
//   %x = getitem(%g, 0)                                   =>
//   %w = getitem(%g, 1)
//
//   %a = convolution_backward(…, [true, false, false])
//   %x = getitem(%a, 0)
//   %b = convolution_backward(…, [false, true, true])
//   %w = getitem(%b, 1)
//
// Needs nothing. Bit-exact. Establishes: no such call computes both. Libraries use two kernels
// anyway; split, the planner can run early the one that frees memory, and the other late. The rules
// are rules/split_convolution_backward.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult split_convolution_backward(const Graph& graph) {
  return run_rules(graph, builtin_rules("split_convolution_backward"));
}

}  // namespace recut::passes
