// Reads and adds at a random permutation's numbers without a look at whether they are in range or
// there twice.
//
//   %p = randperm(n)
//   %i = slice(%p, 0, 0, k)               %i = slice(%p, 0, 0, k)
//   %y = index(%x, [%i])            =>    %y = _unsafe_index(%x, [%i])
//   %z = index_add(%x, 0, %i, %m)         %a = add(%y, %m)
//                                         %z = _unsafe_index_put(%x, [%i], %a)
//
// Needs nothing. Establishes: nothing reads so at a permutation that fits its operand. Adding is a
// read, a sum and a write then, none of which has to be atomic. The rows are
// rules/randperm_indices.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult randperm_indices(const Graph& graph) {
  return run_rules(graph, builtin_rules("randperm_indices"));
}

}  // namespace recut::passes
