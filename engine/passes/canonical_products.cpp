// Products of rows and batches become the products of BLAS, as PyTorch's decompositions write
// them:
//
//   %y = linear(%x, %w, %b)    =>    %r = view(%x, [rows, k])
//                                    %t = permute(%w, [1, 0])
//                                    %a = addmm(%b, %r, %t)
//                                    %y = view(%a, […, n])
//   %y = matmul(%p, %q)        =>    mm where %q is a matrix, else bmm of batches in one dimension
//
// Libraries take matrices with distinct elements: batches that broadcast are copied, and so are
// operands that no view has in two or three dimensions, as PyTorch's matmul does within.
#include "engine/passes/canonical_products.h"

#include <algorithm>

#include "engine/ir/call.h"
#include "engine/ir/layout.h"
#include "engine/support/check.h"

namespace recut::passes {
namespace {

class CanonicalProduct {
 public:
  CanonicalProduct(const Graph& from, Graph& to, NodeId old) : from_(from), to_(to), old_(old) {}

  std::optional<Rewrite> linear(const Call& call) {
    const TensorType &input = call.tensor("input"), &weight = call.tensor("weight");
    const NodeId bias = call.node("bias");
    if (input.rank() < 1 || weight.rank() != 2 || !takes({&input, &weight})) return std::nullopt;
    if (bias.valid() && !takes({&call.tensor("bias")})) return std::nullopt;
    const NodeId rows = in_shape(call.node("input"), {-1, weight.shape[1]});
    const std::vector<Argument> transposed{call.node("weight"),
                                           Argument(std::vector<std::int64_t>{1, 0})};
    const NodeId columns = appended(Op::permute, transposed, *types_of(Op::permute, transposed));
    const std::int64_t once = 1;  // beta and alpha
    return bias.valid() ? result(Op::addmm, {bias, rows, columns, once, once})
                        : result(Op::mm, {rows, columns});
  }

  std::optional<Rewrite> matmul(const Call& call) {
    const TensorType &self = call.tensor("self"), &other = call.tensor("other");
    if (self.rank() < 2 || other.rank() < 2 || !takes({&self, &other})) return std::nullopt;
    const NodeId left = call.node("self"), right = call.node("other");
    const Shape &a = self.shape, &b = other.shape;
    if (other.rank() == 2) return result(Op::mm, {in_shape(left, {-1, a.back()}), right});
    const auto batch = broadcast(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
    if (!batch) return std::nullopt;
    return result(Op::bmm, {batches(left, *batch), batches(right, *batch)});
  }

 private:
  // Real numbers of one dtype, none of them empty: -1 stands for a size then. The replacement's
  // result is dense.
  bool takes(std::initializer_list<const TensorType*> operands) const {
    const TensorType& type = from_.type(old_);
    return is_contiguous(type) && !is_complex(type.dtype) &&
           std::all_of(operands.begin(), operands.end(), [&](const TensorType* operand) {
             return operand->dtype == type.dtype && element_count(operand->shape) > 0;
           });
  }

  NodeId appended(Op op, std::vector<Argument> arguments, std::vector<TensorType> types) {
    Origin origin = from_.origin(old_);
    origin.name = to_.unused_name(origin.name + "." + std::string(operator_of(op).name));
    return to_.append(op, std::move(arguments), std::move(types), std::move(origin));
  }

  Result<std::vector<TensorType>> types_of(Op op, const std::vector<Argument>& arguments) const {
    return infer_types(operator_of(op), arguments,
                       [&](NodeId id) { return to_.pool().types_of(id); });
  }

  // A view where the strides allow it, else a copy.
  NodeId in_shape(NodeId id, const std::vector<std::int64_t>& shape) {
    const TensorType& type = to_.type(id);
    if (type.shape.size() == shape.size()) return id;
    const std::vector<Argument> arguments{id, Argument(shape)};
    auto types = types_of(Op::reshape, arguments);
    RECUT_CHECK(types.ok(), "a tensor with elements has this shape");
    const Layout layout{type.shape, type.strides, 0, false};
    if (!layout::strides_of_view(layout, types->front().shape))
      return appended(Op::reshape, arguments, std::move(*types));
    return appended(Op::view, arguments, *types_of(Op::view, arguments));
  }

  // An operand's matrices as those of `batch`, in one dimension.
  NodeId batches(NodeId id, const Shape& batch) {
    const Shape shape = to_.type(id).shape;
    Shape expanded = batch;
    expanded.insert(expanded.end(), shape.end() - 2, shape.end());
    if (expanded != shape) {
      const std::vector<Argument> arguments{id, Argument(expanded), false};
      id = appended(Op::expand, arguments, *types_of(Op::expand, arguments));
      const std::vector<Argument> copied{id, "contiguous_format"};
      id = appended(Op::clone, copied, *types_of(Op::clone, copied));
    }
    return in_shape(id, {-1, shape[shape.size() - 2], shape.back()});
  }

  // The product, in the old call's shape.
  std::optional<Rewrite> result(Op op, const std::vector<Argument>& arguments) {
    constexpr std::string_view kRule = "product of matrices";
    const std::vector<TensorType>& old = from_[old_].outputs;
    auto types = types_of(op, arguments);
    RECUT_CHECK(types.ok(), "the operands of a product fit, in another shape, too");
    if (*types == old) return Rewrite{kRule, to_.append(op, arguments, old, from_.origin(old_))};
    const NodeId product = appended(op, arguments, *types);
    const std::vector<Argument> shape{product, Argument(old.front().shape)};
    return Rewrite{kRule, to_.append(Op::view, shape, old, from_.origin(old_))};
  }

  const Graph& from_;
  Graph& to_;
  const NodeId old_;
};

}  // namespace

std::optional<Rewrite> canonical_product(const Graph& from, Graph& to, NodeId old,
                                         const std::vector<Argument>& arguments) {
  const Op op = from[old].op;
  if (op != Op::linear && op != Op::matmul) return std::nullopt;
  const Call::TypesOf types_of = [&](NodeId id) { return to.pool().types_of(id); };
  const Call call(from.op(old), arguments, types_of);
  CanonicalProduct product(from, to, old);
  return op == Op::linear ? product.linear(call) : product.matmul(call);
}

}  // namespace recut::passes
