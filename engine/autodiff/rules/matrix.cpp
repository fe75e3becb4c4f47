// Matrix products (mm, bmm, matmul, linear, dot, outer) and their compositions (addmm, baddbmm).
//
//   C = A B   =>   dA = dC B^T,   dB = A^T dC
//
// Each VJP is a product of the same kind, which is differentiable again; both together cost twice
// the forward product. Products are written so that the gradient has the layout of its operand:
// transposes then cancel instead of becoming copies.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

Value turned(const Value& matrix) {
  return matrix.valid() ? matrix.builder()->transpose(matrix) : matrix;
}

// a b, or (b^T a^T)^T if the operand that it is the gradient of is column-major. The gradient then
// has the operand's layout, and views of views cancel.
Value product_like(const Value& like, const Value& a, const Value& b) {
  Builder& builder = *a.builder();
  const Op op = like.rank() == 3 ? Op::bmm : Op::mm;
  const Strides& strides = like.type().strides;
  const std::size_t n = strides.size();
  const bool by_columns = !is_contiguous(like.type()) && strides[n - 2] == 1;
  if (by_columns) return turned(builder(op, {turned(b), turned(a)}));
  return builder(op, {a, b});
}

Value left(Site& s, const char* mine, const char* its) {
  return product_like(s[mine], s.grad(), turned(s[its]));
}
Value right(Site& s, const char* mine, const char* its) {
  return product_like(s[mine], turned(s[its]), s.grad());
}

Value outer(const Value& column, const Value& row) {
  Builder& b = *column.builder();
  return b.view(column, {column.count(), 1}) * b.view(row, {1, row.count()});
}
Value matrix_vector(const Value& matrix, const Value& vector) {
  return (*matrix.builder())(Op::mv, {matrix, vector});
}

Value beta(Site& s) { return s.scaled(s.grad(), "beta"); }

// The gradient of a sum of products is the same for each batch.
Value for_each_batch(Site& s) {
  return s.b.expand(s.grad(), {s["batch1"].size(0), s.grad().size(0), s.grad().size(1)});
}

std::vector<Value> addmm_activation(Site& s) {
  const Value sum = s.b(Op::addmm, {s["self"], s["mat1"], s["mat2"]},
                        {{"beta", s.given("beta")}, {"alpha", s.given("alpha")}});
  if (!s.boolean("use_gelu")) return {s.b.relu(sum)};
  return {s.b(Op::gelu, {sum})};
}

Shape leading(const Shape& shape, std::size_t without) {
  return Shape(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(without));
}

// More than two dimensions: leading ones broadcast and made one.
Value batched_product(const Value& a, const Value& b) {
  Builder& builder = *a.builder();
  auto batch = broadcast(leading(a.shape(), 2), leading(b.shape(), 2));
  if (!batch) return builder.fail(batch.diagnostics().front().message);
  const auto flat = [&](const Value& v) {
    Shape shape = *batch;
    shape.insert(shape.end(), {v.size(-2), v.size(-1)});
    return builder.view(builder.expand(v, shape), {element_count(*batch), v.size(-2), v.size(-1)});
  };
  const Value product = builder(Op::bmm, {flat(a), flat(b)});
  batch->insert(batch->end(), {a.size(-2), b.size(-1)});
  return builder.view(product, *batch);
}

// A matrix as the second factor takes all rows of the first at once.
Value rows_product(const Value& a, const Value& matrix) {
  Builder& b = *a.builder();
  Shape shape = leading(a.shape(), 1);
  const Value flat = b.view(a, {element_count(shape), a.size(-1)});
  shape.push_back(matrix.size(-1));
  return b.view(b.mm(flat, matrix), shape);
}

Value any_product(const Value& a, const Value& b) {
  if (!a.valid() || !b.valid()) return {};
  Builder& builder = *a.builder();
  if (a.rank() == 1 && b.rank() == 1) return builder(Op::dot, {a, b});
  if (a.rank() == 2 && b.rank() == 1) return matrix_vector(a, b);
  if (b.rank() == 1)
    return builder(Op::squeeze_dim, {any_product(a, builder.view(b, {b.count(), 1})), -1});
  if (a.rank() == 1)
    return builder(Op::squeeze_dim, {any_product(builder.view(a, {1, a.count()}), b), -2});
  if (b.rank() == 2) return rows_product(a, b);
  return batched_product(a, b);
}

std::vector<Value> matmul(Site& s) { return {any_product(s["self"], s["other"])}; }

std::vector<Value> inner(Site& s) {
  const Value a = s["self"], b = s["other"];
  if (a.rank() == 0 || b.rank() == 0) return {a * b};
  Shape shape = leading(a.shape(), 1), its = leading(b.shape(), 1);
  const Value product = s.b.mm(s.b.view(a, {element_count(shape), a.size(-1)}),
                               turned(s.b.view(b, {element_count(its), b.size(-1)})));
  shape.insert(shape.end(), its.begin(), its.end());
  return {s.b.view(product, shape)};
}

std::vector<Value> linear_layer(Site& s) {
  const Value x = s["input"], w = s["weight"], bias = s["bias"];
  const Value product = w.rank() == 1   ? any_product(x, w)
                        : x.rank() == 1 ? matrix_vector(w, x)
                                        : rows_product(x, s.b.permute(w, {1, 0}));
  return {plus(product, bias)};
}

std::vector<Value> trilinear(Site& s) {
  const auto widened = [&](const char* operand, const char* dims) {
    Value v = s[operand];
    for (const std::int64_t d : s.integers(dims)) v = s.b(Op::unsqueeze, {v, d});
    return v;
  };
  const Value product =
      widened("i1", "expand1") * widened("i2", "expand2") * widened("i3", "expand3");
  const auto dims = s.integers("sumdim");
  return {dims.empty() ? product : s.b.sum(product, dims)};
}

Rows products() {
  return {
      linear({Op::mm}, {{"self", [](Site& s) { return left(s, "self", "mat2"); }},
                        {"mat2", [](Site& s) { return right(s, "mat2", "self"); }}}),
      linear({Op::bmm}, {{"self", [](Site& s) { return left(s, "self", "mat2"); }},
                         {"mat2", [](Site& s) { return right(s, "mat2", "self"); }}}),
      formulas({Op::addmm},
               {{"self", beta},
                {"mat1", [](Site& s) { return s.scaled(left(s, "mat1", "mat2"), "alpha"); }},
                {"mat2", [](Site& s) { return s.scaled(right(s, "mat2", "mat1"), "alpha"); }}}),
      expands({Op::_addmm_activation}, addmm_activation),
      formulas(
          {Op::baddbmm},
          {{"self", beta},
           {"batch1", [](Site& s) { return s.scaled(left(s, "batch1", "batch2"), "alpha"); }},
           {"batch2", [](Site& s) { return s.scaled(right(s, "batch2", "batch1"), "alpha"); }}}),
      formulas({Op::addbmm}, {{"self", beta},
                              {"batch1",
                               [](Site& s) {
                                 const Value g = for_each_batch(s);
                                 return s.scaled(s.b(Op::bmm, {g, turned(s["batch2"])}), "alpha");
                               }},
                              {"batch2",
                               [](Site& s) {
                                 const Value g = for_each_batch(s);
                                 return s.scaled(s.b(Op::bmm, {turned(s["batch1"]), g}), "alpha");
                               }}}),
  };
}

Rows vectors() {
  return {
      linear({Op::mv},
             {{"self", [](Site& s) { return outer(s.grad(), s["vec"]); }},
              {"vec", [](Site& s) { return matrix_vector(turned(s["self"]), s.grad()); }}}),
      formulas(
          {Op::addmv},
          {{"self", beta},
           {"mat", [](Site& s) { return s.scaled(outer(s.grad(), s["vec"]), "alpha"); }},
           {"vec",
            [](Site& s) { return s.scaled(matrix_vector(turned(s["mat"]), s.grad()), "alpha"); }}}),
      formulas(
          {Op::addr},
          {{"self", beta},
           {"vec1", [](Site& s) { return s.scaled(matrix_vector(s.grad(), s["vec2"]), "alpha"); }},
           {"vec2",
            [](Site& s) {
              return s.scaled(matrix_vector(turned(s.grad()), s["vec1"]), "alpha");
            }}}),
      linear({Op::dot}, {{"self", [](Site& s) { return s.grad() * s["tensor"]; }},
                         {"tensor", [](Site& s) { return s.grad() * s["self"]; }}}),
      linear({Op::vdot}, {{"self", [](Site& s) { return s.grad() * s["other"]; }},
                          {"other", [](Site& s) { return s.grad() * s["self"]; }}}),
      linear({Op::outer, Op::ger},
             {{"self", [](Site& s) { return matrix_vector(s.grad(), s["vec2"]); }},
              {"vec2", [](Site& s) { return matrix_vector(turned(s.grad()), s["self"]); }}}),
      expands({Op::inner}, inner),
      expands({Op::matmul}, matmul),
      expands({Op::linear}, linear_layer),
      expands({Op::_trilinear}, trilinear),
  };
}

}  // namespace

Rows matrix_rows() {
  Rows rows = products();
  for (Row& row : vectors()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
