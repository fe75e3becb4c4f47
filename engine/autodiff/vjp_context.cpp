#include "engine/autodiff/vjp_context.h"

namespace recut::autodiff {

VjpContext::VjpContext(Builder& builder, NodeId call, Gradients gradients,
                       std::function<bool(NodeId)> requires_grad)
    : b(builder),
      id_(call),
      gradients_(std::move(gradients)),
      requires_grad_(std::move(requires_grad)),
      types_of_([&builder](NodeId id) { return builder.graph().pool().types_of(id); }) {
  const Node& node = builder.graph()[call];
  arguments_ = node.arguments;
  call_.emplace(operator_of(node.op), arguments_, types_of_);
}

Value VjpContext::operator[](std::string_view parameter) {
  const NodeId id = call_->node(parameter);
  if (id.valid()) return b.value(id);
  if (!call_->maybe_scalar(parameter)) return {};
  return b.full({}, call_->argument(parameter), out_type().dtype, out_type().device);
}

std::vector<Value> VjpContext::list(std::string_view parameter) {
  std::vector<Value> values;
  for (const NodeId id : call_->nodes(parameter)) values.push_back(b.value(id));
  return values;
}

std::int64_t VjpContext::dim(std::string_view parameter, std::int64_t rank) const {
  const auto wrapped = wrap_dimension(call_->integer(parameter), rank);
  return wrapped ? *wrapped : 0;
}

bool VjpContext::needs_input_grad(std::string_view parameter) const {
  if (!has(parameter)) return false;
  for (const NodeId id : call_->nodes(parameter))
    if (id.valid() && requires_grad_(id)) return true;
  return false;
}

Value VjpContext::out(std::int64_t output) {
  const Value whole = b.value(id_);
  return call_->op().multiple_outputs() ? whole[output] : whole;
}

std::int64_t VjpContext::outputs() const {
  return static_cast<std::int64_t>(b.graph()[id_].outputs.size());
}

const TensorType& VjpContext::out_type(std::int64_t output) const {
  return b.graph()[id_].outputs[static_cast<std::size_t>(output)];
}

bool VjpContext::has_grad(std::int64_t output) const {
  const auto index = static_cast<std::size_t>(output);
  return index < gradients_.size() && gradients_[index].valid();
}

Value VjpContext::grad(std::int64_t output) {
  return has_grad(output) ? gradients_[static_cast<std::size_t>(output)]
                          : zeros(b, out_type(output));
}

Value VjpContext::scaled(const Value& value, std::string_view parameter) const {
  if (!has(parameter) || call_->scalar(parameter).real == 1) return value;
  return b(Op::mul_Tensor, {value, given(parameter)});
}

Value sum_to(const Value& value, const Shape& target) {
  if (!value.valid() || value.shape() == target) return value;
  const std::int64_t extra = value.rank() - static_cast<std::int64_t>(target.size());
  std::vector<std::int64_t> dims;
  for (std::int64_t d = 0; d < value.rank(); ++d)
    if (d < extra || (target[static_cast<std::size_t>(d - extra)] == 1 && value.size(d) != 1))
      dims.push_back(d);
  Builder& b = *value.builder();
  return b.view(dims.empty() ? value : b.sum(value, dims, true), target);
}

Value broadcast_to(const Value& value, const Shape& target) {
  return value.valid() ? value.builder()->expand(value, target) : value;
}

Value zeros(Builder& b, const TensorType& type) {
  return b.full(type.shape, 0, type.dtype, type.device);
}

Value filled(const Value& like, double number) {
  return like.valid() ? like.builder()->full(like.shape(), number, like.dtype(), like.type().device)
                      : like;
}

Value plus(const Value& a, const Value& b) {
  if (!a.valid() || !b.valid()) return a.valid() ? a : b;
  return a + b;
}

}  // namespace recut::autodiff
