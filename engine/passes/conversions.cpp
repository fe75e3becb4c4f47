// Makes one conversion of two.
//
//   %w = convert_element_type(%x, f32)          (x is bf16)
//   %y = convert_element_type(%w, f16)   =>     %y = convert_element_type(%x, f16)
//
// Needs nothing. Establishes: no conversion between floating-point types reads one that lost
// nothing. The rows are rules/conversions.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult conversions(const Graph& graph) {
  return run_rules(graph, builtin_rules("conversions"));
}

}  // namespace recut::passes
