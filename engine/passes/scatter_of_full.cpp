// Replaces a scatter of one number into a full by a where.
//
//   %b = full([n, c], 0.0)         %p = arange(c)
//   %y = scatter.value(%b, 1,      %h = eq.Tensor(%i, %p)
//                      %i, -1)  =>  %y = where.self(%h, full([], -1), full([], 0.0))
//   (i is i64[n, 1])
//
// Needs nothing. Establishes: no scatter of a number into a splat has one index a row. An index out
// of range, which is an error of a scatter, selects nothing. The rules are
// rules/scatter_of_full.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult scatter_of_full(const Graph& graph) {
  return run_rules(graph, builtin_rules("scatter_of_full"));
}

}  // namespace recut::passes
