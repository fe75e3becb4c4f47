// Contractions as plain nests: products of vectors and matrices of any rank, and their sums, which
// PyTorch decompositions turn into mm and bmm.
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

// Element `at` of the output is finish(sum over k in a space of left(at, k) * right(at, k), at).
struct Contraction {
  const Nest& nest;
  Shape reduced;
  std::function<ScalarExpr(const Indices&, const Indices&)> term;

  // In the compute type of the output.
  ScalarExpr element(std::string_view parameter, const Indices& at) const {
    return nest.raw(parameter, at).to(nest.computing(nest.type().dtype));
  }

  void run(const std::function<ScalarExpr(const ScalarExpr&, const Indices&)>& finish) const {
    const Shape& out = nest.type().shape;
    ReductionSpace space{out, std::vector<bool>(out.size(), false), {}};
    space.shape.insert(space.shape.end(), reduced.begin(), reduced.end());
    space.reduced.resize(space.shape.size(), true);
    space.strides = contiguous_strides(space.shape);
    const ScalarExpr zero = nest.lowering.constant(nest.computing(nest.type().dtype), 0);
    const auto rank = static_cast<std::ptrdiff_t>(out.size());
    for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
      const ScalarExpr sum = reducer.reduce({"sum", Combine::add, zero, [&](const Indices& at) {
                                               return term(Indices(at.begin(), at.begin() + rank),
                                                           Indices(at.begin() + rank, at.end()));
                                             }});
      const Indices at(reducer.at().begin(), reducer.at().begin() + rank);
      nest.lowering.write(nest.output(), at, finish(sum, at));
    });
  }
  void run() const {
    run([](const ScalarExpr& sum, const Indices&) { return sum; });
  }
};

// matmul: leading dimensions are a broadcast batch. A vector is a row on the left and a column on
// the right, and its dimension is dropped from the result.
void matmul(const Nest& nest, std::string_view left, std::string_view right) {
  const Shape& a = nest.shape_of(left);
  const Shape& b = nest.shape_of(right);
  const bool rows = a.size() > 1, columns = b.size() > 1;
  Contraction c{nest, {a.back()}, {}};
  c.term = [&](const Indices& at, const Indices& k) {
    Indices batch(at.begin(), at.end() - (rows ? 1 : 0) - (columns ? 1 : 0));
    Indices left_at = batch, right_at = batch;
    if (rows) left_at.push_back(at[batch.size()]);
    left_at.push_back(k[0]);
    right_at.push_back(k[0]);
    if (columns) right_at.push_back(at.back());
    const ScalarExpr x = c.element(left, broadcast_index(left_at, a));
    return x * c.element(right, broadcast_index(right_at, b));
  };
  c.run();
}

void matmul(const Nest& nest) { matmul(nest, "self", "other"); }
void mv(const Nest& nest) { matmul(nest, "self", "vec"); }
void dot(const Nest& nest) { matmul(nest, "self", nest.call.op().parameters[1].name); }

// All rows of the left with all rows of the right.
void rows_by_rows(const Nest& nest, std::string_view left, std::string_view right,
                  std::string_view bias) {
  const auto left_rank = static_cast<std::ptrdiff_t>(nest.shape_of(left).size() - 1);
  Contraction c{nest, {nest.shape_of(left).back()}, {}};
  c.term = [&](const Indices& at, const Indices& k) {
    Indices left_at(at.begin(), at.begin() + left_rank), right_at(at.begin() + left_rank, at.end());
    left_at.push_back(k[0]);
    right_at.push_back(k[0]);
    const ScalarExpr x = c.element(left, left_at);
    return x * c.element(right, right_at);
  };
  c.run([&](const ScalarExpr& sum, const Indices& at) {
    if (!nest.has(bias)) return sum;
    return sum + c.element(bias, broadcast_index(at, nest.shape_of(bias)));
  });
}

void inner(const Nest& nest) { rows_by_rows(nest, "self", "other", ""); }
void linear(const Nest& nest) { rows_by_rows(nest, "input", "weight", "bias"); }

void outer(const Nest& nest) {
  const Layout whole = output_layout(nest.type());
  const DType type = nest.computing(nest.type().dtype);
  nest.lowering.for_each(whole.shape, whole.strides, [&](const Indices& at) {
    const ScalarExpr x = nest.raw("self", {at[0]}).to(type);
    nest.lowering.write(nest.output(), at, x * nest.raw("vec2", {at[1]}).to(type));
  });
}

// beta * self + alpha * product; self is not read where beta is 0.
std::function<ScalarExpr(const ScalarExpr&, const Indices&)> plus_self(const Contraction& c) {
  return [&c](const ScalarExpr& product, const Indices& at) {
    const auto scaled = [&](std::string_view by, const ScalarExpr& x) {
      const Scalar number = c.nest.call.scalar(by);
      return x * (x.real() ? number.real : static_cast<double>(number.integer));
    };
    if (c.nest.call.scalar("beta").real == 0) return scaled("alpha", product);
    const ScalarExpr self = c.element("self", broadcast_index(at, c.nest.shape_of("self")));
    return scaled("beta", self) + scaled("alpha", product);
  };
}

void addmv(const Nest& nest) {
  Contraction c{nest, {nest.shape_of("vec")[0]}, {}};
  c.term = [&](const Indices& at, const Indices& k) {
    const ScalarExpr x = c.element("mat", {at[0], k[0]});
    return x * c.element("vec", {k[0]});
  };
  c.run(plus_self(c));
}

void addr(const Nest& nest) {
  Contraction c{nest, {}, {}};
  c.term = [&](const Indices& at, const Indices&) {
    const ScalarExpr x = c.element("vec1", {at[0]});
    return x * c.element("vec2", {at[1]});
  };
  c.run(plus_self(c));
}

// The products of all batches, added up.
void addbmm(const Nest& nest) {
  const Shape& left = nest.shape_of("batch1");
  Contraction c{nest, {left[0], left[2]}, {}};
  c.term = [&](const Indices& at, const Indices& k) {
    const ScalarExpr x = c.element("batch1", {k[0], at[0], k[1]});
    return x * c.element("batch2", {k[0], k[1], at[1]});
  };
  c.run(plus_self(c));
}

// Cross products along a dimension of size 3.
void cross(const Nest& nest) {
  const Layout out = output_layout(nest.type());
  const std::size_t dim = nest.dimension("dim", out.shape.size());
  const DType type = nest.computing(nest.type().dtype);
  nest.lowering.for_each(out.shape, out.strides, [&](const Indices& at) {
    const auto element = [&](std::string_view parameter, std::int64_t behind) {
      Indices position = at;
      position[dim] = nest.lowering.builder().remainder(at[dim] + Index(behind), 3);
      return nest.raw(parameter, broadcast_index(position, nest.shape_of(parameter))).to(type);
    };
    const ScalarExpr first = element("self", 1) * element("other", 2);
    nest.lowering.write(nest.output(), at, first - element("self", 2) * element("other", 1));
  });
}

std::optional<std::string> numbers(const Call& call) {
  for (std::size_t p = 0; p < 2; ++p)
    if (call.tensor(call.op().parameters[p].name).shape.empty())
      return "numbers without dimensions";
  return std::nullopt;
}

}  // namespace

void add_contraction_nests(NestTable& table) {
  table.push_back({Op::matmul, matmul});
  table.push_back({Op::mv, mv});
  for (const Op op : {Op::dot, Op::vdot}) table.push_back({op, dot});
  for (const Op op : {Op::outer, Op::ger}) table.push_back({op, outer});
  table.push_back({Op::inner, inner, numbers});
  table.push_back({Op::linear, linear});
  table.push_back({Op::addmv, addmv});
  table.push_back({Op::addr, addr});
  table.push_back({Op::addbmm, addbmm});
  table.push_back({Op::linalg_cross, cross});
}

}  // namespace recut::loop
