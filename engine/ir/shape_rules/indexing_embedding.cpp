// Rules of embeddings: rows of a weight, one by one or by the bag.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

Result<Done> check_rows(const TensorType& weight, const TensorType& indices) {
  if (weight.rank() != 2)
    return error(
        fmt::format("a weight of 2 dimensions is expected, found {}", format_shape(weight.shape)));
  if (!is_integral(indices.dtype))
    return error(fmt::format("indices are {}, expected integers", short_name(indices.dtype)));
  return Done{};
}

}  // namespace

Inferred embedding(const Call& call) {
  const TensorType& weight = call.tensor("weight");
  const TensorType& indices = call.tensor("indices");
  if (const auto ok = check_rows(weight, indices); !ok) return ok.diagnostics();
  Shape shape = indices.shape;
  shape.push_back(weight.shape[1]);
  return one(make_type(weight.dtype, std::move(shape), weight.device));
}

Inferred embedding_dense_backward(const Call& call) {
  const TensorType& gradient = call.tensor("grad_output");
  const TensorType& indices = call.tensor("indices");
  if (!is_integral(indices.dtype))
    return error(fmt::format("indices are {}, expected integers", short_name(indices.dtype)));
  Shape rows(gradient.shape.begin(), gradient.shape.end() - (gradient.shape.empty() ? 0 : 1));
  if (gradient.shape.empty() || rows != indices.shape)
    return error(fmt::format("a gradient of shape {} for indices of shape {}",
                             format_shape(gradient.shape), format_shape(indices.shape)));
  Shape shape{call.integer("num_weights"), gradient.shape.back()};
  return one(make_type(gradient.dtype, std::move(shape), gradient.device));
}

// Output sizes of the CPU kernel when it saves everything that backward may need.
Inferred embedding_bag(const Call& call) {
  const TensorType& weight = call.tensor("weight");
  const TensorType& indices = call.tensor("indices");
  const TensorType& offsets = call.tensor("offsets");
  if (const auto ok = check_rows(weight, indices); !ok) return ok.diagnostics();
  const std::int64_t bags =
      element_count(offsets.shape) - (call.boolean("include_last_offset") ? 1 : 0);
  if (indices.rank() != 1 || offsets.rank() != 1 || !is_integral(offsets.dtype) || bags < 0)
    return error(fmt::format("indices {} and offsets {}, expected lists of integers",
                             format(indices), format(offsets)));
  if (call.is_tensor("per_sample_weights") &&
      call.tensor("per_sample_weights").shape != indices.shape)
    return error(fmt::format("{} per_sample_weights for {} indices",
                             format_shape(call.tensor("per_sample_weights").shape),
                             format_shape(indices.shape)));
  const std::int64_t mode = call.integer("mode");
  if (mode < 0 || mode > 2) return error(fmt::format("mode {}, expected 0, 1 or 2", mode));
  const auto list = [&](Shape shape) {
    return make_type(offsets.dtype, std::move(shape), offsets.device);
  };
  Types types;
  types.push_back(make_type(weight.dtype, {bags, weight.shape[1]}, weight.device));
  types.push_back(list(indices.shape));
  types.push_back(list({bags}));
  types.push_back(list(mode == 2 ? Shape{bags, weight.shape[1]} : Shape{bags}));
  return types;
}

Inferred embedding_bag_dense_backward(const Call& call) {
  const TensorType& gradient = call.tensor("grad");
  const TensorType& indices = call.tensor("indices");
  if (gradient.rank() != 2 || indices.rank() != 1 || !is_integral(indices.dtype))
    return error(fmt::format("a gradient {} for indices {}", format(gradient), format(indices)));
  return one(
      make_type(gradient.dtype, {call.integer("num_weights"), gradient.shape[1]}, gradient.device));
}

Inferred embedding_bag_sample_backward(const Call& call) {
  const TensorType& gradient = call.tensor("grad");
  const TensorType& weight = call.tensor("weight");
  const TensorType& indices = call.tensor("indices");
  if (const auto ok = check_rows(weight, indices); !ok) return ok.diagnostics();
  if (gradient.rank() != 2 || gradient.shape[1] != weight.shape[1] || indices.rank() != 1)
    return error(fmt::format("a gradient {} for a weight {}", format(gradient), format(weight)));
  if (call.integer("mode") != 0) return error("only the sum (mode 0) has per_sample_weights");
  return one(make_type(gradient.dtype, indices.shape, gradient.device));
}

}  // namespace recut::rules
