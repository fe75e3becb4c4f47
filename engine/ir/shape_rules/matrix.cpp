// Rules of matrix products.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {

Inferred mm(const Call& call) {
  const TensorType& a = call.tensor("self");
  const TensorType& b = call.tensor("mat2");
  if (a.rank() != 2 || b.rank() != 2 || a.shape[1] != b.shape[0])
    return error(
        fmt::format("can't multiply {} by {}", format_shape(a.shape), format_shape(b.shape)));
  return one(make_type(a.dtype, {a.shape[0], b.shape[1]}, a.device));
}

}  // namespace recut::rules
