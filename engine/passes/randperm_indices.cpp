// Removes range checks and atomics from reads and additions at the indices of a random permutation,
// which are in range and distinct.
//
//   %p = randperm(n)
//   %i = slice(%p, 0, 0, k)               %i = slice(%p, 0, 0, k)
//   %y = index(%x, [%i])            =>    %y = _unsafe_index(%x, [%i])
//   %z = index_add(%x, 0, %i, %m)         %a = add(%y, %m)
//                                         %z = _unsafe_index_put(%x, [%i], %a)
//
// Needs nothing. Establishes: no checked access at a permutation that fits its operand. An addition
// becomes a read, a sum and a write, none of them atomic. The rules are
// rules/randperm_indices.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult randperm_indices(const Graph& graph) {
  return run_rules(graph, builtin_rules("randperm_indices"));
}

}  // namespace recut::passes
