// Read access to a call for shape rules, kernels and patterns: arguments by the schema's parameter
// names, with defaults filled in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/ir/operator.h"

namespace recut {

// A number for a Scalar parameter, or for a Tensor parameter that was given a number.
struct Scalar {
  DType category = DType::f64;  // boolean, i64 or f64: the kind of the Python number
  double real = 0;
  std::int64_t integer = 0;  // exact where category is boolean or i64

  static std::optional<Scalar> from(const Argument& argument);
};

// Read access to one call. The arguments have been checked against the schema (check_arguments), so
// that getters can't meet a wrong kind; asking for a parameter that the schema lacks is a bug.
class Call {
 public:
  using TypesOf = std::function<std::span<const TensorType>(NodeId)>;

  Call(const Operator& op, std::span<const Argument> arguments, const TypesOf& types_of)
      : op_(op), arguments_(arguments), types_of_(types_of) {}

  const Operator& op() const { return op_; }
  std::span<const Argument> arguments() const { return arguments_; }

  // The argument given, or the schema's default.
  const Argument& argument(std::string_view parameter) const;
  const Argument& argument(std::size_t parameter) const;
  bool given(std::string_view parameter) const;  // neither absent without default nor None

  std::int64_t integer(std::string_view parameter) const;
  std::optional<std::int64_t> maybe_integer(std::string_view parameter) const;
  std::vector<std::int64_t> integers(
      std::string_view parameter) const;  // a lone int reads as a list of one; None as none
  double real(std::string_view parameter) const;
  bool boolean(std::string_view parameter) const;
  std::vector<bool> booleans(std::string_view parameter) const;
  std::optional<DType> maybe_dtype(std::string_view parameter) const;
  std::string_view text(std::string_view parameter) const;  // "" where None
  Scalar scalar(std::string_view parameter) const;
  std::optional<Scalar> maybe_scalar(std::string_view parameter) const;

  // Tensors. node() is invalid where the parameter is None or was given a number.
  NodeId node(std::string_view parameter) const;
  std::vector<NodeId> nodes(
      std::string_view parameter) const;  // items may be invalid where the schema says Tensor?[]
  bool is_tensor(std::string_view parameter) const { return node(parameter).valid(); }
  const TensorType& tensor(
      std::string_view parameter) const;  // type of the parameter's tensor (its first output)
  const TensorType& tensor(NodeId id) const;
  std::span<const TensorType> types(NodeId id) const { return types_of_(id); }

 private:
  std::size_t index_of(std::string_view parameter) const;

  const Operator& op_;
  std::span<const Argument> arguments_;
  const TypesOf& types_of_;
};

// Checks every argument against its parameter's kind; returns one diagnostic for each mismatch.
// `arguments` has one entry for each parameter.
Diagnostics check_arguments(const Operator& op, std::span<const Argument> arguments,
                            const Call::TypesOf& types_of);

// check_arguments, then the operator's shape rule, then check_size of the inferred types.
Result<std::vector<TensorType>> infer_types(const Operator& op, std::span<const Argument> arguments,
                                            const Call::TypesOf& types_of);

// The last two steps, for arguments that passed check_arguments.
Result<std::vector<TensorType>> infer_checked_types(const Operator& op,
                                                    std::span<const Argument> arguments,
                                                    const Call::TypesOf& types_of);

// The first dtype among a call's operands and outputs of which `chosen` holds; none if there is no
// such.
DType first_dtype(std::span<const Argument> arguments, std::span<const TensorType> outputs,
                  const Call::TypesOf& types_of, bool (*chosen)(DType));

// The first dtype among a call's operands and outputs that has no arithmetic (complex numbers,
// 8-bit reals); none if all have it. Few shape rules know these dtypes, so the types of such a call
// come from its file.
DType dtype_without_arithmetic(std::span<const Argument> arguments,
                               std::span<const TensorType> outputs, const Call::TypesOf& types_of);

}  // namespace recut
