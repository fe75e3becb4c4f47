// Replaces attention that is written out by one fused operator, and its gradients by another.
//
//   %s = bmm(%q, %kt)
//   %m = add.Tensor(mul.Tensor(%s, 0.125), %mask)
//   %p = softmax of %m, written out        =>  %a = _scaled_dot_product_efficient_attention(…)
//   %o = bmm(%p, %v)                           %g = …_attention_backward(%do, …)
//   … the gradients of %q, %kt and %v
//
// Needs views and no-ops to be gone (noop_removal, view_chains). Establishes: attention, with or
// without a scale, masks and dropout, in f32 or in 16 bits with its softmax in f32, is one operator
// a layer forward and one backward, if nothing else reads the scores or the probabilities. Results
// are copies in their old layout; view_chains, merge_clones and noop_removal then remove the copies
// that move nothing. Not bit-exact. The rules are rules/attention*.rules, on scores in the form
// that rules/scores.rules gives them, which stays even where no rule of attention matches.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult attention(const Graph& graph) {
  static const auto rules =
      joined_rules({"scores", "attention_hidden", "attention", "attention_half",
                    "attention_batches", "attention_transposed"});
  return run_rules(graph, rules);
}

}  // namespace recut::passes
