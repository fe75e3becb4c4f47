// searchsorted and bucketize: a binary search with as many steps as the length has bits.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

ScalarExpr whole(const ElementContext& ctx, std::int64_t number) {
  return ScalarExpr::constant(&ctx.lowering.builder(), DType::i64, number);
}

bool is_shared(const Call& call, std::string_view sequence) {
  return call.tensor(sequence).rank() == 1;
}

// An element of the sequence; `ordered`: at that position of the call's list of indices that sort
// it.
ScalarExpr sorted_element(const ElementContext& ctx, std::string_view sequence, bool ordered,
                          const ScalarExpr& position) {
  const std::int64_t length = ctx.call.tensor(sequence).shape.back();
  Indices at = is_shared(ctx.call, sequence) ? Indices{0} : ctx.at;
  at.back() = Nest::checked_index(ctx.lowering, position, length, false);
  if (ordered) at.back() = Nest::checked_index(ctx.lowering, ctx.raw("sorter", at), length, false);
  return ctx.raw(sequence, at).to(DType::f64);
}

// The insertion index before (or, for `right`, behind) equal elements. Steps on an empty range
// change nothing. Comparisons are negated, so that NaN goes to the end.
ScalarExpr search(const ElementContext& ctx, std::string_view sequence, bool right, bool ordered) {
  const std::int64_t length = ctx.call.tensor(sequence).shape.back();
  const ScalarExpr x = ctx.operand("self", DType::f64);
  ScalarExpr begin = whole(ctx, 0);
  ScalarExpr end = whole(ctx, length);
  for (std::int64_t left = length; left > 0; left /= 2) {
    const ScalarExpr middle = begin + quotient(end - begin, 2.0);
    const ScalarExpr readable = smaller(middle, static_cast<double>(length - 1));
    const ScalarExpr y = sorted_element(ctx, sequence, ordered, readable);
    const ScalarExpr open = begin < end;
    const ScalarExpr behind = right ? y > x : y >= x;
    begin = select(open & !behind, middle + 1.0, begin);
    end = select(open & behind, middle, end);
  }
  return begin;
}

ScalarExpr bucketize(const ElementContext& ctx) {
  return search(ctx, "boundaries", ctx.call.boolean("right"), false);
}

ScalarExpr searchsorted(const ElementContext& ctx) {
  const bool right = ctx.call.boolean("right") || ctx.call.text("side") == "right";
  return search(ctx, "sorted_sequence", right, ctx.call.is_tensor("sorter"));
}

std::optional<std::string> foreign_sorter(const Call& call) {
  if (call.is_tensor("sorter") &&
      call.tensor("sorter").shape != call.tensor("sorted_sequence").shape)
    return "a sorter of another shape than the sorted sequence";
  return std::nullopt;
}

}  // namespace

void add_searchsorted_formulas(FormulaTable& table) {
  for (const Op op : {Op::bucketize_Tensor, Op::bucketize_Scalar}) table.push_back({op, bucketize});
  for (const Op op : {Op::searchsorted_Tensor, Op::searchsorted_Scalar})
    table.push_back({op, searchsorted, foreign_sorter});
}

}  // namespace recut::loop
