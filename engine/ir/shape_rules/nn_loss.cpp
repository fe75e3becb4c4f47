// Rules of losses, gates and similarities. `reduction` 0 gives one loss for each element or row, 1
// and 2 a single number.
#include <algorithm>

#include "engine/ir/shape_rules/rules.h"

namespace recut::rules {
namespace {

Result<std::int64_t> reduction_of(const Call& call) {
  const std::int64_t reduction = call.integer("reduction");
  if (reduction < 0 || reduction > 2)
    return error(fmt::format("reduction is {}, expected 0, 1 or 2", reduction));
  return reduction;
}

TensorType contiguous(const TensorType& like, Shape shape) {
  return make_type(like.dtype, std::move(shape), like.device);
}

// `elements` without reduction, else a single number.
Inferred reduced(const Call& call, DType dtype, Shape elements) {
  const auto reduction = reduction_of(call);
  if (!reduction) return reduction.diagnostics();
  const std::string device = device_of(call);
  return one(make_type(dtype, *reduction == 0 ? std::move(elements) : Shape{}, device));
}

Result<Shape> loss_elements(const Call& call) {
  for (const std::string_view parameter : {"self", "target"})
    if (!call.is_tensor(parameter)) return error(fmt::format("{} is a number", parameter));
  auto shape = broadcast(call.tensor("self").shape, call.tensor("target").shape);
  if (!shape) return shape;
  for (const std::string_view parameter : {"weight", "pos_weight"}) {
    if (!call.op().parameter(parameter) || !call.is_tensor(parameter)) continue;
    const auto both = broadcast(call.tensor(parameter).shape, *shape);
    if (!both || *both != *shape)
      return error(fmt::format("{} of shape {} for {}", parameter,
                               format_shape(call.tensor(parameter).shape), format_shape(*shape)));
  }
  return shape;
}

DType loss_dtype(const Call& call) {
  static constexpr std::string_view kOperands[] = {"self", "target"};
  return result_dtype(call, kOperands);
}

}  // namespace

Inferred loss(const Call& call) {
  auto shape = loss_elements(call);
  if (!shape) return shape.diagnostics();
  return reduced(call, loss_dtype(call), std::move(*shape));
}

Inferred loss_backward(const Call& call) {
  auto shape = loss_elements(call);
  if (!shape) return shape.diagnostics();
  if (!call.is_tensor("grad_output")) return error("grad_output is a number");
  const auto both = broadcast(call.tensor("grad_output").shape, *shape);
  if (!both || *both != *shape)
    return error(fmt::format("grad_output of shape {} for {}",
                             format_shape(call.tensor("grad_output").shape), format_shape(*shape)));
  return one(elementwise_type(call, loss_dtype(call), std::move(*shape)));
}

namespace {

// self [N, C, positions…] or [C], target without C; returns the target's shape.
Result<Shape> check_classes(const Call& call) {
  const Shape& self = call.tensor("self").shape;
  const Shape& target = call.tensor("target").shape;
  Shape expected = self;
  if (!expected.empty()) expected.erase(expected.begin() + (self.size() > 1 ? 1 : 0));
  if (self.empty() || target != expected || !is_integral(call.tensor("target").dtype))
    return error(fmt::format("targets {} for scores of shape {}", format(call.tensor("target")),
                             format_shape(self)));
  const std::int64_t classes = self.size() > 1 ? self[1] : self[0];
  if (call.is_tensor("weight") && call.tensor("weight").shape != Shape{classes})
    return error(fmt::format("weight of shape {} for {} classes",
                             format_shape(call.tensor("weight").shape), classes));
  return expected;
}

}  // namespace

Inferred nll_loss(const Call& call) {
  auto shape = check_classes(call);
  if (!shape) return shape.diagnostics();
  return reduced(call, call.tensor("self").dtype, std::move(*shape));
}

Inferred nll_loss_with_weight(const Call& call) {
  auto types = nll_loss(call);
  if (types) types->push_back(contiguous(call.tensor("self"), {}));
  return types;
}

Inferred nll_loss_backward(const Call& call) {
  const auto shape = check_classes(call);
  if (!shape) return shape.diagnostics();
  const auto reduction = reduction_of(call);
  if (!reduction) return reduction.diagnostics();
  const Shape& grad = call.tensor("grad_output").shape;
  const bool fits = *reduction == 0 ? grad == *shape : element_count(grad) == 1;
  if (!fits || element_count(call.tensor("total_weight").shape) != 1)
    return error(fmt::format("grad_output of shape {} for targets of shape {}", format_shape(grad),
                             format_shape(*shape)));
  return one(contiguous(call.tensor("self"), call.tensor("self").shape));
}

Inferred cross_entropy_loss(const Call& call) {
  const TensorType& self = call.tensor("self");
  if (call.tensor("target").shape != self.shape || is_integral(call.tensor("target").dtype))
    return nll_loss(call);
  if (self.rank() == 0) return error("scores have no classes");
  Shape elements = self.shape;
  const std::int64_t classes = self.rank() > 1 ? elements[1] : elements[0];
  elements.erase(elements.begin() + (self.rank() > 1 ? 1 : 0));
  if (call.is_tensor("weight") && call.tensor("weight").shape != Shape{classes})
    return error(fmt::format("weight of shape {} for {} classes",
                             format_shape(call.tensor("weight").shape), classes));
  return reduced(call, self.dtype, std::move(elements));
}

namespace {

// Rows of scores [N, C] or [C]; gives the shape of their losses.
Result<Shape> margin_rows(const Call& call, bool one_target_a_row) {
  const Shape& self = call.tensor("self").shape;
  const Shape& target = call.tensor("target").shape;
  if (self.empty() || self.size() > 2 || self.back() == 0 ||
      call.tensor("target").dtype != DType::i64)
    return error(fmt::format("scores of shape {} with targets {}", format_shape(self),
                             format(call.tensor("target"))));
  const Shape rows(self.begin(), self.end() - 1);
  const std::int64_t expected = one_target_a_row ? element_count(rows) : element_count(self);
  const bool alike = one_target_a_row ? element_count(target) == expected : target == self;
  if (!alike)
    return error(fmt::format("targets of shape {} for scores of shape {}", format_shape(target),
                             format_shape(self)));
  if (call.op().parameter("weight") && call.is_tensor("weight") &&
      call.tensor("weight").shape != Shape{self.back()})
    return error(fmt::format("weight of shape {}", format_shape(call.tensor("weight").shape)));
  return rows;
}

Inferred margin_backward(const Call& call, bool one_target_a_row) {
  const auto rows = margin_rows(call, one_target_a_row);
  if (!rows) return rows.diagnostics();
  const auto reduction = reduction_of(call);
  if (!reduction) return reduction.diagnostics();
  const std::int64_t grads = element_count(call.tensor("grad_output").shape);
  if (grads != 1 && (*reduction != 0 || grads != element_count(*rows)))
    return error(
        fmt::format("grad_output of shape {}", format_shape(call.tensor("grad_output").shape)));
  if (call.op().parameter("is_target") &&
      call.tensor("is_target").shape != call.tensor("target").shape)
    return error("is_target has another shape than target");
  return one(contiguous(call.tensor("self"), call.tensor("self").shape));
}

}  // namespace

Inferred multi_margin_loss(const Call& call) {
  auto rows = margin_rows(call, true);
  if (!rows) return rows.diagnostics();
  const double p = call.scalar("p").real;
  if (p != 1 && p != 2) return error(fmt::format("p is {}, expected 1 or 2", p));
  return reduced(call, call.tensor("self").dtype, std::move(*rows));
}

Inferred multi_margin_loss_backward(const Call& call) { return margin_backward(call, true); }

Inferred multilabel_margin_loss(const Call& call) {
  auto rows = margin_rows(call, false);
  if (!rows) return rows.diagnostics();
  auto types = reduced(call, call.tensor("self").dtype, std::move(*rows));
  if (types) types->push_back(contiguous(call.tensor("self"), call.tensor("target").shape));
  return types;
}

Inferred multilabel_margin_loss_backward(const Call& call) { return margin_backward(call, false); }

Inferred glu(const Call& call) {
  const TensorType& in = call.tensor("self");
  const auto dim = wrap_dimension(call.integer("dim"), in.rank());
  if (!dim) return dim.diagnostics();
  const auto d = static_cast<std::size_t>(*dim);
  if (in.rank() == 0 || in.shape[d] % 2 != 0)
    return error(fmt::format("dimension {} of {} has no halves", *dim, format_shape(in.shape)));
  Shape shape = in.shape;
  shape[d] /= 2;
  return one(contiguous(in, std::move(shape)));
}

Inferred glu_backward(const Call& call) {
  const auto half = glu(call);
  if (!half) return half;
  if (call.tensor("grad_output").shape != half->front().shape)
    return error(fmt::format("grad_output of shape {}, expected {}",
                             format_shape(call.tensor("grad_output").shape),
                             format_shape(half->front().shape)));
  return one(contiguous(call.tensor("self"), call.tensor("self").shape));
}

Inferred prelu(const Call& call) {
  const TensorType& in = call.tensor("self");
  const std::int64_t weights = element_count(call.tensor("weight").shape);
  const std::int64_t channels = in.rank() > 1 ? in.shape[1] : 1;
  if (weights != 1 && weights != channels)
    return error(fmt::format("{} weights for {} channels", weights, channels));
  return one(elementwise_type(call, in.dtype, in.shape));
}

Inferred cosine_similarity(const Call& call) {
  auto shape = broadcast_all(call);
  if (!shape) return shape.diagnostics();
  const auto dim = wrap_dimension(call.integer("dim"), static_cast<std::int64_t>(shape->size()));
  if (!dim) return dim.diagnostics();
  if (!shape->empty()) shape->erase(shape->begin() + *dim);
  return one(make_type(result_dtype(call), std::move(*shape), device_of(call)));
}

Inferred pairwise_distance(const Call& call) {
  auto shape = broadcast_all(call);
  if (!shape) return shape.diagnostics();
  if (shape->empty()) return error("numbers have no dimension to measure along");
  shape->back() = 1;
  if (!call.boolean("keepdim")) shape->pop_back();
  static constexpr std::string_view kOperands[] = {"x1", "x2"};
  return one(make_type(result_dtype(call, kOperands), std::move(*shape), device_of(call)));
}

}  // namespace recut::rules
