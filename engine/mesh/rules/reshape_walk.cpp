#include "engine/mesh/rules/reshape_walk.h"

#include <algorithm>
#include <numeric>

namespace recut::mesh {
namespace {

// The position of a walk in one shape: a dimension, and the part of it that is left.
class WalkSide {
 public:
  WalkSide(const Shape& shape, bool from_minor) : left_(shape), from_minor_(from_minor) { skip(); }

  bool done() const { return passed_ == static_cast<int>(left_.size()); }
  int dim() const { return from_minor_ ? static_cast<int>(left_.size()) - 1 - passed_ : passed_; }
  std::int64_t left() const { return left_[static_cast<std::size_t>(dim())]; }
  void take(std::int64_t factor) {
    left_[static_cast<std::size_t>(dim())] /= factor;
    skip();
  }
  const Shape& rest() const { return left_; }

 private:
  void skip() {
    while (!done() && left() == 1) ++passed_;
  }

  Shape left_;
  bool from_minor_;
  int passed_ = 0;
};

// Takes common factors until there are none, and leaves the rest of both shapes in place.
std::vector<ReshapeFactor> walk_one_side(Shape& from, Shape& to, bool from_minor) {
  std::vector<ReshapeFactor> factors;
  WalkSide a(from, from_minor), b(to, from_minor);
  while (!a.done() && !b.done()) {
    const std::int64_t common = std::gcd(a.left(), b.left());
    if (common <= 1) break;
    factors.push_back({common, a.dim(), b.dim()});
    a.take(common);
    b.take(common);
  }
  from = a.rest();
  to = b.rest();
  return factors;
}

}  // namespace

std::vector<ReshapeFactor> reshape_walk(const Shape& from, const Shape& to) {
  Shape a = from, b = to;
  std::vector<ReshapeFactor> factors = walk_one_side(a, b, false);
  std::vector<ReshapeFactor> minor = walk_one_side(a, b, true);
  for (std::size_t d = 0; d < a.size(); ++d)
    if (a[d] != 1) factors.push_back({a[d], static_cast<int>(d), -1});
  for (std::size_t d = 0; d < b.size(); ++d)
    if (b[d] != 1) factors.push_back({b[d], -1, static_cast<int>(d)});
  factors.insert(factors.end(), minor.rbegin(), minor.rend());
  return factors;
}

}  // namespace recut::mesh
