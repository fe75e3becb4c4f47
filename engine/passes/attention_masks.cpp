// Lets attention do without a mask that only hides later keys, or hides nothing.
//
//   %seen = tril(full([m, n], true))
//   %mask = where.self(%seen, %c, full([], -inf))       (c has one element)
//   %a = _scaled_dot_product_efficient_attention(%q, %k, %v, %mask, true)
//     =>  %p = sub.Tensor(%q, %c - %c)                      (NaN where c is no number, else q)
//         %a = _scaled_dot_product_efficient_attention(%p, %k, %v, none, true, 0.0, true)
//   … and its gradients
//
// Needs attention to be operators (attention) and masks to be triangles (triangular_masks).
// Establishes: attention in f32 and in 16 bits, with or without dropout, reads no mask whose seen
// keys all have one number added and whose hidden keys are those behind the query, or none, if
// nobody but its own gradients reads the logarithms of its sums. Does not keep every bit: beside a
// large number the pattern's scores round away. The rows are rules/attention_masks*.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult attention_masks(const Graph& graph) {
  static const auto rules =
      joined_rules({"attention_masks", "attention_masks_half", "attention_masks_kept"});
  return run_rules(graph, rules);
}

}  // namespace recut::passes
