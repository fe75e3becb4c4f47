// Nests: operators that are more than a formula of one element. One row an operator, in nests/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/codegen/lower/folding.h"
#include "engine/codegen/lower/formula.h"

namespace recut::loop {

// One call that is being lowered to loops of its own.
class Nest {
 public:
  Nest(Lowering& lowering, const Call& call, NodeId node)
      : lowering(lowering), call(call), node(node) {}

  Lowering& lowering;
  const Call& call;
  const NodeId node;

  Made output(std::size_t index = 0) const { return {node, index}; }
  const TensorType& type(std::size_t index = 0) const { return lowering.type(output(index)); }
  // Whether anybody has this output.
  bool wanted(std::size_t index) const {
    return index < lowering.graph()[node].outputs.size() && type(index).exists() &&
           lowering.reaches_memory(output(index));
  }

  const Shape& shape_of(std::string_view parameter) const { return call.tensor(parameter).shape; }
  DType dtype_of(std::string_view parameter) const { return call.tensor(parameter).dtype; }
  // The type that reals of these dtypes are computed in.
  DType computing(DType dtype) const { return lowering.compute_type(dtype); }

  // An operand's element, as it stands or as a computation in `common` sees it.
  Quantity raw(std::string_view parameter, const Indices& at) const {
    return lowering.element(call.node(parameter), at);
  }
  // The same where there is no condition, or it holds; elsewhere 0.
  Quantity raw_where(std::string_view parameter, const Indices& at,
                     const std::optional<Quantity>& inside) const {
    if (!inside) return raw(parameter, at);
    return lowering.element_where(call.node(parameter), at, *inside);
  }
  Quantity real(std::string_view parameter, const Indices& at) const {
    const Quantity element = raw(parameter, at);
    return element.to(
        computing(is_floating(dtype_of(parameter)) ? dtype_of(parameter) : DType::f32));
  }
  bool has(std::string_view parameter) const {
    return call.op().parameter(parameter) && call.is_tensor(parameter);
  }

  // A dimension that the call names, wrapped; 0 of a number.
  std::size_t dimension(std::string_view parameter, std::size_t rank) const {
    return static_cast<std::size_t>(
        wrap_dimension(call.integer(parameter), static_cast<std::int64_t>(rank)).value());
  }

  // i64 data as an index in 0 ... size - 1; negative ones count from the end where they may.
  Index checked(const Quantity& raw, std::int64_t size, bool from_end) const {
    return checked_index(lowering, raw, size, from_end);
  }
  static Index checked_index(Lowering& lowering, const Quantity& raw, std::int64_t size,
                             bool from_end);
};

using NestBuilder = void (*)(const Nest& nest);

// Makes the first output 0 everywhere.
void write_zeros(const Nest& nest);

// Tensors without dimensions beside those of one: a number counts as a line of one place, and has
// no index of its own.
inline Shape as_line(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }
inline Indices place_in(const Shape& shape, const Indices& at) {
  return shape.empty() ? Indices{} : at;
}

// A reduction of rows (engine/fusion/rows.h): loops over a row's elements, one after
// another, and what their totals come to. It shares its loops with others of the same rows.
struct RowFold {
  using Totals = std::vector<Quantity>;
  // What one loop adds up, by the totals of those before it.
  using Pass = std::function<std::vector<Folded>(const Totals&)>;
  std::vector<Pass> passes;
  std::function<std::vector<Quantity>(const Totals&)> results;  // one an output
};
using RowFoldMaker = RowFold (*)(const Nest& nest);

// Loops of its own, or those of rows.
struct NestRow {
  Op op;
  NestBuilder build = nullptr;
  Refusal refusal = nullptr;  // null: every call has a nest
  RowFoldMaker fold = nullptr;

  bool exists() const { return build != nullptr || fold != nullptr; }
};

// Rows of all files, by Op; an operator may have none.
const NestRow& nest_row(Op op);

using NestTable = std::vector<NestRow>;
// Those of every file in nests/: the build lists them (engine/CMakeLists.txt).
void add_all_nests(NestTable& table);

// The place in a tensor of this shape, no more dimensions than `at` has, that is broadcast to what
// `at` is a place of.
Indices broadcast_place(const Indices& at, const Shape& shape);

// The place in what a reduction gives: with or without the folded dimensions.
Indices folded_place(const Indices& at, const std::vector<bool>& folded, std::size_t rank);

// Why a call isn't lowered: it sums bools.
inline std::optional<std::string> truths(const Call& call) {
  if (call.tensor("self").dtype == DType::boolean) return "sums of bools";
  return std::nullopt;
}

}  // namespace recut::loop
