// One call while a derivative formula is written at it: its operands and outputs as values of the
// graph that is being built, and the gradients of its outputs.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/ir/builder.h"
#include "engine/ir/call.h"

namespace recut::autodiff {

// A gradient has one entry an output of the call; invalid ones are zero.
using Gradients = std::vector<Value>;

class Site {
 public:
  // `wanted` tells which operands a derivative is asked for.
  Site(Builder& builder, NodeId call, Gradients gradients, std::function<bool(NodeId)> wanted);

  Builder& b;

  const Call& call() const { return *call_; }
  Op op() const { return call_->op().op; }
  bool has(std::string_view parameter) const {
    return call_->op().parameter(parameter).has_value();
  }

  // The parameter's tensor; a number there as a zero-dimensional tensor; invalid where it is None.
  Value operator[](std::string_view parameter);
  std::vector<Value> list(std::string_view parameter);
  // The parameter as it stands in the call (a default filled in), for passing on.
  Given given(std::string_view parameter) const { return call_->argument(parameter); }

  std::int64_t integer(std::string_view p) const { return call_->integer(p); }
  std::vector<std::int64_t> integers(std::string_view p) const { return call_->integers(p); }
  double real(std::string_view p) const { return call_->real(p); }
  bool boolean(std::string_view p) const { return call_->boolean(p); }
  std::string_view text(std::string_view p) const { return call_->text(p); }
  bool is_given(std::string_view p) const { return call_->given(p); }

  // A dimension counted from the front, for a tensor of this rank.
  std::int64_t dim(std::string_view parameter, std::int64_t rank) const;

  // Whether a derivative with respect to (one tensor of) this parameter is asked for.
  bool wants(std::string_view parameter) const;
  bool wants(const Value& value) const { return value.valid() && wanted_(value.id()); }

  // The output itself, and its gradient: zeros where it has none.
  Value out(std::int64_t output = 0);
  Value grad(std::int64_t output = 0);
  bool has_grad(std::int64_t output = 0) const;
  std::int64_t outputs() const;  // how many there are
  const TensorType& out_type(std::int64_t output = 0) const;

  // `value` times a number of the call (alpha, beta): itself where that is 1.
  Value scaled(const Value& value, std::string_view parameter) const;

 private:
  NodeId id_;
  Gradients gradients_;
  std::function<bool(NodeId)> wanted_;
  Call::TypesOf types_of_;
  std::vector<Argument> arguments_;
  std::optional<Call> call_;
};

// Sums over what broadcasting `target` to the value's shape repeated, as PyTorch's sum_to_size.
Value sum_to(const Value& value, const Shape& target);

// Broadcasts to a shape that the value's fits (no-op where it has it).
Value broadcast_to(const Value& value, const Shape& target);

// Zeros or ones of a type.
Value zeros(Builder& b, const TensorType& type);
Value filled(const Value& like, double number);

// `a` and `b` where each may be invalid, which is zero.
Value plus(const Value& a, const Value& b);

}  // namespace recut::autodiff
