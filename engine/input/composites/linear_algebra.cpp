// Composites of torch.linalg: powers, chains, products and decompositions of matrices.
#include "engine/input/composite_operators.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace recut {
namespace {

using Dims = std::vector<std::int64_t>;

Value matrix_of(Builder& b, const Call& call, std::string_view parameter = "self") {
  return b.value(call.node(parameter));
}

std::int64_t counted(const Value& x, std::int64_t dim) { return dim < 0 ? dim + x.rank() : dim; }

// Powers, chains and products
// ---------------------------

Expansion matrix_power(Builder& b, const Call& call) {
  Value x = matrix_of(b, call);
  std::int64_t n = call.integer("n");
  constexpr std::int64_t kMaxPower = std::int64_t{1} << 40;
  if (x.rank() < 2 || n < -kMaxPower || n > kMaxPower) return Expansion::none();
  if (n == 0) return b.expand(b(Op::eye, {x.size(-1)}, {{"dtype", x.dtype()}}), x.shape());
  if (n < 0) {
    x = b(Op::linalg_inv, {x});
    n = -n;
  }
  Value power;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) power = power.valid() ? b.matmul(power, x) : x;
    if (n > 1) x = b.matmul(x, x);
  }
  return power;
}

// The cheapest order of products, by the table of all chains' costs (Godbole 1973).
class Chain {
 public:
  Chain(Builder& b, std::vector<Value> matrices) : b_(b), matrices_(std::move(matrices)) {
    const std::size_t n = matrices_.size();
    cost_.assign(n, std::vector<double>(n, 0));
    cut_.assign(n, std::vector<std::size_t>(n, 0));
    for (std::size_t length = 1; length < n; ++length)
      for (std::size_t first = 0; first + length < n; ++first) choose(first, first + length);
  }
  Value product(std::size_t first, std::size_t last) {
    if (first == last) return matrices_[first];
    const std::size_t cut = cut_[first][last];
    return b_.mm(product(first, cut), product(cut + 1, last));
  }

 private:
  void choose(std::size_t first, std::size_t last) {
    cost_[first][last] = std::numeric_limits<double>::infinity();
    for (std::size_t cut = first; cut < last; ++cut) {
      const double here = static_cast<double>(matrices_[first].size(0)) *
                          static_cast<double>(matrices_[cut].size(1)) *
                          static_cast<double>(matrices_[last].size(1));
      const double cost = cost_[first][cut] + cost_[cut + 1][last] + here;
      if (cost >= cost_[first][last]) continue;
      cost_[first][last] = cost;
      cut_[first][last] = cut;
    }
  }

  Builder& b_;
  std::vector<Value> matrices_;
  std::vector<std::vector<double>> cost_;
  std::vector<std::vector<std::size_t>> cut_;
};

// The first and the last may be vectors.
Expansion chain_product(Builder& b, std::vector<Value> matrices) {
  constexpr std::size_t kMaxChain = 256;
  if (matrices.empty() || matrices.size() > kMaxChain) return Expansion::none();
  if (matrices.size() == 1) return matrices[0];
  const bool row = matrices.front().rank() == 1, column = matrices.back().rank() == 1;
  if (row) matrices.front() = b(Op::unsqueeze, {matrices.front(), 0});
  if (column) matrices.back() = b(Op::unsqueeze, {matrices.back(), 1});
  for (const Value& matrix : matrices)
    if (matrix.rank() != 2) return Expansion::none();
  Shape shape;
  if (!row) shape.push_back(matrices.front().size(0));
  if (!column) shape.push_back(matrices.back().size(1));
  const std::size_t last = matrices.size() - 1;
  const Value product = Chain(b, std::move(matrices)).product(0, last);
  return row || column ? b.view(product, shape) : product;
}
std::vector<Value> matrices_of(Builder& b, const Call& call, std::string_view parameter) {
  std::vector<Value> values;
  for (const NodeId id : call.nodes(parameter)) values.push_back(b.value(id));
  return values;
}
Expansion multi_dot(Builder& b, const Call& call) {
  return chain_product(b, matrices_of(b, call, "tensors"));
}
Expansion chain_matmul(Builder& b, const Call& call) {
  return chain_product(b, matrices_of(b, call, "matrices"));
}

// Sums over pairs of dimensions: a product of two matrices.
Expansion tensordot(Builder& b, const Call& call) {
  const Value x = matrix_of(b, call), y = matrix_of(b, call, "other");
  const Dims of_x = call.integers("dims_self"), of_y = call.integers("dims_other");
  if (of_x.size() != of_y.size()) return Expansion::none();
  const auto has = [](const Dims& dims, const Value& v, std::int64_t d) {
    return std::any_of(dims.begin(), dims.end(),
                       [&](std::int64_t dim) { return counted(v, dim) == d; });
  };
  Dims x_order, y_order;
  Shape shape;
  std::int64_t rows = 1, columns = 1, summed = 1;
  for (std::int64_t d = 0; d < x.rank(); ++d) {
    if (has(of_x, x, d)) continue;
    x_order.push_back(d);
    shape.push_back(x.size(d));
    rows *= x.size(d);
  }
  for (std::size_t i = 0; i < of_x.size(); ++i) {
    if (x.size(of_x[i]) != y.size(of_y[i])) return Expansion::none();
    x_order.push_back(counted(x, of_x[i]));
    y_order.push_back(counted(y, of_y[i]));
    summed *= x.size(of_x[i]);
  }
  for (std::int64_t d = 0; d < y.rank(); ++d) {
    if (has(of_y, y, d)) continue;
    y_order.push_back(d);
    shape.push_back(y.size(d));
    columns *= y.size(d);
  }
  const Value product = b.mm(b.view(b.permute(x, x_order), {rows, summed}),
                             b.view(b.permute(y, y_order), {summed, columns}));
  return b.view(product, shape);
}

// Every element of one times all of the other.
Expansion kron(Builder& b, const Call& call) {
  const Value x = matrix_of(b, call), y = matrix_of(b, call, "other");
  const std::int64_t rank = std::max(x.rank(), y.rank());
  Shape of_x, of_y;
  for (std::int64_t d = 0; d < rank; ++d) {
    const auto size = [&](const Value& v) {
      const std::int64_t at = d - (rank - v.rank());
      return at < 0 ? 1 : v.size(at);
    };
    of_x.insert(of_x.end(), {size(x), 1});
    of_y.insert(of_y.end(), {1, size(y)});
  }
  const Value pairs = b.view(x, of_x) * b.view(y, of_y);
  if (!pairs.valid()) return pairs;
  Shape shape;
  for (std::int64_t d = 0; d < rank; ++d)
    shape.push_back(pairs.size(2 * d) * pairs.size(2 * d + 1));
  return b.view(pairs, shape);
}

Expansion vecdot(Builder& b, const Call& call) {
  Value x = matrix_of(b, call, "x");
  if (is_complex(x.dtype())) x = b(Op::_conj_physical, {x});
  return b.sum(x * matrix_of(b, call, "y"), {call.integer("dim")});
}

Expansion cross(Builder& b, const Call& call) {
  const Value x = matrix_of(b, call);
  std::int64_t dim = -1;
  if (call.given("dim")) {
    dim = call.integer("dim");
  } else {
    for (dim = 0; dim < x.rank() && x.size(dim) != 3;) ++dim;
    if (dim == x.rank()) return Expansion::none();
  }
  return b(Op::linalg_cross, {x, matrix_of(b, call, "other")}, {{"dim", dim}});
}

Expansion adjoint(Builder& b, const Call& call) {
  const Value swapped = b.transpose(matrix_of(b, call));
  return is_complex(swapped.dtype()) ? b(Op::_conj, {swapped}) : swapped;
}

Expansion diagonal(Builder& b, const Call& call) {
  return b(Op::diagonal, {matrix_of(b, call, "A"), call.integer("offset"), call.integer("dim1"),
                          call.integer("dim2")});
}

// The powers 0, 1, … of each element.
Expansion vander(Builder& b, const Call& call) {
  const Value x = matrix_of(b, call, "x");
  const std::int64_t count = call.given("N") ? call.integer("N") : x.size(-1);
  if (x.rank() < 1 || count < 1) return Expansion::none();
  Shape ones = x.shape(), wide = x.shape();
  ones.push_back(1);
  wide.push_back(count - 1);
  const Value first = b.full(ones, 1.0, x.dtype());
  if (count == 1) return first;
  const Value powers = b(Op::cumprod, {b.expand(b(Op::unsqueeze, {x, -1}), wide), -1});
  return b(Op::cat, {std::vector<Value>{first, powers}, -1});
}

// Determinants, decompositions
// ----------------------------

Expansion det(Builder& b, const Call& call) { return b(Op::linalg_det, {matrix_of(b, call)}); }
Expansion slogdet(Builder& b, const Call& call) {
  const Value both = b(Op::linalg_slogdet, {matrix_of(b, call)});
  return std::vector<Value>{both[0], both[1]};
}
// No number where the determinant is negative.
Expansion logdet(Builder& b, const Call& call) {
  const Value both = b(Op::linalg_slogdet, {matrix_of(b, call)});
  const Value none = b.full({}, std::nan(""), both[1].dtype());
  return b.where(b(Op::eq_Scalar, {both[0], -1.0}), none, both[1]);
}

Expansion svd(Builder& b, const Call& call) {
  if (!call.boolean("compute_uv")) return Expansion::none();
  const Value all = b(Op::linalg_svd, {matrix_of(b, call), !call.boolean("some")});
  Value v = b.transpose(all[2]);
  if (is_complex(v.dtype())) v = b(Op::_conj, {v});
  return std::vector<Value>{all[0], all[1], v};
}
Expansion qr(Builder& b, const Call& call) {
  const Value both =
      b(Op::linalg_qr, {matrix_of(b, call), call.boolean("some") ? "reduced" : "complete"});
  return std::vector<Value>{both[0], both[1]};
}
Expansion pinverse(Builder& b, const Call& call) {
  return b(Op::linalg_pinv, {matrix_of(b, call), call.real("rcond")});
}

Expansion tensorinv(Builder& b, const Call& call) {
  const Value x = matrix_of(b, call);
  const std::int64_t split = call.integer("ind");
  if (split < 1 || split >= x.rank()) return Expansion::none();
  Shape shape(x.shape().begin() + split, x.shape().end());
  std::int64_t rows = 1;
  for (std::int64_t d = 0; d < split; ++d) {
    shape.push_back(x.size(d));
    rows *= x.size(d);
  }
  if (rows == 0 || x.count() % rows != 0 || x.count() / rows != rows) return Expansion::none();
  return b.view(b(Op::linalg_inv, {b.view(x, {rows, rows})}), shape);
}

}  // namespace

std::vector<CompositeRow> linear_algebra_composites() {
  return {
      {"aten::matrix_power(Tensor self, int n) -> Tensor", matrix_power},
      {"aten::linalg_matrix_power(Tensor self, int n) -> Tensor", matrix_power},
      {"aten::linalg_multi_dot(Tensor[] tensors) -> Tensor", multi_dot},
      {"aten::chain_matmul(Tensor[] matrices) -> Tensor", chain_matmul},
      {"aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor",
       tensordot},
      {"aten::kron(Tensor self, Tensor other) -> Tensor", kron},
      {"aten::linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", vecdot},
      {"aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor", cross},
      {"aten::adjoint(Tensor self) -> Tensor", adjoint},
      {"aten::mH(Tensor self) -> Tensor", adjoint},
      {"aten::matrix_H(Tensor self) -> Tensor", adjoint},
      {"aten::linalg_diagonal(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
       diagonal},
      {"aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor", vander},
      {"aten::det(Tensor self) -> Tensor", det},
      {"aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", slogdet},
      {"aten::logdet(Tensor self) -> Tensor", logdet},
      {"aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, "
       "Tensor "
       "V)",
       svd},
      {"aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", qr},
      {"aten::pinverse(Tensor self, float rcond=1e-15) -> Tensor", pinverse},
      {"aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor", tensorinv},
  };
}

}  // namespace recut
