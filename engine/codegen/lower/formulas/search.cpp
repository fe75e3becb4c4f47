// searchsorted and bucketize: a binary search with as many steps as the length has bits.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

Quantity whole(const Site& s, std::int64_t number) {
  return Quantity::constant(&s.lowering.builder(), DType::i64, number);
}

bool is_shared(const Call& call, std::string_view sequence) {
  return call.tensor(sequence).rank() == 1;
}

// An element of the sequence; `order` holds the indices that sort it, if given.
Quantity sorted_element(const Site& s, std::string_view sequence, bool ordered,
                        const Quantity& place) {
  const std::int64_t length = s.call.tensor(sequence).shape.back();
  Indices at = is_shared(s.call, sequence) ? Indices{0} : s.at;
  at.back() = Nest::checked_index(s.lowering, place, length, false);
  if (ordered) at.back() = Nest::checked_index(s.lowering, s.raw("sorter", at), length, false);
  return s.raw(sequence, at).to(DType::f64);
}

// The insertion index before (or, for `right`, behind) equal elements. Steps on an empty range
// change nothing. Comparisons are negated, so that NaN goes to the end.
Quantity search(const Site& s, std::string_view sequence, bool right, bool ordered) {
  const std::int64_t length = s.call.tensor(sequence).shape.back();
  const Quantity x = s.operand("self", DType::f64);
  Quantity begin = whole(s, 0);
  Quantity end = whole(s, length);
  for (std::int64_t left = length; left > 0; left /= 2) {
    const Quantity middle = begin + quotient(end - begin, 2.0);
    const Quantity readable = smaller(middle, static_cast<double>(length - 1));
    const Quantity y = sorted_element(s, sequence, ordered, readable);
    const Quantity open = begin < end;
    const Quantity behind = right ? y > x : y >= x;
    begin = select(open & !behind, middle + 1.0, begin);
    end = select(open & behind, middle, end);
  }
  return begin;
}

Quantity bucketize(const Site& s) {
  return search(s, "boundaries", s.call.boolean("right"), false);
}

Quantity searchsorted(const Site& s) {
  const bool right = s.call.boolean("right") || s.call.text("side") == "right";
  return search(s, "sorted_sequence", right, s.call.is_tensor("sorter"));
}

std::optional<std::string> foreign_sorter(const Call& call) {
  if (call.is_tensor("sorter") &&
      call.tensor("sorter").shape != call.tensor("sorted_sequence").shape)
    return "a sorter of another shape than the sorted sequence";
  return std::nullopt;
}

}  // namespace

void add_search_formulas(FormulaTable& table) {
  for (const Op op : {Op::bucketize_Tensor, Op::bucketize_Scalar}) table.push_back({op, bucketize});
  for (const Op op : {Op::searchsorted_Tensor, Op::searchsorted_Scalar})
    table.push_back({op, searchsorted, foreign_sorter});
}

}  // namespace recut::loop
