// Rules of operators that make a tensor from nothing.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

// A Device argument as a type's device; the graph's own where none is named.
std::string named_device(const Call& call) { return std::string(call.text("device")); }

}  // namespace

Inferred fill_size(const Call& call) {
  return one(make_type(call.maybe_dtype("dtype").value_or(DType::f32), call.integers("size"),
                       named_device(call)));
}

}  // namespace recut::rules
