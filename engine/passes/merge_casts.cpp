// Merges two dtype conversions into one.
//
//   %w = convert_element_type(%x, f32)          (x is bf16)
//   %y = convert_element_type(%w, f16)   =>     %y = convert_element_type(%x, f16)
//
// Needs nothing. Bit-exact: the first conversion must be lossless. Establishes: no conversion
// between floating-point types reads a lossless one. The rules are rules/merge_casts.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult merge_casts(const Graph& graph) {
  return run_rules(graph, builtin_rules("merge_casts"));
}

}  // namespace recut::passes
