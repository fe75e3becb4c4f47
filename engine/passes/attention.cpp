// Makes one operator of attention that is written out, and one of its gradients.
//
//   %s = bmm(%q, %kt)
//   %m = add.Tensor(mul.Tensor(%s, 0.125), %mask)
//   %p = softmax of %m, written out        =>  %a = _scaled_dot_product_efficient_attention(…)
//   %o = bmm(%p, %v)                           %g = …_attention_backward(%do, …)
//   … the gradients of %q, %kt and %v
//
// Needs views and no-ops to be gone (noop_removal, view_chains). Establishes: attention, with or
// without a scale, masks and dropout, in f32 or in 16 bits with its softmax in f32, is one operator
// a layer forward and one backward, if nobody else reads the scores or the probabilities. Its
// results are copies in the layout that they had; view_chains, copies and noop_removal afterwards
// leave only those that move something. Does not keep every bit. The rows are
// rules/attention*.rules, on scores in the form that rules/scores.rules gives them: they keep it
// where nothing comes of them.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult attention(const Graph& graph) {
  static const auto rules = joined_rules(
      {"scores", "attention_hidden", "attention", "attention_half", "attention_batches"});
  return run_rules(graph, rules);
}

}  // namespace recut::passes
