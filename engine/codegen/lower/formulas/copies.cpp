// Casts, copies, and copies of views.
#include "engine/codegen/lower/formula.h"

namespace recut::loop {
namespace {

// The element of a tensor or scalar argument; the store casts it. Integers stay integers, so that
// no bit of an i64 is lost.
ScalarExpr copied(const ElementContext& ctx, std::string_view parameter) {
  if (ctx.call.is_tensor(parameter)) return ctx.raw(parameter);
  const Scalar scalar = ctx.call.scalar(parameter);
  Builder* builder = &ctx.lowering.builder();
  if (scalar.category == DType::f64) return ScalarExpr::constant(builder, DType::f64, scalar.real);
  return ScalarExpr::constant(builder, DType::i64, scalar.integer);
}

ScalarExpr copy_first(const ElementContext& ctx) {
  return copied(ctx, ctx.call.op().parameters[0].name);
}
ScalarExpr copy_src(const ElementContext& ctx) { return copied(ctx, "src"); }
ScalarExpr fill(const ElementContext& ctx) { return copied(ctx, "value"); }
ScalarExpr zero(const ElementContext& ctx) {
  return ctx.lowering.constant(value_type(ctx.dtype()), 0);
}

// The element of a view of the first operand.
ScalarExpr shown(const ElementContext& ctx) {
  const auto view_map = compose_view(ctx.lowering.graph(), ctx.output.node, ctx.output.output);
  RECUT_CHECK(view_map.ok(), "lower() has looked at every view");
  return ctx.lowering.element(*view_map, ctx.at);
}

// Bitcasts between dtypes
// -----------------------

// An element's bits, in the low bits of an i64.
ScalarExpr bits_of(const ScalarExpr& element, DType dtype) {
  if (dtype == DType::f64) return element.reinterpreted(DType::i64);
  const ScalarExpr bits = dtype == DType::f32 ? element.reinterpreted(DType::i32).to(DType::i64)
                                              : element.to(DType::i64);
  const std::int64_t width = 8 * item_bytes(dtype);
  if (width == 64) return bits;
  return bits & ScalarExpr::constant(bits.builder(), DType::i64, (std::int64_t{1} << width) - 1);
}

// The inverse: an element from the low bits.
ScalarExpr from_bits(const ScalarExpr& bits, DType dtype) {
  if (dtype == DType::f64) return bits.reinterpreted(DType::f64);
  return dtype == DType::f32 ? bits.to(DType::i32).reinterpreted(DType::f32) : bits;
}

// Little-endian: an output element is a part of one element of self, or concatenates several.
ScalarExpr reread(const ElementContext& ctx) {
  const DType from = ctx.call.tensor("self").dtype;
  const std::int64_t own = item_bytes(ctx.dtype()), other = item_bytes(from);
  const auto bits_at = [&](const Index& last) {
    Indices at = ctx.at;
    if (!at.empty()) at.back() = last;
    return bits_of(ctx.raw("self", at), from);
  };
  const Index last = ctx.at.empty() ? Index(0) : ctx.at.back();
  if (own < other) {
    const Builder& builder = ctx.lowering.builder();
    const ScalarExpr part = ctx.lowering.number(builder.remainder(last, other / own));
    const ScalarExpr bits = bits_at(builder.quotient(last, other / own));
    return from_bits(shift_right(bits, part * static_cast<double>(8 * own)), ctx.dtype());
  }
  ScalarExpr bits = bits_at(own / other * last);
  for (std::int64_t n = 1; n < own / other; ++n)
    bits = bits |
           shift_left(bits_at(own / other * last + Index(n)), static_cast<double>(8 * other * n));
  return from_bits(bits, ctx.dtype());
}

// Loads widen two-byte floats, and read any non-zero byte as true.
std::optional<std::string> widened(const Call& call) {
  const DType from = call.tensor("self").dtype, to = *call.maybe_dtype("dtype");
  for (const DType dtype : {from, to})
    if (dtype == DType::f16 || dtype == DType::bf16) return "the bytes of f16 or bf16";
  if (to == DType::boolean) return "bytes as bools";
  return std::nullopt;
}

}  // namespace

void add_copy_formulas(FormulaTable& table) {
  for (const Op op :
       {Op::clone, Op::_to_copy, Op::prims_convert_element_type, Op::prims_device_put,
        Op::lift_fresh_copy, Op::_to_sparse, Op::_to_sparse_sparse_dim, Op::_to_dense})
    table.push_back({op, copy_first, nullptr, FormulaDTypes::float8});
  for (const Op op : {Op::view_dtype, Op::view_copy_dtype}) table.push_back({op, reread, widened});
  table.push_back({Op::copy, copy_src, nullptr, FormulaDTypes::float8});
  for (const Op op : {Op::fill_Scalar, Op::fill_Tensor}) table.push_back({op, fill});
  table.push_back({Op::zero, zero});
  for (const Operator& op : all_operators())
    if (layout::rule_of(op.op) != nullptr && !op.is(kView))
      table.push_back({op.op, shown, nullptr, FormulaDTypes::float8});
}

}  // namespace recut::loop
