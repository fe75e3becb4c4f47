// Rules of gather, scatter and masks.
#include <algorithm>

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

// ATen treats a zero-dimensional tensor as one dimension of one element here.
Shape at_least_1d(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

Result<Done> check_index_dtype(const TensorType& index) {
  if (is_integral(index.dtype)) return Done{};
  return error(fmt::format("indices are {}, expected integers", short_name(index.dtype)));
}

// `inner` fits into `outer` in all dimensions, or all but one.
Result<Done> check_fits_into(const Shape& inner, const Shape& outer, std::int64_t except,
                             std::string_view what) {
  const Shape a = at_least_1d(inner);
  const Shape b = at_least_1d(outer);
  bool fits = a.size() == b.size();
  for (std::size_t d = 0; fits && d < a.size(); ++d)
    fits = static_cast<std::int64_t>(d) == except || a[d] <= b[d];
  if (fits) return Done{};
  return error(fmt::format("an index of shape {} does not fit {} of shape {}", format_shape(inner),
                           what, format_shape(outer)));
}

// Checks shared by gather and scatter: the dimension, and the index shape against self.
Result<std::int64_t> check_index(const Call& call) {
  const TensorType& self = call.tensor("self");
  const TensorType& index = call.tensor("index");
  const auto dim = wrap_dimension(call.integer("dim"), self.rank());
  if (!dim) return dim.diagnostics();
  if (const auto ok = check_index_dtype(index); !ok) return ok.diagnostics();
  if (element_count(index.shape) == 0) return *dim;  // as in ATen, whatever its shape is
  if (const auto ok = check_fits_into(index.shape, self.shape, *dim, "a tensor"); !ok)
    return ok.diagnostics();
  return *dim;
}

}  // namespace

Inferred gather(const Call& call) {
  if (const auto dim = check_index(call); !dim) return dim.diagnostics();
  const TensorType& self = call.tensor("self");
  return one(make_type(self.dtype, call.tensor("index").shape, self.device));
}

// All overloads, scatter_add and scatter_reduce.
Inferred scatter(const Call& call) {
  if (const auto dim = check_index(call); !dim) return dim.diagnostics();
  const TensorType& self = call.tensor("self");
  const TensorType& index = call.tensor("index");
  if (call.op().parameter("src").has_value() && element_count(index.shape) != 0) {
    const TensorType& src = call.tensor("src");
    if (src.dtype != self.dtype)
      return error(fmt::format("src is {}, expected {} as self is", short_name(src.dtype),
                               short_name(self.dtype)));
    if (const auto ok = check_fits_into(index.shape, src.shape, -1, "a source"); !ok)
      return ok.diagnostics();
  }
  return one(dense_like(self));
}

Inferred take(const Call& call) {
  const TensorType& self = call.tensor("self");
  const TensorType& index = call.tensor("index");
  if (const auto ok = check_index_dtype(index); !ok) return ok.diagnostics();
  if (element_count(self.shape) == 0 && element_count(index.shape) != 0)
    return error("nothing can be taken from an empty tensor");
  return one(make_type(self.dtype, index.shape, self.device));
}

Inferred take_along_dim(const Call& call) {
  const TensorType& self = call.tensor("self");
  const TensorType& indices = call.tensor("indices");
  if (const auto ok = check_index_dtype(indices); !ok) return ok.diagnostics();
  const auto named = call.maybe_integer("dim");
  if (!named) return one(make_type(self.dtype, {element_count(indices.shape)}, self.device));
  if (self.rank() != indices.rank())
    return error(fmt::format("indices of shape {} for a tensor of shape {}",
                             format_shape(indices.shape), format_shape(self.shape)));
  const auto dim = wrap_dimension(*named, self.rank());
  if (!dim) return dim.diagnostics();
  Shape others = self.shape;
  if (!others.empty())
    others[static_cast<std::size_t>(*dim)] = indices.shape[static_cast<std::size_t>(*dim)];
  auto shape = broadcast(others, indices.shape);
  if (!shape) return shape.diagnostics();
  return one(make_type(self.dtype, std::move(*shape), self.device));
}

Inferred put(const Call& call) {
  const TensorType& self = call.tensor("self");
  const TensorType& index = call.tensor("index");
  const TensorType& source = call.tensor("source");
  if (const auto ok = check_index_dtype(index); !ok) return ok.diagnostics();
  if (element_count(index.shape) != element_count(source.shape) || source.dtype != self.dtype)
    return error(fmt::format("{} indices for {} elements of {} put into {}",
                             element_count(index.shape), element_count(source.shape),
                             short_name(source.dtype), short_name(self.dtype)));
  return one(dense_like(self));
}

namespace {

Result<TensorType> masked(const Call& call) {
  for (const std::string_view parameter : {"self", "mask"})
    if (!call.is_tensor(parameter)) return error(fmt::format("{} is a number", parameter));
  const TensorType& mask = call.tensor("mask");
  const TensorType& self = call.tensor("self");
  if (mask.dtype != DType::boolean && mask.dtype != DType::u8)
    return error(fmt::format("the mask is {}, expected bool", short_name(mask.dtype)));
  auto shape = broadcast(self.shape, mask.shape);
  if (!shape) return shape.diagnostics();
  if (*shape == self.shape) return dense_like(self);
  return make_type(self.dtype, std::move(*shape), self.device);
}

}  // namespace

Inferred masked_fill(const Call& call) {
  auto out = masked(call);
  if (!out) return out.diagnostics();
  if (call.is_tensor("value") && call.tensor("value").rank() != 0)
    return error(fmt::format("the value has shape {}, expected one number",
                             format_shape(call.tensor("value").shape)));
  return one(std::move(*out));
}

Inferred masked_scatter(const Call& call) {
  auto out = masked(call);
  if (!out) return out.diagnostics();
  if (call.tensor("source").dtype != call.tensor("self").dtype)
    return error(fmt::format("source is {}, expected {} as self is",
                             short_name(call.tensor("source").dtype), short_name(out->dtype)));
  return one(make_type(out->dtype, out->shape, out->device));
}

Inferred masked_scatter_backward(const Call& call) {
  const TensorType& gradient = call.tensor("grad_output");
  const auto shape = broadcast(gradient.shape, call.tensor("mask").shape);
  if (!shape) return shape.diagnostics();
  return one(make_type(gradient.dtype, call.integers("sizes"), gradient.device));
}

}  // namespace recut::rules
