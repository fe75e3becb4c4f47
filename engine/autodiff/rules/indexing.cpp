// Elements read and written at indices that are data.
#include "engine/autodiff/rules/formula.h"
#include "engine/autodiff/rules/index_values.h"

namespace recut::autodiff {
namespace {

Value zeros_like_self(VjpContext& ctx) { return zeros(ctx.b, ctx["self"].type()); }

Value embedding(VjpContext& ctx) {
  return ctx.b(Op::embedding_dense_backward,
               {ctx.grad(), ctx["indices"], ctx["weight"].size(0), ctx.given("padding_idx"),
                ctx.given("scale_grad_by_freq")});
}

// Padding rows received no gradient.
Value embedding_again(VjpContext& ctx) {
  if (ctx.boolean("scale_grad_by_freq"))
    return ctx.b.fail("scaled by frequency, it has no derivative rule");
  const Value indices = ctx["indices"];
  const Value rows = ctx.b(Op::embedding, {ctx.grad(), indices});
  const std::int64_t padding = ctx.integer("padding_idx");
  if (padding < 0) return rows;
  return zero_where(ctx.b(Op::unsqueeze, {ctx.b(Op::eq_Scalar, {indices, padding}), -1}), rows);
}

Value gather(VjpContext& ctx) {
  return ctx.b(Op::scatter_add, {zeros_like_self(ctx), ctx.given("dim"), ctx["index"], ctx.grad()});
}

// Of `src` only the part that `index` covers is read.
Value padded_to(const Value& part, const Shape& shape) {
  if (!part.valid() || part.shape() == shape) return part;
  std::vector<std::int64_t> pad;
  for (std::size_t d = shape.size(); d-- > 0;) {
    pad.push_back(0);
    pad.push_back(shape[d] - part.shape()[d]);
  }
  return (*part.builder())(Op::constant_pad_nd, {part, pad});
}

Value scatter_source(VjpContext& ctx, const Value& gradient) {
  return padded_to(ctx.b(Op::gather, {gradient, ctx.given("dim"), ctx["index"]}),
                   ctx["src"].shape());
}

Value scattered_over(VjpContext& ctx) {
  return ctx.b(Op::scatter_value, {ctx.grad(), ctx.given("dim"), ctx["index"], 0});
}

// scatter_reduce and index_reduce, the index in the shape of the source: `reduce` by name.
struct Reduction {
  VjpContext& ctx;
  std::int64_t dim;
  Value index, source;

  static Reduction scatter(VjpContext& ctx) {
    const Value self = ctx["self"], src = ctx["src"], index = ctx["index"];
    Value source = src;
    for (std::int64_t d = 0; d < index.rank(); ++d)
      if (source.size(d) != index.size(d))
        source = ctx.b(Op::slice_Tensor, {source, d, 0, index.size(d)});
    return {ctx, self.rank() == 0 ? 0 : ctx.dim("dim", self.rank()), index, source};
  }
  static Reduction index_of(VjpContext& ctx) {
    const Value self = ctx["self"], source = ctx["source"];
    if (source.rank() == 0) return {ctx, 0, ctx.b.view(ctx["index"], {}), source};
    const std::int64_t dim = ctx.dim("dim", self.rank());
    Shape shape(static_cast<std::size_t>(source.rank()), 1);
    shape[static_cast<std::size_t>(dim)] = ctx["index"].count();
    return {ctx, dim, ctx.b.expand(ctx.b.view(ctx["index"], shape), source.shape()), source};
  }

  bool is(std::string_view name) const { return ctx.text("reduce") == name; }
  bool include_self() const { return ctx.boolean("include_self"); }
  Value at_source(const Value& x) const { return ctx.b(Op::gather, {x, dim, index}); }
  Value sum_at_self(const Value& base, const Value& x) const {
    return ctx.b(Op::scatter_add, {base, dim, index, x});
  }

  // The number of elements reduced into each target.
  Value counts() const {
    const Value base = filled(ctx["self"], include_self() ? 1 : 0);
    const Value counts = sum_at_self(base, filled(source, 1));
    return number_where(ctx.b(Op::eq_Scalar, {counts, 0}), 1, counts);
  }
  // Positions of self that are overwritten, where self does not take part.
  Value without_replaced(const Value& gradient) const {
    if (include_self()) return gradient;
    return ctx.b(Op::scatter_value, {gradient, dim, index, 0});
  }
  // No element equals a NaN extreme, so the count is 0, and 0 / 0 makes the gradient NaN, too.
  Value equal_counts() const {
    const Value self = ctx["self"], y = ctx.out();
    const Value mine = ctx.b.convert(ctx.b(Op::eq_Tensor, {self, y}), self.dtype());
    const Value its = ctx.b.convert(ctx.b(Op::eq_Tensor, {source, at_source(y)}), self.dtype());
    return sum_at_self(without_replaced(mine), its);
  }

  Value for_self() const {
    const Value g = ctx.grad(), self = ctx["self"];
    if (is("sum")) return without_replaced(g);
    if (is("mean")) return without_replaced(g / counts());
    if (is("prod")) {
      // the product of the scattered values, without self
      const Value others =
          ctx.b(Op::scatter_reduce_two, {filled(self, 1), dim, index, source, "prod"});
      return without_replaced(g * others);
    }
    const Value held = ctx.b(Op::eq_Tensor, {self, ctx.out()});
    return without_replaced(keep_where(held, g) / equal_counts());
  }

  Value for_source() const {
    const Value g = ctx.grad();
    if (is("sum")) return at_source(g);
    if (is("mean")) return at_source(g / counts());
    if (is("prod")) return at_source(g) * other_factors();
    const Value held = ctx.b(Op::eq_Tensor, {source, at_source(ctx.out())});
    return keep_where(held, at_source(g)) / at_source(equal_counts());
  }

  // The product of all other elements scattered to the same position. An element that is the only
  // 0 there gets the product of the others.
  Value other_factors() const {
    const Value zero = ctx.b(Op::eq_Scalar, {source, 0});
    const Value ones_for_zeros = number_where(zero, 1, source);
    const Value base = include_self() ? ctx["self"] : filled(ctx["self"], 1);
    const Value zero_count =
        at_source(sum_at_self(filled(ctx["self"], 0), ctx.b.convert(zero, source.dtype())));
    const Value without_zeros =
        at_source(ctx.b(Op::scatter_reduce_two, {base, dim, index, ones_for_zeros, "prod"}));
    const Value plain = at_source(ctx.out()) / ones_for_zeros;
    const Value only = ctx.b(Op::eq_Scalar, {zero_count, 1});
    return ctx.b.where(zero, keep_where(only, without_zeros), plain);
  }
};

Value scatter_reduce_self(VjpContext& ctx) { return Reduction::scatter(ctx).for_self(); }
Value scatter_reduce_source(VjpContext& ctx) {
  return padded_to(Reduction::scatter(ctx).for_source(), ctx["src"].shape());
}
Value index_reduce_self(VjpContext& ctx) { return Reduction::index_of(ctx).for_self(); }
Value index_reduce_source(VjpContext& ctx) { return Reduction::index_of(ctx).for_source(); }

Value index(VjpContext& ctx) {
  return ctx.b(Op::index_put, {zeros_like_self(ctx), ctx.given("indices"), ctx.grad(), true});
}
Value index_put_self(VjpContext& ctx) {
  if (ctx.boolean("accumulate")) return ctx.grad();
  const Value zero = ctx.b.full({}, 0, ctx.grad().dtype());
  return ctx.b(Op::index_put, {ctx.grad(), ctx.given("indices"), zero});
}

Value masked_index(VjpContext& ctx) {
  return ctx.b(Op::_unsafe_masked_index_put_accumulate,
               {zeros_like_self(ctx), ctx["mask"], ctx.given("indices"), ctx.grad()});
}
Value masked_put_values(VjpContext& ctx) {
  return ctx.b(Op::_unsafe_masked_index, {ctx.grad(), ctx["mask"], ctx.given("indices"), 0});
}

Value index_select(VjpContext& ctx) {
  if (ctx["self"].rank() == 0) return ctx.b.view(ctx.grad(), {});
  return ctx.b(Op::index_add, {zeros_like_self(ctx), ctx.given("dim"), ctx["index"], ctx.grad()});
}

// Rows of the gradient at the indices, in the source's shape (which may be zero-dimensional).
Value source_rows(VjpContext& ctx) {
  const Value rows = ctx.b(Op::index_select, {ctx.grad(), ctx.given("dim"), ctx["index"]});
  return ctx.b.view(rows, ctx["source"].shape());
}
Value index_filled(VjpContext& ctx) {
  return ctx.b(Op::index_fill_int_Scalar, {ctx.grad(), ctx.given("dim"), ctx["index"], 0});
}

Value masked_out(VjpContext& ctx) { return zero_where(ctx["mask"], ctx.grad()); }

Value masked_select(VjpContext& ctx) {
  const Value x = ctx["self"];
  const auto shape = broadcast(x.shape(), ctx["mask"].shape());
  if (!shape) return ctx.b.fail(shape.diagnostics().front().message);
  const Value base = ctx.b.full(*shape, 0, x.dtype());
  return ctx.b(Op::masked_scatter, {base, ctx.b.expand(ctx["mask"], *shape), ctx.grad()});
}

Value masked_scatter_source(VjpContext& ctx) {
  const Value mask = ctx.b.expand(ctx["mask"], ctx.grad().shape());
  return ctx.b(Op::masked_scatter_backward, {ctx.grad(), mask, ctx["source"].shape()});
}

Value take(VjpContext& ctx) {
  return ctx.b(Op::put, {zeros_like_self(ctx), ctx["index"], ctx.grad(), true});
}
Value put_self(VjpContext& ctx) {
  if (ctx.boolean("accumulate")) return ctx.grad();
  return ctx.b(Op::put, {ctx.grad(), ctx["index"], zeros(ctx.b, ctx["source"].type()), false});
}

std::vector<Value> take_along_dim(VjpContext& ctx) {
  const Value x = ctx["self"], indices = ctx["indices"];
  if (!ctx.is_given("dim"))
    return {
        ctx.b(Op::gather, {ctx.b.view(x, {x.count()}), 0, ctx.b.view(indices, {indices.count()})})};
  const std::int64_t dim = ctx.dim("dim", x.rank());
  Shape of_x = x.shape(), of_indices = indices.shape();
  for (std::size_t d = 0; d < of_x.size(); ++d) {
    if (static_cast<std::int64_t>(d) == dim) continue;
    of_x[d] = of_indices[d] = std::max(of_x[d], of_indices[d]);
  }
  return {ctx.b(Op::gather, {ctx.b.expand(x, of_x), dim, ctx.b.expand(indices, of_indices)})};
}

Value bag_rows(VjpContext& ctx) {
  if (ctx.boolean("sparse")) return ctx.b.fail("with sparse gradients it has no rule");
  return ctx.b(Op::_embedding_bag_dense_backward,
               {ctx.grad(), ctx["indices"], ctx.out(1), ctx.out(2), ctx.out(3),
                ctx["weight"].size(0), ctx.given("scale_grad_by_freq"), ctx.given("mode"),
                ctx.given("per_sample_weights"), ctx.given("padding_idx")});
}
Value bag_weights(VjpContext& ctx) {
  return ctx.b(Op::_embedding_bag_per_sample_weights_backward,
               {ctx.grad(), ctx["weight"], ctx["indices"], ctx["offsets"], ctx.out(1),
                ctx.given("mode"), ctx.given("padding_idx")});
}

// The number of occurrences of each index, at each index.
Value frequencies(VjpContext& ctx, const Value& indices, const Value& like, std::int64_t count) {
  const Value none = ctx.b.full({count}, 0, like.dtype(), like.type().device);
  const Value one = ctx.b.full(indices.shape(), 1, like.dtype(), like.type().device);
  return ctx.b(Op::index_select, {ctx.b(Op::index_add, {none, 0, indices, one}), 0, indices});
}

Value without_padding(VjpContext& ctx, const Value& values) {
  const std::int64_t padding = ctx.integer("padding_idx");
  if (padding < 0) return values;
  const Value skipped = ctx.b(Op::eq_Scalar, {ctx["indices"], padding});
  return zero_where(values.rank() > 1 ? ctx.b(Op::unsqueeze, {skipped, -1}) : skipped, values);
}

// Mode 0 sums a bag's rows, 1 averages them, 2 takes the largest of each column.
std::vector<Value> bag_rows_backward(VjpContext& ctx) {
  const Value grad = ctx["grad"], size = ctx["bag_size"];
  const std::int64_t mode = ctx.integer("mode"), count = ctx.integer("num_weights");
  const Value none = ctx.b.full({count, grad.size(1)}, 0, grad.dtype(), grad.type().device);
  if (mode == 2) {
    const Value empty_bag = ctx.b(Op::unsqueeze, {ctx.b(Op::eq_Scalar, {size, 0}), -1});
    return {ctx.b(Op::scatter_add, {none, 0, ctx["maximum_indices"], zero_where(empty_bag, grad)})};
  }
  const Value indices = ctx["indices"], bags = ctx["offset2bag"];
  const auto of_rows = [&](const Value& v) { return ctx.b(Op::unsqueeze, {v, -1}); };
  Value each = ctx.b(Op::index_select, {grad, 0, bags});
  if (mode == 1) {
    const Value sizes = ctx.b(Op::clamp_min, {ctx.b.convert(size, grad.dtype()), 1});
    each = each / of_rows(ctx.b(Op::index_select, {sizes, 0, bags}));
  }
  if (const Value weights = ctx["per_sample_weights"]; weights.valid())
    each = each * of_rows(weights);
  if (ctx.boolean("scale_grad_by_freq"))
    each = each / of_rows(frequencies(ctx, indices, grad, count));
  return {ctx.b(Op::index_add, {none, 0, indices, without_padding(ctx, each)})};
}

std::vector<Value> bag_weights_backward(VjpContext& ctx) {
  const Value each = product({ctx.b(Op::index_select, {ctx["grad"], 0, ctx["offset2bag"]}),
                              ctx.b(Op::index_select, {ctx["weight"], 0, ctx["indices"]})});
  return {without_padding(ctx, ctx.b.sum(each, {1}))};
}

// The older spelling of scatter_reduce.
std::vector<Value> scatter_reduced(VjpContext& ctx) {
  const bool number = ctx.has("value");
  const Value index = ctx["index"], self = ctx["self"];
  const Value src = number ? ctx.b.full(index.shape(), ctx.call().argument("value"), self.dtype(),
                                        self.type().device)
                           : ctx["src"];
  return {ctx.b(Op::scatter_reduce_two, {self, ctx.given("dim"), index, src,
                                         ctx.text("reduce") == "add" ? "sum" : "prod"})};
}

DerivativeRules bags() {
  return {
      vjp({Op::_embedding_bag}, {{"weight", bag_rows}, {"per_sample_weights", bag_weights}}, 1),
      decomposes({Op::_embedding_bag_dense_backward}, bag_rows_backward),
      decomposes({Op::_embedding_bag_per_sample_weights_backward}, bag_weights_backward),
  };
}

DerivativeRules by_dimension() {
  return {
      linear({Op::embedding}, {{"weight", embedding}}),
      linear({Op::embedding_dense_backward}, {{"grad_output", embedding_again}}),
      linear({Op::gather}, {{"self", gather}}),
      vjp({Op::scatter_src},
          {{"self", scattered_over},
           {"src", [](VjpContext& ctx) { return scatter_source(ctx, ctx.grad()); }}}),
      vjp({Op::scatter_value}, {{"self", scattered_over}}),
      vjp({Op::scatter_add},
          {{"self", same},
           {"src", [](VjpContext& ctx) { return scatter_source(ctx, ctx.grad()); }}}),
      vjp({Op::scatter_reduce_two},
          {{"self", scatter_reduce_self}, {"src", scatter_reduce_source}}),
      decomposes({Op::scatter_reduce, Op::scatter_value_reduce}, scatter_reduced),
      vjp({Op::index_reduce}, {{"self", index_reduce_self}, {"source", index_reduce_source}}),
      linear({Op::index_select}, {{"self", index_select}}),
      vjp({Op::index_add},
          {{"self", same},
           {"source", [](VjpContext& ctx) { return ctx.scaled(source_rows(ctx), "alpha"); }}}),
      vjp({Op::index_copy}, {{"self", index_filled}, {"source", source_rows}}),
      vjp({Op::index_fill_int_Scalar, Op::index_fill_int_Tensor},
          {{"self", index_filled},
           {"value",
            [](VjpContext& ctx) {
              return ctx.b.sum(
                  ctx.b(Op::index_select, {ctx.grad(), ctx.given("dim"), ctx["index"]}));
            }}}),
      decomposes({Op::take_along_dim}, take_along_dim),
  };
}

DerivativeRules by_index() {
  return {
      linear({Op::index_Tensor, Op::_unsafe_index_Tensor}, {{"self", index}}),
      vjp({Op::index_put, Op::_unsafe_index_put},
          {{"self", index_put_self}, {"values", indexed_values}}),
      vjp({Op::_unsafe_masked_index}, {{"self", masked_index}}),
      vjp({Op::_unsafe_masked_index_put_accumulate},
          {{"self", same}, {"values", masked_put_values}}),
      elementwise({Op::masked_fill_Scalar, Op::masked_fill_Tensor},
                  {{"self", masked_out},
                   {"value", [](VjpContext& ctx) { return keep_where(ctx["mask"], ctx.grad()); }}}),
      vjp({Op::masked_select}, {{"self", masked_select}}),
      vjp({Op::masked_scatter}, {{"self", masked_out}, {"source", masked_scatter_source}}),
      vjp({Op::masked_scatter_backward},
          {{"grad_output",
            [](VjpContext& ctx) {
              const Value base = zeros(ctx.b, ctx["grad_output"].type());
              return ctx.b(Op::masked_scatter, {base, ctx["mask"], ctx.grad()});
            }}}),
      linear({Op::take}, {{"self", take}}),
      vjp({Op::put}, {{"self", put_self},
                      {"source",
                       [](VjpContext& ctx) {
                         return ctx.b(Op::take, {ctx.grad(), ctx["index"]});
                       }}}),
  };
}

}  // namespace

DerivativeRules indexing_rules() {
  DerivativeRules rows = by_dimension();
  for (const auto family : {by_index, bags})
    for (DerivativeRule& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
