// Distances between rows.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

Value cdist_first(Site& s) {
  return s.b(Op::_cdist_backward, {s.grad(), s["x1"], s["x2"], s.given("p"), s.out()});
}

// The distances are symmetric: the same with both swapped.
Value cdist_second(Site& s) {
  const auto turned = [&](const Value& v) {
    return s.b(Op::clone, {s.b.transpose(v)}, {{"memory_format", "contiguous_format"}});
  };
  return s.b(Op::_cdist_backward,
             {turned(s.grad()), s["x2"], s["x1"], s.given("p"), turned(s.out())});
}

std::vector<Value> cdist(Site& s) {
  return {s.b(Op::_cdist_forward, {s["x1"], s["x2"], s.given("p"), s.given("compute_mode")})};
}

// The norm of every row's difference from every other.
std::vector<Value> cdist_written_out(Site& s) {
  const Value difference = s.b(Op::unsqueeze, {s["x1"], -2}) - s.b(Op::unsqueeze, {s["x2"], -3});
  return {s.b(Op::linalg_vector_norm, {difference, s.given("p"), {-1}})};
}

// The same of each pair of rows, the first one above.
std::vector<Value> pdist_written_out(Site& s) {
  const Value x = s["self"];
  const Value pairs = s.b(Op::triu_indices, {x.size(0), x.size(0), 1});
  const auto rows = [&](std::int64_t which) {
    return s.b(Op::index_select, {x, 0, s.b(Op::select_int, {pairs, 0, which})});
  };
  return {s.b(Op::linalg_vector_norm, {rows(0) - rows(1), s.given("p"), {-1}})};
}

// |a - b|, where the distance is 0 with derivative 0.
std::vector<Value> euclidean(Site& s) {
  const Value difference = s.b(Op::unsqueeze, {s["x1"], -2}) - s.b(Op::unsqueeze, {s["x2"], -3});
  return {s.b(Op::linalg_vector_norm, {difference, 2, {-1}})};
}

// The derivative of the distance by each component of a difference; 0 where the distance is 0.
Value slopes(Site& s, const Value& difference, const Value& distance) {
  const double p = s.real("p");
  const Value wide = s.b(Op::unsqueeze, {distance, -1});
  const Value sign = unary(Op::sgn, difference), size = unary(Op::abs, difference);
  if (p == 0) return filled(difference, 0);
  if (p == 1) return sign;
  if (std::isinf(p)) return keep_where(s.b(Op::eq_Tensor, {size, wide}), sign);
  const Value none = s.b(Op::eq_Scalar, {wide, 0});
  if (p == 2) return zero_where(none, difference / wide);
  const Value flat = s.b(Op::eq_Scalar, {size, 0});
  const Value part = zero_where(flat, sign * power(size, p - 1));
  return zero_where(none, part / power(wide, p - 1));
}

std::vector<Value> cdist_backward(Site& s) {
  const Value first = s.b(Op::unsqueeze, {s["x1"], -2}), second = s.b(Op::unsqueeze, {s["x2"], -3});
  const Value each =
      product({slopes(s, first - second, s["cdist"]), s.b(Op::unsqueeze, {s["grad"], -1})});
  return {s.b.sum(each, {-2})};
}

std::vector<Value> pdist_backward(Site& s) {
  const Value x = s["self"];
  const Value pairs = s.b(Op::triu_indices, {x.size(0), x.size(0), 1});
  const Value first = s.b(Op::select_int, {pairs, 0, 0}),
              second = s.b(Op::select_int, {pairs, 0, 1});
  const Value above = s.b(Op::index_select, {x, 0, first});
  const Value below = s.b(Op::index_select, {x, 0, second});
  const Value each =
      product({slopes(s, above - below, s["pdist"]), s.b(Op::unsqueeze, {s["grad"], -1})});
  const Value half = s.b(Op::index_add, {zeros(s.b, x.type()), 0, first, each});
  return {s.b(Op::index_add, {half, 0, second, -each})};
}

Value pdist_self(Site& s) {
  return s.b(Op::_pdist_backward, {s.grad(), s["self"], s.given("p"), s.out()});
}

std::vector<Value> pdist(Site& s) { return {s.b(Op::_pdist_forward, {s["self"], s.given("p")})}; }

}  // namespace

Rows distance_rows() {
  return {
      formulas_and_forward({Op::_cdist_forward}, {{"x1", cdist_first}, {"x2", cdist_second}},
                           cdist_written_out),
      expands({Op::_cdist_backward}, cdist_backward),
      expands({Op::cdist}, cdist),
      expands({Op::_euclidean_dist}, euclidean),
      formulas_and_forward({Op::_pdist_forward}, {{"self", pdist_self}}, pdist_written_out),
      expands({Op::_pdist_backward}, pdist_backward),
      expands({Op::pdist}, pdist),
  };
}

}  // namespace recut::autodiff
