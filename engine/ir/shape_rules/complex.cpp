// Rules of complex numbers and Fourier transforms.
#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

// The transformed dimensions of self, none twice.
Result<std::vector<std::size_t>> transformed(const Call& call, bool may_be_none) {
  const TensorType& self = call.tensor("self");
  const std::int64_t mode = call.integer("normalization");
  if (mode < 0 || mode > 2) return error(fmt::format("normalization is {}, expected 0 to 2", mode));
  std::vector<std::size_t> dims;
  std::vector<bool> seen(self.shape.size(), false);
  for (const std::int64_t d : call.integers("dim")) {
    const auto wrapped = wrap_dimension(d, self.rank());
    if (!wrapped) return wrapped.diagnostics();
    if (self.shape.empty()) return error("a number has no dimension to transform");
    const auto at = static_cast<std::size_t>(*wrapped);
    if (seen[at]) return error(fmt::format("dimension {} is named twice", d));
    if (self.shape[at] == 0) return error(fmt::format("dimension {} has no elements", d));
    seen[at] = true;
    dims.push_back(at);
  }
  if (dims.empty() && !may_be_none) return error("no dimension is named");
  return dims;
}

Diagnostic wrong_operand(const Call& call, std::string_view expected) {
  return error(fmt::format("the operand is {}, expected {}", short_name(call.tensor("self").dtype),
                           expected));
}

}  // namespace

// The parts as a new last dimension.
Inferred view_as_real(const Call& call) {
  const TensorType& self = call.tensor("self");
  if (!is_complex(self.dtype)) return wrong_operand(call, "c64 or c128");
  TensorType type = self;
  type.dtype = real_of(self.dtype);
  for (std::int64_t& stride : type.strides) stride *= 2;
  type.shape.push_back(2);
  type.strides.push_back(1);
  return one(std::move(type));
}

// The last dimension holds the two parts.
Inferred view_as_complex(const Call& call) {
  const TensorType& self = call.tensor("self");
  if (self.dtype != DType::f32 && self.dtype != DType::f64)
    return wrong_operand(call, "f32 or f64");
  if (self.shape.empty() || self.shape.back() != 2)
    return error(
        fmt::format("the shape is {}, expected a last dimension of 2", format_shape(self.shape)));
  const Shape shape(self.shape.begin(), self.shape.end() - 1);
  return one(make_type(complex_of(self.dtype), shape, self.device));
}

// Broadcast; both parts have one dtype.
Inferred complex_of_parts(const Call& call) {
  const auto& parameters = call.op().parameters;
  for (const Parameter& p : parameters)
    if (!call.is_tensor(p.name)) return error(fmt::format("{} is a number", p.name));
  const DType dtype = call.tensor(parameters[0].name).dtype;
  if (dtype != DType::f32 && dtype != DType::f64)
    return error(fmt::format("the parts are {}, expected f32 or f64", short_name(dtype)));
  if (call.tensor(parameters[1].name).dtype != dtype)
    return error("the two parts have different dtypes");
  auto shape = broadcast_all(call);
  if (!shape) return shape.diagnostics();
  return one(elementwise_type(call, complex_of(dtype), std::move(*shape)));
}

Inferred fft_r2c(const Call& call) {
  const TensorType& self = call.tensor("self");
  if (self.dtype != DType::f32 && self.dtype != DType::f64)
    return wrong_operand(call, "f32 or f64");
  const auto dims = transformed(call, false);
  if (!dims) return dims.diagnostics();
  Shape shape = self.shape;
  if (call.boolean("onesided")) shape[dims->back()] = shape[dims->back()] / 2 + 1;
  return one(make_type(complex_of(self.dtype), std::move(shape), self.device));
}

Inferred fft_c2r(const Call& call) {
  const TensorType& self = call.tensor("self");
  if (!is_complex(self.dtype)) return wrong_operand(call, "c64 or c128");
  const auto dims = transformed(call, false);
  if (!dims) return dims.diagnostics();
  const std::int64_t length = call.integer("last_dim_size");
  Shape shape = self.shape;
  const std::int64_t half = shape[dims->back()];
  if (length < 1 || length / 2 + 1 > half)
    return error(fmt::format("last_dim_size is {}, expected 1 to {} for {} elements", length,
                             2 * half - 1, half));
  shape[dims->back()] = length;
  return sized(real_of(self.dtype), std::move(shape), self.device);
}

Inferred fft_c2c(const Call& call) {
  const TensorType& self = call.tensor("self");
  if (!is_complex(self.dtype)) return wrong_operand(call, "c64 or c128");
  const auto dims = transformed(call, true);
  if (!dims) return dims.diagnostics();
  return one(dense_like(self));
}

}  // namespace recut::rules
