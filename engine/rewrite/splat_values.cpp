// Constant propagation for tensors with one value in every element, by one element instead of all:
//   full([64, 64], 2.0) * full([64, 64], 3.0)   =>   the splat 6.0
// A call's role decides: creation operators give a splat, movements copy it, element-wise operators
// compute it by the interpreter's own kernel on one element, so that folding never differs from
// evaluation. Integer values also come from affine values (affine_values.h). Cost: O(1) a call.
#include "engine/rewrite/splat_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "engine/eval/kernel.h"
#include "engine/ir/call.h"
#include "engine/ir/operator_map.h"
#include "engine/support/bits.h"

namespace recut {
namespace {

bool one_of(std::string_view word, std::initializer_list<std::string_view> candidates) {
  return std::find(candidates.begin(), candidates.end(), word) != candidates.end();
}

// One element of the type's rank. Type promotion distinguishes tensors of rank 0.
TensorType one_element(const TensorType& type) {
  return make_type(type.dtype, Shape(type.shape.size(), 1), type.device);
}

Tensor as_tensor(const SplatValue& value, std::int64_t rank) {
  Tensor tensor =
      allocate(make_type(value.dtype, Shape(static_cast<std::size_t>(rank), 1)), nullptr);
  if (is_floating(value.dtype))
    pack(Reals(tensor.shape, value.real), tensor);
  else
    pack(Integers(tensor.shape, value.integer), tensor);
  return tensor;
}

// All NaNs become one, so that a folded NaN prints and reads back as the same node.
SplatValue first_element(const Tensor& tensor) {
  SplatValue value{tensor.dtype, 0, 0};
  if (is_floating(tensor.dtype))
    value.real = unpack<double>(tensor)[0];
  else
    value.integer = unpack<std::int64_t>(tensor)[0];
  if (std::isnan(value.real)) value.real = std::numeric_limits<double>::quiet_NaN();
  return value;
}

// The number as a tensor of `dtype` holds it.
SplatValue converted(const Scalar& number, DType dtype) {
  Tensor tensor = allocate(make_type(dtype, {}), nullptr);
  if (number.category == DType::f64)
    pack(Reals(Shape{}, number.real), tensor);
  else
    pack(Integers(Shape{}, number.integer), tensor);
  return first_element(tensor);
}

// The ways in which a call can produce a splat.
enum class Role : std::uint8_t { none, created, copied, computed };

Role find_role(const Operator& op) {
  if (op.is(kInput | kRandom | kImpure | kDataDependent)) return Role::none;
  if (one_of(op.packet, {"full", "full_like", "new_full", "scalar_tensor", "zeros", "zeros_like",
                         "new_zeros", "ones", "ones_like", "new_ones"}))
    return Role::created;
  if (op.is(kView) || one_of(op.packet, {"clone", "cat", "repeat", "flip", "roll"}))
    return Role::copied;
  return op.is(kPointwise) && !op.multiple_outputs() ? Role::computed : Role::none;
}

Role role_of(Op op) {
  static const OperatorMap<Role> kRoles = [] {
    OperatorMap<Role> roles(Role::none);
    for (const Operator& row : all_operators()) roles.set(row.op, find_role(row));
    return roles;
  }();
  return kRoles[op];
}

Scalar whole(std::int64_t number) {
  return Scalar{DType::i64, static_cast<double>(number), number};
}

}  // namespace

bool operator==(const SplatValue& a, const SplatValue& b) {
  return a.dtype == b.dtype && a.integer == b.integer &&
         bit_cast<std::uint64_t>(a.real) == bit_cast<std::uint64_t>(b.real);
}

Argument as_argument(const SplatValue& value) {
  if (is_floating(value.dtype)) return value.real;
  if (value.dtype == DType::boolean) return value.integer != 0;
  return value.integer;
}

SplatAnalysis::SplatAnalysis(const Graph& graph) : SplatAnalysis(graph.pool()) {
  for (const NodeId id : graph.order()) analyze(id);
}

void SplatAnalysis::analyze(NodeId id) {
  if (values_.count(id) != 0) return;
  if (const auto value = value_of(id)) {
    values_.emplace(id, *value);
    if (!is_floating(value->dtype)) affine_values_.add_splat(id, value->integer);
    return;
  }
  affine_values_.analyze(id);
  const AffineValue* found = affine_values_.of(id);
  if (found == nullptr || !found->is_splat()) return;
  const DType dtype = pool_[id].type().dtype;
  const bool holds = found->start >= 0;
  values_.emplace(id, SplatValue{dtype, 0, dtype == DType::boolean ? holds : found->start});
}

const SplatValue* SplatAnalysis::of(NodeId id) const {
  const auto it = values_.find(id);
  return it == values_.end() ? nullptr : &it->second;
}

std::optional<SplatValue> SplatAnalysis::value_of(NodeId id) const {
  const Node& node = pool_[id];
  const Role role = role_of(node.op);
  if (role == Role::none) return std::nullopt;
  const DType dtype = node.outputs.empty() ? DType::none : node.type().dtype;
  if (!has_arithmetic(dtype) || element_count(node.type().shape) == 0) return std::nullopt;
  if (role == Role::created) return created(node);
  if (auto value = absorbed(node)) return value;
  if (!operands_are_splats(node)) return std::nullopt;
  return role == Role::copied ? copied(node) : computed(node);
}

bool SplatAnalysis::operands_are_splats(const Node& node) const {
  return !node.operands.empty() && std::all_of(node.operands.begin(), node.operands.end(),
                                               [&](NodeId id) { return of(id) != nullptr; });
}

std::optional<SplatValue> SplatAnalysis::created(const Node& node) const {
  const Operator& op = operator_of(node.op);
  const DType dtype = node.type().dtype;
  if (one_of(op.packet, {"zeros", "zeros_like", "new_zeros"})) return converted(whole(0), dtype);
  if (one_of(op.packet, {"ones", "ones_like", "new_ones"})) return converted(whole(1), dtype);
  const Call::TypesOf types_of = [&](NodeId operand) { return pool_.types_of(operand); };
  const Call call(op, node.arguments, types_of);
  return converted(call.scalar(op.packet == "scalar_tensor" ? "s" : "fill_value"), dtype);
}

// A product with a zero factor. For integers only: inf * 0 is a NaN, and -1.0 * 0 is -0.0.
std::optional<SplatValue> SplatAnalysis::absorbed(const Node& node) const {
  const DType dtype = node.type().dtype;
  if (is_floating(dtype)) return std::nullopt;
  if (!one_of(operator_of(node.op).packet, {"mul", "bitwise_and", "logical_and"}))
    return std::nullopt;
  for (const Argument& argument : node.arguments) {
    const auto* id = argument.get<NodeId>();
    const auto number = Scalar::from(argument);
    if ((id != nullptr && of(*id) && of(*id)->is(0)) || (number && number->real == 0))
      return SplatValue{dtype, 0, 0};
  }
  return std::nullopt;
}

// Operators that only move elements or select some.
std::optional<SplatValue> SplatAnalysis::copied(const Node& node) const {
  const SplatValue* value = of(node.operands.front());
  const bool same = std::all_of(node.operands.begin(), node.operands.end(),
                                [&](NodeId id) { return *of(id) == *value; });
  // as_strided may read past the value; view.dtype reads its bits as something else.
  if (!same || value->dtype != node.type().dtype || operator_of(node.op).is(kReadsStorage))
    return std::nullopt;
  return *value;
}

// Evaluates an element-wise operator on one element of each operand. If the kernel fails, the call
// stays and fails when it runs.
std::optional<SplatValue> SplatAnalysis::computed(const Node& node) const {
  const Kernel kernel = kernel_table().kernel(node.op);
  if (kernel == nullptr) return std::nullopt;
  std::vector<TensorType> types;
  std::vector<Tensor> tensors;
  for (const NodeId id : node.operands) {
    types.push_back(one_element(pool_[id].type()));
    tensors.push_back(as_tensor(*of(id), types.back().rank()));
  }
  const auto index_of = [&](NodeId id) {
    const auto it = std::find(node.operands.begin(), node.operands.end(), id);
    return static_cast<std::size_t>(it - node.operands.begin());
  };
  const Call::TypesOf types_of = [&](NodeId id) { return std::span(&types[index_of(id)], 1); };
  const KernelContext::ValuesOf values_of = [&](NodeId id) {
    return std::span<const Tensor>(&tensors[index_of(id)], 1);
  };
  const TensorType type = one_element(node.type());
  Tensor output = allocate(type, nullptr);
  const Call call(operator_of(node.op), node.arguments, types_of);
  KernelContext context(call, std::span(&type, 1), std::span(&output, 1), values_of, 0);
  if (!kernel(context)) return std::nullopt;
  return first_element(output);
}

}  // namespace recut
