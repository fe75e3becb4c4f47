// Nests: operators that need loops of their own, beyond a formula. nests/ has one entry an
// operator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/codegen/lower/formula.h"
#include "engine/codegen/lower/reduction_loops.h"

namespace recut::loop {

// The context of a nest: a call that is being lowered to loops of its own.
class Nest {
 public:
  Nest(Lowering& lowering, const Call& call, NodeId node)
      : lowering(lowering), call(call), node(node) {}

  Lowering& lowering;
  const Call& call;
  const NodeId node;

  ValueRef output(std::size_t index = 0) const { return {node, index}; }
  const TensorType& type(std::size_t index = 0) const { return lowering.type(output(index)); }
  // True where this output exists and is stored.
  bool is_requested(std::size_t index) const {
    return index < lowering.graph()[node].outputs.size() && type(index).exists() &&
           lowering.is_materialized(output(index));
  }

  const Shape& shape_of(std::string_view parameter) const { return call.tensor(parameter).shape; }
  DType dtype_of(std::string_view parameter) const { return call.tensor(parameter).dtype; }
  // The type that values of this dtype are computed in.
  DType computing(DType dtype) const { return lowering.compute_type(dtype); }

  // An operand's element, in its storage dtype (raw) or as a real number of its compute type
  // (real).
  ScalarExpr raw(std::string_view parameter, const Indices& at) const {
    return lowering.element(call.node(parameter), at);
  }
  // A guarded read: 0 where the condition is false; no condition means always.
  ScalarExpr raw_where(std::string_view parameter, const Indices& at,
                       const std::optional<ScalarExpr>& inside) const {
    if (!inside) return raw(parameter, at);
    return lowering.element_where(call.node(parameter), at, *inside);
  }
  ScalarExpr real(std::string_view parameter, const Indices& at) const {
    const ScalarExpr element = raw(parameter, at);
    return element.to(
        computing(is_floating(dtype_of(parameter)) ? dtype_of(parameter) : DType::f32));
  }
  bool has(std::string_view parameter) const {
    return call.op().parameter(parameter) && call.is_tensor(parameter);
  }

  // A dimension argument, wrapped to 0 ... rank - 1; 0 for a zero-dimensional tensor.
  std::size_t dimension(std::string_view parameter, std::size_t rank) const {
    return static_cast<std::size_t>(
        wrap_dimension(call.integer(parameter), static_cast<std::int64_t>(rank)).value());
  }

  // i64 data as an index in 0 ... size - 1, checked at run time. Negative ones count from the end
  // where `from_end`.
  Index checked(const ScalarExpr& raw, std::int64_t size, bool from_end) const {
    return checked_index(lowering, raw, size, from_end);
  }
  static Index checked_index(Lowering& lowering, const ScalarExpr& raw, std::int64_t size,
                             bool from_end);
};

using NestBuilder = void (*)(const Nest& nest);

// Fills the first output with zeros.
void write_zeros(const Nest& nest);

// A zero-dimensional tensor as one of shape [1] (torch.atleast_1d); its own index stays empty.
inline Shape atleast_1d(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }
inline Indices index_in(const Shape& shape, const Indices& at) {
  return shape.empty() ? Indices{} : at;
}

// A reduction of rows (engine/fusion/row_fusion.h): passes over a row's elements, and
// the results of their totals. Reductions of the same rows share these loops.
struct RowReduction {
  using Totals = std::vector<ScalarExpr>;
  // The accumulations of one loop, which may use the totals of earlier passes.
  using Pass = std::function<std::vector<Accumulation>(const Totals&)>;
  std::vector<Pass> passes;
  std::function<std::vector<ScalarExpr>(const Totals&)> results;  // one an output
};
using RowReductionMaker = RowReduction (*)(const Nest& nest);

// The lowering of an operator: a nest of its own, or a reduction that shares loops.
struct NestEntry {
  Op op;
  NestBuilder build = nullptr;
  UnsupportedReason unsupported = nullptr;  // null: every call has a nest
  RowReductionMaker reduce = nullptr;
  FormulaDTypes dtypes = FormulaDTypes::arithmetic;

  bool exists() const { return build != nullptr || reduce != nullptr; }
};

// The entry of an operator, which may be empty.
const NestEntry& nest_entry(Op op);

using NestTable = std::vector<NestEntry>;
// Adds the entries of every file in nests/; the build generates it (engine/CMakeLists.txt).
void add_all_nests(NestTable& table);

// The index into a tensor of `shape` that broadcasts to the space of `at` (of at least as many
// dimensions).
Indices broadcast_index(const Indices& at, const Shape& shape);

// The index into a reduction's result of that rank: with reduced dimensions as 0, or without them.
Indices reduced_index(const Indices& at, const std::vector<bool>& reduced, std::size_t rank);

// Unsupported: sums of bools.
inline std::optional<std::string> sums_bools(const Call& call) {
  if (call.tensor("self").dtype == DType::boolean) return "sums of bools";
  return std::nullopt;
}

}  // namespace recut::loop
