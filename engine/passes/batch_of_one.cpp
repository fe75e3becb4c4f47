// Replaces a bmm with a batch of one by an mm (Inductor's bmm_to_mm).
//
//   %c = bmm(%a, %b)               %l = squeeze.dim(%a, 0)
//   (a is f32[1, m, k])            %r = squeeze.dim(%b, 0)
//                           =>     %p = mm(%l, %r)
//                                  %c = unsqueeze(%p, 0)
//
// Needs nothing. Establishes: no bmm has a batch of one. The rules are rules/batch_of_one.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult batch_of_one(const Graph& graph) {
  return run_rules(graph, builtin_rules("batch_of_one"));
}

}  // namespace recut::passes
