// Merges a chain of copies (clones) into one copy.
//
//   %a = clone(%x)
//   %b = permute(%a, [0, 2, 1])           %b = permute(%x, [0, 2, 1])
//   %c = clone(%b, contiguous)     =>     %c = clone(%b, contiguous)
//
//   %a = slice.Tensor(%x, 0, 0, 3)
//   %b = slice.Tensor(%x, 0, 3, 8)
//   %c = cat([%a, %b])             =>     %x
//
// Needs no views of views between the two (view_chains). Establishes: no contiguous copy reads a
// permuted copy, and no cat rebuilds a value from two or three of its parts. noop_removal removes a
// remaining copy that moves nothing. The rules are rules/merge_clones.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult merge_clones(const Graph& graph) {
  return run_rules(graph, builtin_rules("merge_clones"));
}

}  // namespace recut::passes
