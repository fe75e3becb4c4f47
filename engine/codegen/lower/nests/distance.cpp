// Distances between rows: the p-norm of their differences, which are rounded to the dtype as eval's
// are. In the gradients each element sums over the rows that its own row is compared with.
#include "engine/codegen/lower/nests/norm.h"
#include "engine/codegen/lower/nests/scratch_matrix.h"

namespace recut::loop {
namespace {

// The derivative of a p-norm by one difference; 0 where it is undefined.
ScalarExpr derivative(const Norm& norm, const ScalarExpr& difference, const ScalarExpr& distance) {
  const double p = norm.p;
  const ScalarExpr x = abs(difference);
  const ScalarExpr zero = x.like(0);
  const ScalarExpr sign =
      select(difference > 0.0, x.like(1), select(difference < 0.0, x.like(-1), difference));
  if (p == 0) return zero;
  if (p == 1) return sign;
  if (std::isinf(p)) return select(x == distance, sign, zero);
  ScalarExpr undefined = distance == 0.0;
  if (p < 1) undefined = undefined | (difference == 0.0);
  // A single power of the quotient: two powers would leave f32 sooner.
  return select(undefined, zero, sign * pow(x / distance, p - 1));
}

Norm norm_of(const Call& call) { return {call.op().parameter("p") ? call.real("p") : 2.0}; }

ScalarExpr difference_of(const Nest& nest, const ScalarExpr& a, const ScalarExpr& b) {
  return nest.lowering.rounded(a - b, nest.type().dtype).to(a.type());
}

using RowElement = std::function<ScalarExpr(const Index&)>;

// The distance of two rows of `length` elements.
ScalarExpr distance(const Nest& nest, std::int64_t length, const RowElement& a,
                    const RowElement& b) {
  const Norm norm = norm_of(nest.call);
  const DType type = nest.computing(nest.type().dtype), in = norm.total(type);
  const ScalarExpr zero = nest.lowering.constant(in, 0);
  const ScalarExpr total = reduce_range(nest.lowering, length,
                                        {"distance", norm.combine(), zero, [&](const Indices& k) {
                                           const ScalarExpr x = a(k[0]);
                                           return norm.term(difference_of(nest, x, b(k[0])).to(in));
                                         }});
  return norm.finish(total).to(type);
}

// A row's index in an operand whose batch is broadcast.
Indices row_of(const Shape& shape, const Indices& at, const Index& row, const Index& k) {
  const std::size_t batch = shape.size() - 2;
  Indices position(shape.size(), 0);
  for (std::size_t d = 0; d < batch; ++d)
    if (shape[d] != 1) position[d] = at[at.size() - 2 - batch + d];
  position[batch] = row;
  position[batch + 1] = k;
  return position;
}

void cdist(const Nest& nest) {
  const Shape& x1 = nest.shape_of("x1");
  const Shape& x2 = nest.shape_of("x2");
  const Shape& shape = nest.type().shape;
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Index i = builder.open_loop("i", element_count(shape), Builder::Order::parallel);
  const Indices at = delinearize(i, shape, builder);
  const Index row = at[at.size() - 2];
  const ScalarExpr apart = distance(
      nest, x1.back(), [&](const Index& k) { return nest.real("x1", row_of(x1, at, row, k)); },
      [&](const Index& k) { return nest.real("x2", row_of(x2, at, at.back(), k)); });
  nest.lowering.write(nest.output(), at, apart);
  builder.close_to(depth);
}

// For each element of the gradient of rows, sums term(position, other row) over `others` other
// rows.
void sum_others(const Nest& nest, std::int64_t others,
                const std::function<ScalarExpr(const Indices&, const Index&)>& term) {
  const Shape& out = nest.type().shape;
  ReductionSpace space{out, std::vector<bool>(out.size(), false), contiguous_strides(out)};
  space.shape.push_back(others);
  space.reduced.push_back(true);
  space.strides.push_back(element_count(out) + 1);  // so that lanes go along the rows
  const ScalarExpr zero = nest.lowering.constant(nest.computing(nest.type().dtype), 0);
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const Indices position(reducer.at().begin(), reducer.at().end() - 1);
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, zero, [&](const Indices& at) { return term(position, at.back()); }});
    nest.lowering.write(nest.output(), position, sum);
  });
}

void cdist_backward(const Nest& nest) {
  const Shape& x1 = nest.shape_of("x1");
  const Shape& x2 = nest.shape_of("x2");
  const Norm norm = norm_of(nest.call);
  sum_others(nest, matrix_rows(x2), [&](const Indices& at, const Index& other) {
    const Index& row = at[at.size() - 2];
    const ScalarExpr a = nest.real("x1", row_of(x1, at, row, at.back()));
    const ScalarExpr b = nest.real("x2", row_of(x2, at, other, at.back()));
    Indices pair = at;
    pair.back() = other;
    const ScalarExpr slope =
        derivative(norm, difference_of(nest, a, b), nest.real("cdist", pair).to(a.type()));
    return nest.real("grad", pair).to(a.type()) * slope;
  });
}

// Pairs of rows
// -------------

// Pairs i < j of n rows in row-major order: those of row i begin at i (2 n - i - 1) / 2.
struct Pairs {
  const Nest& nest;
  std::int64_t rows;

  std::int64_t count() const { return rows * (rows - 1) / 2; }
  ScalarExpr first(const ScalarExpr& i) const {
    return quotient(i * (static_cast<double>(2 * rows - 1) - i), 2.0);
  }

  // The rows of a pair by its number: the root of a quadratic equation, corrected for rounding.
  std::pair<Index, Index> rows_of(const ScalarExpr& pair) const {
    const auto b = static_cast<double>(2 * rows - 1);
    const ScalarExpr root = sqrt(b * b - 8.0 * pair.to(DType::f64));
    ScalarExpr i = ((b - root) / 2.0).to(DType::i64);
    i = select(first(i) > pair, i - 1.0, i);
    i = select(first(i + 1.0) <= pair, i + 1.0, i);
    const ScalarExpr j = pair - first(i) + i + 1.0;
    return {nest.checked(i, rows, false), nest.checked(j, rows, false)};
  }

  // The number of a pair in either order; any number for a row with itself.
  Index position(const ScalarExpr& a, const ScalarExpr& b) const {
    const ScalarExpr i = smaller(a, b), j = larger(a, b);
    const ScalarExpr at = first(i) + (j - i - 1.0);
    return nest.checked(select(a == b, at.like(0), at), count(), false);
  }
};

void pdist(const Nest& nest) {
  const Shape& x = nest.shape_of("self");
  const Pairs pairs{nest, x[0]};
  if (pairs.count() == 0) return;
  Builder& builder = nest.lowering.builder();
  const std::size_t depth = builder.depth();
  const Index pair = builder.open_loop("i", pairs.count(), Builder::Order::parallel);
  const auto [i, j] = pairs.rows_of(nest.lowering.number(pair));
  const Index a = i, b = j;
  const ScalarExpr apart = distance(
      nest, x[1],
      [&](const Index& k) {
        return nest.real("self", {a, k});
      },
      [&](const Index& k) {
        return nest.real("self", {b, k});
      });
  nest.lowering.write(nest.output(), {pair}, apart);
  builder.close_to(depth);
}

void pdist_backward(const Nest& nest) {
  const Norm norm = norm_of(nest.call);
  const Pairs pairs{nest, nest.shape_of("self")[0]};
  if (pairs.count() == 0) return write_zeros(nest);
  sum_others(nest, pairs.rows, [&](const Indices& at, const Index& other) {
    const ScalarExpr row = nest.lowering.number(at[0]), second = nest.lowering.number(other);
    const Index pair = pairs.position(row, second);
    const ScalarExpr a = nest.real("self", at);
    const ScalarExpr d = difference_of(nest, a, nest.real("self", {other, at[1]}));
    const ScalarExpr slope = derivative(norm, d, nest.real("pdist", {pair}).to(a.type()));
    const ScalarExpr g = nest.real("grad", {pair}).to(a.type()) * slope;
    return select(row == second, g.like(0), g);
  });
}

// Vectors of two tensors
// ----------------------

// Two tensors, broadcast to one shape, and a dimension of it.
struct Vectors {
  const Nest& nest;
  Shape shape;
  std::size_t dim;
  DType type;

  explicit Vectors(const Nest& n)
      : nest(n),
        shape(broadcast(n.shape_of("x1"), n.shape_of("x2")).value()),
        dim(n.call.op().parameter("dim") ? n.dimension("dim", shape.size()) : shape.size() - 1),
        type(n.computing(n.type().dtype)) {}

  ReductionSpace space() const {
    std::vector<bool> reduced(shape.size(), false);
    reduced[dim] = true;
    return {shape, reduced, contiguous_strides(shape)};
  }
  ScalarExpr element(std::string_view parameter, const Indices& at) const {
    return nest.real(parameter, broadcast_index(at, nest.shape_of(parameter))).to(type);
  }
  // An accumulation of the compute type `in`.
  Accumulation sum(const std::string& name, DType in,
                   const std::function<ScalarExpr(const Indices&)>& term) const {
    return {name, Combine::add, nest.lowering.constant(in, 0), term};
  }
  void write(const Reducer& reducer, const ScalarExpr& value) const {
    Indices at = reducer.at();
    if (nest.type().shape.size() < shape.size())
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(dim));
    nest.lowering.write(nest.output(), at, value);
  }
};

// Each norm is clamped to eps from below, as in torch. Squares of f32 are summed in f64, for its
// range.
void cosine_similarity(const Nest& nest) {
  const Vectors v(nest);
  const double eps = nest.call.real("eps");
  const auto product = [&](std::string_view a, std::string_view b) {
    return [&v, a, b](const Indices& at) {
      return v.element(a, at).to(DType::f64) * v.element(b, at).to(DType::f64);
    };
  };
  for_each_ordered_reduction(nest.lowering, v.space(), [&](Reducer& reducer) {
    const auto sums = reducer.reduce({v.sum("aa", DType::f64, product("x1", "x1")),
                                      v.sum("bb", DType::f64, product("x2", "x2")),
                                      v.sum("ab", DType::f64, product("x1", "x2"))});
    const ScalarExpr norms = larger(sqrt(sums[0]), eps) * larger(sqrt(sums[1]), eps);
    v.write(reducer, (sums[2] / norms).to(v.type));
  });
}

void pairwise_distance(const Nest& nest) {
  const Vectors v(nest);
  const Norm norm = norm_of(nest.call);
  const double eps = nest.call.real("eps");
  for_each_ordered_reduction(nest.lowering, v.space(), [&](Reducer& reducer) {
    const DType in = norm.total(v.type);
    Accumulation sum = v.sum("distance", in, [&](const Indices& at) {
      return norm.term((v.element("x1", at) - v.element("x2", at) + eps).to(in));
    });
    sum.how = norm.combine();
    v.write(reducer, norm.finish(reducer.reduce(sum)).to(v.type));
  });
}

std::optional<std::string> bare_numbers(const Call& call) {
  if (call.tensor("x1").shape.empty() && call.tensor("x2").shape.empty())
    return "numbers without dimensions";
  return std::nullopt;
}

}  // namespace

void add_distance_nests(NestTable& table) {
  for (const Op op : {Op::_cdist_forward, Op::cdist, Op::_euclidean_dist})
    table.push_back({op, cdist});
  table.push_back({Op::_cdist_backward, cdist_backward});
  for (const Op op : {Op::_pdist_forward, Op::pdist}) table.push_back({op, pdist});
  table.push_back({Op::_pdist_backward, pdist_backward});
  table.push_back({Op::cosine_similarity, cosine_similarity, bare_numbers});
  table.push_back({Op::pairwise_distance, pairwise_distance, bare_numbers});
}

}  // namespace recut::loop
