// Makes two calls of one that gives the gradients of a convolution's input and weight.
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
// Needs nothing. Establishes: no such call gives both. Libraries compute them by two calls as it
// is; apart, a plan can do the one that frees memory early and the other late. The rows are
// rules/separate_gradients.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult separate_gradients(const Graph& graph) {
  return run_rules(graph, builtin_rules("separate_gradients"));
}

}  // namespace recut::passes
