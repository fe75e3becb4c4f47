#include <algorithm>
#include <array>

#include "engine/ir/shape_rules/rules.h"

namespace recut {
namespace rules {
namespace {

int category(DType dtype) {
  if (dtype == DType::none) return 0;
  if (dtype == DType::boolean) return 1;
  if (is_complex(dtype)) return 4;
  return is_integral(dtype) || (dtype >= DType::u64 && dtype <= DType::u16) ? 2 : 3;
}

// Running promotion in PyTorch's three ranks (ATen/native/TypeProperties.h).
struct Promotion {
  DType dimensioned = DType::none;
  DType zero_dimensional = DType::none;
  DType number = DType::none;

  void add(const TensorType& type) {
    DType& rank = type.shape.empty() ? zero_dimensional : dimensioned;
    rank = promote(rank, type.dtype);
  }
  void add(const Scalar& scalar) {
    // A Python float promotes to the default dtype, not to f64.
    number = promote(number, scalar.category == DType::f64 ? DType::f32 : scalar.category);
  }
  DType result() const { return combine(combine(dimensioned, zero_dimensional), number); }

 private:
  // The higher rank's dtype, unless the lower rank is of a higher category. A complex number beside
  // reals keeps their width.
  static DType combine(DType higher, DType lower) {
    if (is_complex(lower) && is_floating(higher)) return complex_of(higher);
    return category(lower) > category(higher) ? lower : higher;
  }
};

void add_argument(const Call& call, const Argument& argument, Promotion& promotion) {
  if (const auto* id = argument.get<NodeId>()) {
    promotion.add(call.tensor(*id));
  } else if (const auto* list = argument.get<ArgumentList>()) {
    for (const Argument& item : *list) add_argument(call, item, promotion);
  } else if (const auto scalar = Scalar::from(argument)) {
    promotion.add(*scalar);
  }
}

template <class Visit>
void for_each_type(const Call& call, Visit&& visit) {
  for (const Argument& a : call.arguments())
    for_each_node(a, [&](NodeId id) { visit(call.tensor(id)); });
}

}  // namespace
}  // namespace rules

DType result_dtype(const Call& call, std::span<const std::string_view> parameters) {
  rules::Promotion promotion;
  for (const std::string_view p : parameters)
    rules::add_argument(call, call.argument(p), promotion);
  return promotion.result();
}

DType result_dtype(const Call& call) {
  static constexpr std::array<std::string_view, 3> kWithoutSay = {"alpha", "beta", "value"};
  rules::Promotion promotion;
  const auto& parameters = call.op().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool counts =
        parameters[i].kind == ParameterKind::tensor || parameters[i].kind == ParameterKind::scalar;
    if (counts &&
        std::find(kWithoutSay.begin(), kWithoutSay.end(), parameters[i].name) == kWithoutSay.end())
      rules::add_argument(call, call.argument(i), promotion);
  }
  return promotion.result();
}

DType tensors_dtype(const Call& call) {
  rules::Promotion promotion;
  const auto& parameters = call.op().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].kind == ParameterKind::tensor)
      rules::add_argument(call, call.argument(i), promotion);
  return promotion.result();
}

DType float_of(DType dtype) { return is_floating(dtype) || is_complex(dtype) ? dtype : DType::f32; }

namespace rules {

Result<Shape> broadcast_all(const Call& call) {
  Shape shape;
  Diagnostics wrong;
  for_each_type(call, [&](const TensorType& type) {
    if (!wrong.empty()) return;
    auto both = broadcast(shape, type.shape);
    if (both)
      shape = std::move(*both);
    else
      wrong = both.diagnostics();
  });
  if (!wrong.empty()) return wrong;
  return shape;
}

TensorType elementwise_type(const Call& call, DType dtype, Shape shape) {
  TensorType out = make_type(dtype, std::move(shape), device_of(call));
  bool found = false;
  for_each_type(call, [&](const TensorType& type) {
    if (found || type.shape != out.shape || !is_dense(type)) return;
    out.strides = type.strides;
    found = true;
  });
  return out;
}

std::string device_of(const Call& call) {
  std::string first;
  std::string dimensioned;
  bool any = false;
  bool any_dimensioned = false;
  for_each_type(call, [&](const TensorType& type) {
    if (!any) first = type.device;
    any = true;
    if (!any_dimensioned && !type.shape.empty()) {
      dimensioned = type.device;
      any_dimensioned = true;
    }
  });
  return any_dimensioned ? dimensioned : first;
}

}  // namespace rules
}  // namespace recut
