// Subtracts the maximum before scaling, in a softmax of scaled values.
//
//   %s = mul.Tensor(%x, 0.125)            %m = amax(%x, [-1], true)
//   %m = amax(%s, [-1], true)             %l = sub.Tensor(%x, %m)
//   %y = sub.Tensor(%s, %m)        =>     %y = mul.Tensor(%l, 0.125)
//
// Needs nothing, but runs after attention, whose pattern it would hide. Establishes: no softmax's
// numerator is a difference of multiples by one number. Not bit-exact. The rules are
// rules/scaled_softmax.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult scaled_softmax(const Graph& graph) {
  return run_rules(graph, builtin_rules("scaled_softmax"));
}

}  // namespace recut::passes
