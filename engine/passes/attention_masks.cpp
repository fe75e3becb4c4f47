// Removes attention masks that only hide later keys (causal masks), or hide nothing.
//
//   %seen = tril(full([m, n], true))
//   %mask = where.self(%seen, %c, full([], -inf))       (c has one element)
//   %a = _scaled_dot_product_efficient_attention(%q, %k, %v, %mask, true)
//     =>  %p = sub.Tensor(%q, %c - %c)                      (NaN where c is no number, else q)
//         %a = _scaled_dot_product_efficient_attention(%p, %k, %v, none, true, 0.0, true)
//   … and its gradients
//
// Needs fused attention (attention) and triangular masks (triangular_masks). Establishes: attention
// in f32 and in 16 bits, with or without dropout, reads no mask that adds one number to all visible
// keys and hides the keys after the query, or none. Its logsumexp may be read by its own gradients
// only. Not bit-exact: next to a large mask value the pattern's scores round away. The rules are
// rules/attention_masks*.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult attention_masks(const Graph& graph) {
  static const auto rules =
      joined_rules({"attention_masks", "attention_masks_half", "attention_masks_kept"});
  return run_rules(graph, rules);
}

}  // namespace recut::passes
