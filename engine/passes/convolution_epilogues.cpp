// Fuses residual additions and bounds into convolutions, as epilogues of a processor's library.
//
//   %c = convolution(%x, %w, %b, …)
//   %s = add.Tensor(%c, %r)
//   %y = relu(%s)                    =>  %y = clamped_convolution(%x, %w, %b, %r, …, 0)
//
// Needs folded weights and channels_last: oneDNN takes a residual that is channels last, as the
// convolution is. Establishes: no such convolution with one reader is followed by relu, clamp or
// hardtanh. Not bit-exact: convolution and sum are rounded once; a NaN stays. The peak falls by a
// result.
// The rules are rules/convolution_epilogues.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult convolution_epilogues(const Graph& graph) {
  return run_rules(graph, builtin_rules("convolution_epilogues"));
}

}  // namespace recut::passes
