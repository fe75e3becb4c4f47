// Elides a rounding (narrowing) conversion before another conversion.
//
//   %a = convert_element_type(%x, bf16)          (x is f32)
//   %b = convert_element_type(%a, f32)    =>     %x
//
// Needs no views between the two (view_chains). Establishes: no conversion between floating-point
// types reads another. Not bit-exact: the bits that the first conversion rounded away are kept. The
// rules are rules/elide_rounding_casts.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult elide_rounding_casts(const Graph& graph) {
  return run_rules(graph, builtin_rules("elide_rounding_casts"));
}

}  // namespace recut::passes
