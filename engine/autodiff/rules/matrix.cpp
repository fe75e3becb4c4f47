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

Value transposed(const Value& matrix) {
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
  if (by_columns) return transposed(builder(op, {transposed(b), transposed(a)}));
  return builder(op, {a, b});
}

Value left(VjpContext& ctx, const char* mine, const char* its) {
  return product_like(ctx[mine], ctx.grad(), transposed(ctx[its]));
}
Value right(VjpContext& ctx, const char* mine, const char* its) {
  return product_like(ctx[mine], transposed(ctx[its]), ctx.grad());
}

Value outer(const Value& column, const Value& row) {
  Builder& b = *column.builder();
  return b.view(column, {column.count(), 1}) * b.view(row, {1, row.count()});
}
Value matrix_vector(const Value& matrix, const Value& vector) {
  return (*matrix.builder())(Op::mv, {matrix, vector});
}

Value beta(VjpContext& ctx) { return ctx.scaled(ctx.grad(), "beta"); }

// The gradient of a sum of products is the same for each batch.
Value for_each_batch(VjpContext& ctx) {
  return ctx.b.expand(ctx.grad(), {ctx["batch1"].size(0), ctx.grad().size(0), ctx.grad().size(1)});
}

std::vector<Value> addmm_activation(VjpContext& ctx) {
  const Value sum = ctx.b(Op::addmm, {ctx["self"], ctx["mat1"], ctx["mat2"]},
                          {{"beta", ctx.given("beta")}, {"alpha", ctx.given("alpha")}});
  if (!ctx.boolean("use_gelu")) return {ctx.b.relu(sum)};
  return {ctx.b(Op::gelu, {sum})};
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

std::vector<Value> matmul(VjpContext& ctx) { return {any_product(ctx["self"], ctx["other"])}; }

std::vector<Value> inner(VjpContext& ctx) {
  const Value a = ctx["self"], b = ctx["other"];
  if (a.rank() == 0 || b.rank() == 0) return {a * b};
  Shape shape = leading(a.shape(), 1), its = leading(b.shape(), 1);
  const Value product = ctx.b.mm(ctx.b.view(a, {element_count(shape), a.size(-1)}),
                                 transposed(ctx.b.view(b, {element_count(its), b.size(-1)})));
  shape.insert(shape.end(), its.begin(), its.end());
  return {ctx.b.view(product, shape)};
}

std::vector<Value> linear_layer(VjpContext& ctx) {
  const Value x = ctx["input"], w = ctx["weight"], bias = ctx["bias"];
  const Value product = w.rank() == 1   ? any_product(x, w)
                        : x.rank() == 1 ? matrix_vector(w, x)
                                        : rows_product(x, ctx.b.permute(w, {1, 0}));
  return {plus(product, bias)};
}

std::vector<Value> trilinear(VjpContext& ctx) {
  const auto widened = [&](const char* operand, const char* dims) {
    Value v = ctx[operand];
    for (const std::int64_t d : ctx.integers(dims)) v = ctx.b(Op::unsqueeze, {v, d});
    return v;
  };
  const Value product =
      widened("i1", "expand1") * widened("i2", "expand2") * widened("i3", "expand3");
  const auto dims = ctx.integers("sumdim");
  return {dims.empty() ? product : ctx.b.sum(product, dims)};
}

// The product of the scaled numbers, in the dtype of the scales.
std::vector<Value> scaled_product(VjpContext& ctx) {
  const auto scaled = [&](const char* matrix, const char* scale) {
    const Value s = ctx[scale];
    const Value factor = s.count() == 1 ? ctx.b.view(s, {}) : s;
    return ctx.b.convert(ctx[matrix], s.dtype()) * factor;
  };
  const Value a = scaled("self", "scale_a"), b = scaled("mat2", "scale_b");
  Value out = ctx.b.mm(a, ctx.b.convert(b, a.dtype()));
  if (ctx["bias"].valid()) out = out + ctx.b.convert(ctx["bias"], out.dtype());
  if (ctx["scale_result"].valid() && is_float8(ctx.out_type().dtype))
    out = out * ctx.b.view(ctx["scale_result"], {});
  return {ctx.b.convert(out, ctx.out_type().dtype)};
}

Value grouped(VjpContext& ctx, const Value& a, const Value& b) {
  return ctx.b(Op::_grouped_mm, {a, b, ctx.given("offs"), None{}, ctx.grad().dtype()});
}

DerivativeRules products() {
  return {
      decomposes({Op::_scaled_mm}, scaled_product),
      linear({Op::_grouped_mm},
             {{"self",
               [](VjpContext& ctx) {
                 return grouped(ctx, ctx.grad(),
                                transposed(ctx.b.convert(ctx["mat2"], ctx.grad().dtype())));
               }},
              {"mat2",
               [](VjpContext& ctx) {
                 return grouped(ctx, transposed(ctx.b.convert(ctx["self"], ctx.grad().dtype())),
                                ctx.grad());
               }}}),
      linear({Op::mm}, {{"self", [](VjpContext& ctx) { return left(ctx, "self", "mat2"); }},
                        {"mat2", [](VjpContext& ctx) { return right(ctx, "mat2", "self"); }}}),
      linear({Op::bmm}, {{"self", [](VjpContext& ctx) { return left(ctx, "self", "mat2"); }},
                         {"mat2", [](VjpContext& ctx) { return right(ctx, "mat2", "self"); }}}),
      vjp({Op::addmm},
          {{"self", beta},
           {"mat1", [](VjpContext& ctx) { return ctx.scaled(left(ctx, "mat1", "mat2"), "alpha"); }},
           {"mat2",
            [](VjpContext& ctx) { return ctx.scaled(right(ctx, "mat2", "mat1"), "alpha"); }}}),
      decomposes({Op::_addmm_activation}, addmm_activation),
      vjp({Op::baddbmm},
          {{"self", beta},
           {"batch1",
            [](VjpContext& ctx) { return ctx.scaled(left(ctx, "batch1", "batch2"), "alpha"); }},
           {"batch2",
            [](VjpContext& ctx) { return ctx.scaled(right(ctx, "batch2", "batch1"), "alpha"); }}}),
      vjp({Op::addbmm},
          {{"self", beta},
           {"batch1",
            [](VjpContext& ctx) {
              const Value g = for_each_batch(ctx);
              return ctx.scaled(ctx.b(Op::bmm, {g, transposed(ctx["batch2"])}), "alpha");
            }},
           {"batch2",
            [](VjpContext& ctx) {
              const Value g = for_each_batch(ctx);
              return ctx.scaled(ctx.b(Op::bmm, {transposed(ctx["batch1"]), g}), "alpha");
            }}}),
  };
}

DerivativeRules vectors() {
  return {
      linear({Op::mv}, {{"self", [](VjpContext& ctx) { return outer(ctx.grad(), ctx["vec"]); }},
                        {"vec",
                         [](VjpContext& ctx) {
                           return matrix_vector(transposed(ctx["self"]), ctx.grad());
                         }}}),
      vjp({Op::addmv},
          {{"self", beta},
           {"mat",
            [](VjpContext& ctx) { return ctx.scaled(outer(ctx.grad(), ctx["vec"]), "alpha"); }},
           {"vec",
            [](VjpContext& ctx) {
              return ctx.scaled(matrix_vector(transposed(ctx["mat"]), ctx.grad()), "alpha");
            }}}),
      vjp({Op::addr}, {{"self", beta},
                       {"vec1",
                        [](VjpContext& ctx) {
                          return ctx.scaled(matrix_vector(ctx.grad(), ctx["vec2"]), "alpha");
                        }},
                       {"vec2",
                        [](VjpContext& ctx) {
                          return ctx.scaled(matrix_vector(transposed(ctx.grad()), ctx["vec1"]),
                                            "alpha");
                        }}}),
      linear({Op::dot}, {{"self", [](VjpContext& ctx) { return ctx.grad() * ctx["tensor"]; }},
                         {"tensor", [](VjpContext& ctx) { return ctx.grad() * ctx["self"]; }}}),
      linear({Op::vdot}, {{"self", [](VjpContext& ctx) { return ctx.grad() * ctx["other"]; }},
                          {"other", [](VjpContext& ctx) { return ctx.grad() * ctx["self"]; }}}),
      linear(
          {Op::outer, Op::ger},
          {{"self", [](VjpContext& ctx) { return matrix_vector(ctx.grad(), ctx["vec2"]); }},
           {"vec2",
            [](VjpContext& ctx) { return matrix_vector(transposed(ctx.grad()), ctx["self"]); }}}),
      decomposes({Op::inner}, inner),
      decomposes({Op::matmul}, matmul),
      decomposes({Op::linear}, linear_layer),
      decomposes({Op::_trilinear}, trilinear),
  };
}

}  // namespace

DerivativeRules matrix_rules() {
  DerivativeRules rows = products();
  for (DerivativeRule& row : vectors()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
