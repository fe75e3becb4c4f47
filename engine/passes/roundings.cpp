// Reads past a conversion that rounds, where another follows.
//
//   %a = convert_element_type(%x, bf16)          (x is f32)
//   %b = convert_element_type(%a, f32)    =>     %x
//
// Needs no views between the two (view_chains). Establishes: no conversion between floating-point
// types reads another. Does not keep every bit: what the first conversion rounded away stays. The
// rows are rules/roundings.rules.
#include "engine/passes/rule_pass.h"

namespace recut::passes {

PassResult roundings(const Graph& graph) { return run_rules(graph, builtin_rules("roundings")); }

}  // namespace recut::passes
