// Rules of views: shape, and the strides over the same storage.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {

Inferred permute(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto dims = call.integers("dims");
  if (static_cast<std::int64_t>(dims.size()) != in.rank())
    return error(fmt::format("{} dimensions named for a tensor of {}", dims.size(), in.rank()));
  TensorType out{in.dtype, {}, {}, in.device};
  std::vector<bool> seen(dims.size(), false);
  for (const std::int64_t d : dims) {
    const auto wrapped = wrap_dimension(d, in.rank());
    if (!wrapped) return wrapped.diagnostics();
    const auto at = static_cast<std::size_t>(*wrapped);
    if (seen[at]) return error(fmt::format("dimension {} is named twice", d));
    seen[at] = true;
    out.shape.push_back(in.shape[at]);
    out.strides.push_back(in.strides[at]);
  }
  return one(std::move(out));
}

}  // namespace recut::rules
