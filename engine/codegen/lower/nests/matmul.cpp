// Matrix products, in tiles or as plain nests. Targets may call a library instead.
#include <cmath>

#include "engine/codegen/lower/nests/grouped_matmul.h"
#include "engine/codegen/lower/nests/tiled_matmul.h"

namespace recut::loop {
namespace {

// out[b, i, j] = finish(sum over k of left[b, i, k] * right[b, k, j]); without a batch, two
// indices.
struct Product {
  std::string_view left, right;
  bool batched = false;
};

// The space b, i, j, k with the cost of a step in both operands and the output.
ReductionSpace space_of(const Nest& nest, const Product& p) {
  const Shape& left = nest.shape_of(p.left);
  const Shape& right = nest.shape_of(p.right);
  const std::size_t r = p.batched ? 1 : 0;
  const Strides a = walking_strides(nest.lowering, nest.call.node(p.left));
  const Strides b = walking_strides(nest.lowering, nest.call.node(p.right));
  ReductionSpace space{{left[r], right[r + 1], left[r + 1]},
                       {false, false, true},
                       {a[r] + b[r] + a[r + 1], b[r + 1], a[r + 1] + b[r]}};
  if (p.batched) {
    space.shape.insert(space.shape.begin(), left[0]);
    space.reduced.insert(space.reduced.begin(), false);
    space.strides.insert(space.strides.begin(), INT64_MAX);
  }
  return space;
}

using Finish = std::function<ScalarExpr(ScalarExpr, const Indices&)>;

TiledMatmul tiled(const Nest& nest, const Product& p, const Finish& finish) {
  const Shape& left = nest.shape_of(p.left);
  const Shape& right = nest.shape_of(p.right);
  const std::size_t r = p.batched ? 1 : 0;
  TiledMatmul t;
  t.batch.assign(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(r));
  t.rows = left[r];
  t.depth = left[r + 1];
  t.columns = right[r + 1];
  t.type = nest.computing(nest.type().dtype);
  t.left = matmul_operand_of(nest, p.left, r, r + 1, t.type);
  t.right = matmul_operand_of(nest, p.right, r + 1, r, t.type);
  t.write = [&nest, &finish](const Indices& batch, const Index& row, const Index& column,
                             const ScalarExpr& sum) {
    Indices at = batch;
    at.insert(at.end(), {row, column});
    nest.lowering.write(nest.output(), at, finish(sum, at));
  };
  const Strides out = output_layout(nest.type()).strides;
  return out[r] < out[r + 1] ? t.transposed() : t;
}

void multiply(const Nest& nest, const Product& p, const Finish& finish) {
  if (const TiledMatmul t = tiled(nest, p, finish); is_tiling_profitable(nest.lowering, t))
    return emit_tiles(nest.lowering, t);
  const DType type = nest.computing(nest.type().dtype);
  for_each_ordered_reduction(nest.lowering, space_of(nest, p), [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, nest.lowering.constant(type, 0), [&](const Indices& at) {
           Indices left = at, right = at;
           left.erase(left.end() - 2);
           right.erase(right.end() - 3);
           std::swap(right[right.size() - 1], right[right.size() - 2]);
           const ScalarExpr a = nest.raw(p.left, left).to(type);
           return a * nest.raw(p.right, right).to(type);
         }});
    Indices at = reducer.at();
    at.pop_back();
    nest.lowering.write(nest.output(), at, finish(sum, at));
  });
}

// beta * self + alpha * product; self is not read where beta is 0.
ScalarExpr with_addend(const Nest& nest, const ScalarExpr& product, const Indices& at) {
  const DType common = nest.type().dtype;
  const Scalar beta = nest.call.scalar("beta");
  const Scalar alpha = nest.call.scalar("alpha");
  const auto scaled = [&](const Scalar& by, const ScalarExpr& x) {
    const double number = x.real() ? by.real : static_cast<double>(by.integer);
    return number == 1 ? x : number * x;
  };
  const ScalarExpr scaled_product = scaled(alpha, product);
  if (beta.real == 0) return scaled_product;
  const Indices position = broadcast_index(at, nest.shape_of("self"));
  const ScalarExpr self =
      nest.lowering.cast(nest.raw("self", position), nest.dtype_of("self"), common);
  return scaled(beta, self) + scaled_product;
}

ScalarExpr alone(ScalarExpr product, const Indices&) { return product; }

void mm(const Nest& nest) { multiply(nest, {"self", "mat2"}, alone); }
void bmm(const Nest& nest) { multiply(nest, {"self", "mat2", true}, alone); }
void addmm(const Nest& nest) {
  multiply(nest, {"mat1", "mat2"}, [&](const ScalarExpr& product, const Indices& at) {
    return with_addend(nest, product, at);
  });
}
void addmm_activation(const Nest& nest) {
  const bool gelu = nest.call.boolean("use_gelu");
  multiply(nest, {"mat1", "mat2"}, [&](const ScalarExpr& product, const Indices& at) {
    const ScalarExpr x = with_addend(nest, product, at);
    return gelu ? 0.5 * x * (1.0 + erf(x * std::sqrt(0.5))) : select(x < 0.0, x.like(0), x);
  });
}
void baddbmm(const Nest& nest) {
  multiply(nest, {"batch1", "batch2", true}, [&](const ScalarExpr& product, const Indices& at) {
    return with_addend(nest, product, at);
  });
}

// Scales are of whole operands, or of each row of self and each column of mat2.
void scaled_mm(const Nest& nest) {
  multiply(nest, {"self", "mat2"}, [&](const ScalarExpr& product, const Indices& at) {
    const auto operand = [&](std::string_view parameter) {
      const Shape& shape = nest.shape_of(parameter);
      const bool one = element_count(shape) == 1;
      const Indices position = one ? Indices(shape.size(), 0) : broadcast_index(at, shape);
      return nest.raw(parameter, position).to(product.type());
    };
    ScalarExpr x = product * (operand("scale_a") * operand("scale_b"));
    if (nest.has("bias")) x = x + operand("bias");
    const bool scaled = nest.has("scale_result") && is_float8(nest.type().dtype);
    return scaled ? x * operand("scale_result") : x;
  });
}

void grouped_mm(const Nest& nest) {
  if (nest.has("offs")) return multiply_groups(nest);
  bmm(nest);
}

std::optional<std::string> integers_of_gelu(const Call& call) {
  if (call.boolean("use_gelu") && !is_floating(call.tensor("mat1").dtype)) return "integers";
  return std::nullopt;
}

}  // namespace

void add_matmul_nests(NestTable& table) {
  for (const Op op : {Op::mm, Op::_int_mm}) table.push_back({op, mm});
  table.push_back({Op::bmm, bmm});
  table.push_back({Op::addmm, addmm});
  table.push_back({Op::_addmm_activation, addmm_activation, integers_of_gelu});
  table.push_back({Op::baddbmm, baddbmm});
  table.push_back({Op::_scaled_mm, scaled_mm, nullptr, nullptr, FormulaDTypes::float8});
  table.push_back({Op::_grouped_mm, grouped_mm});
}

}  // namespace recut::loop
