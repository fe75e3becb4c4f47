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

Value pdist_self(Site& s) {
  return s.b(Op::_pdist_backward, {s.grad(), s["self"], s.given("p"), s.out()});
}

std::vector<Value> pdist(Site& s) { return {s.b(Op::_pdist_forward, {s["self"], s.given("p")})}; }

}  // namespace

Rows distance_rows() {
  return {
      formulas_and_forward({Op::_cdist_forward}, {{"x1", cdist_first}, {"x2", cdist_second}},
                           cdist_written_out),
      expands({Op::cdist}, cdist),
      expands({Op::_euclidean_dist}, euclidean),
      formulas_and_forward({Op::_pdist_forward}, {{"self", pdist_self}}, pdist_written_out),
      expands({Op::pdist}, pdist),
  };
}

}  // namespace recut::autodiff
