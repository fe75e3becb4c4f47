// Makes a choice of a scatter of one number onto another.
//
//   %b = full([n, c], 0.0)         %p = arange(c)
//   %y = scatter.value(%b, 1,      %h = eq.Tensor(%i, %p)
//                      %i, -1)  =>  %y = where.self(%h, full([], -1), full([], 0.0))
//   (i is i64[n, 1])
//
// Needs nothing. Establishes: no scatter of a number onto a uniform value has one index a row. An
// index out of range, which a scatter refuses, hits nothing. The rows are
// rules/scatter_of_full.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult scatter_of_full(const Graph& graph) {
  return run_rules(graph, builtin_rules("scatter_of_full"));
}

}  // namespace recut::passes
