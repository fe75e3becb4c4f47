// The context of a derivative formula: one call's operands and outputs as values of the graph under
// construction, and the gradients of its outputs. It corresponds to the ctx of PyTorch's
// torch.autograd.Function.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/ir/builder.h"
#include "engine/ir/call.h"

namespace recut::autodiff {

// One entry for each output of the call; an invalid entry is zero.
using Gradients = std::vector<Value>;

class VjpContext {
 public:
  // `requires_grad` tells for which operands a derivative is requested.
  VjpContext(Builder& builder, NodeId call, Gradients gradients,
             std::function<bool(NodeId)> requires_grad);

  Builder& b;

  const Call& call() const { return *call_; }
  Op op() const { return call_->op().op; }
  bool has(std::string_view parameter) const {
    return call_->op().parameter(parameter).has_value();
  }

  // The parameter's tensor. A number becomes a zero-dimensional tensor, None an invalid value.
  Value operator[](std::string_view parameter);
  std::vector<Value> list(std::string_view parameter);
  // The argument as the call has it, or the parameter's default.
  CallArgument given(std::string_view parameter) const { return call_->argument(parameter); }

  std::int64_t integer(std::string_view p) const { return call_->integer(p); }
  std::vector<std::int64_t> integers(std::string_view p) const { return call_->integers(p); }
  double real(std::string_view p) const { return call_->real(p); }
  bool boolean(std::string_view p) const { return call_->boolean(p); }
  std::string_view text(std::string_view p) const { return call_->text(p); }
  bool is_given(std::string_view p) const { return call_->given(p); }

  // A dimension argument wrapped to 0 … rank - 1.
  std::int64_t dim(std::string_view parameter, std::int64_t rank) const;

  // Tells whether this parameter, or one tensor of its list, needs a gradient (as PyTorch's
  // ctx.needs_input_grad).
  bool needs_input_grad(std::string_view parameter) const;
  bool needs_input_grad(const Value& value) const {
    return value.valid() && requires_grad_(value.id());
  }

  // An output, and its gradient: zeros if it has none.
  Value out(std::int64_t output = 0);
  Value grad(std::int64_t output = 0);
  bool has_grad(std::int64_t output = 0) const;
  std::int64_t outputs() const;  // how many there are
  const TensorType& out_type(std::int64_t output = 0) const;

  // `value` times a number of the call (alpha, beta); `value` itself if that is 1.
  Value scaled(const Value& value, std::string_view parameter) const;

 private:
  NodeId id_;
  Gradients gradients_;
  std::function<bool(NodeId)> requires_grad_;
  Call::TypesOf types_of_;
  std::vector<Argument> arguments_;
  std::optional<Call> call_;
};

// Sums over the dimensions in which `target` was broadcast to the value's shape (PyTorch's
// sum_to_size).
Value sum_to(const Value& value, const Shape& target);

// Broadcasts the value to a shape; returns it unchanged if it has that shape.
Value broadcast_to(const Value& value, const Shape& target);

// Zeros or ones of a type.
Value zeros(Builder& b, const TensorType& type);
Value filled(const Value& like, double number);

// The sum of `a` and `b`; an invalid value is zero.
Value plus(const Value& a, const Value& b);

}  // namespace recut::autodiff
