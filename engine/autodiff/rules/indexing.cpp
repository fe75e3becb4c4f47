// Elements read and written at indices that are data.
#include "engine/autodiff/rules/formula.h"
#include "engine/autodiff/rules/index_values.h"

namespace recut::autodiff {
namespace {

Value empty(Site& s) { return zeros(s.b, s["self"].type()); }

Value embedding(Site& s) {
  return s.b(Op::embedding_dense_backward, {s.grad(), s["indices"], s["weight"].size(0),
                                            s.given("padding_idx"), s.given("scale_grad_by_freq")});
}

// Rows of padding got nothing.
Value embedding_again(Site& s) {
  if (s.boolean("scale_grad_by_freq"))
    return s.b.fail("scaled by frequency, it has no derivative rule");
  const Value indices = s["indices"];
  const Value rows = s.b(Op::embedding, {s.grad(), indices});
  const std::int64_t padding = s.integer("padding_idx");
  if (padding < 0) return rows;
  return zero_where(s.b(Op::unsqueeze, {s.b(Op::eq_Scalar, {indices, padding}), -1}), rows);
}

Value gather(Site& s) {
  return s.b(Op::scatter_add, {empty(s), s.given("dim"), s["index"], s.grad()});
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

Value scatter_source(Site& s, const Value& gradient) {
  return padded_to(s.b(Op::gather, {gradient, s.given("dim"), s["index"]}), s["src"].shape());
}

Value scattered_over(Site& s) {
  return s.b(Op::scatter_value, {s.grad(), s.given("dim"), s["index"], 0});
}

// scatter_reduce and index_reduce, the index in the shape of the source: `reduce` by name.
struct Reduction {
  Site& s;
  std::int64_t dim;
  Value index, source;

  static Reduction scatter(Site& s) {
    const Value self = s["self"], src = s["src"], index = s["index"];
    Value source = src;
    for (std::int64_t d = 0; d < index.rank(); ++d)
      if (source.size(d) != index.size(d))
        source = s.b(Op::slice_Tensor, {source, d, 0, index.size(d)});
    return {s, self.rank() == 0 ? 0 : s.dim("dim", self.rank()), index, source};
  }
  static Reduction index_of(Site& s) {
    const Value self = s["self"], source = s["source"];
    if (source.rank() == 0) return {s, 0, s.b.view(s["index"], {}), source};
    const std::int64_t dim = s.dim("dim", self.rank());
    Shape shape(static_cast<std::size_t>(source.rank()), 1);
    shape[static_cast<std::size_t>(dim)] = s["index"].count();
    return {s, dim, s.b.expand(s.b.view(s["index"], shape), source.shape()), source};
  }

  bool is(std::string_view name) const { return s.text("reduce") == name; }
  bool include_self() const { return s.boolean("include_self"); }
  Value at_source(const Value& x) const { return s.b(Op::gather, {x, dim, index}); }
  Value sum_at_self(const Value& base, const Value& x) const {
    return s.b(Op::scatter_add, {base, dim, index, x});
  }

  // The number of elements reduced into each target.
  Value counts() const {
    const Value base = filled(s["self"], include_self() ? 1 : 0);
    const Value counts = sum_at_self(base, filled(source, 1));
    return number_where(s.b(Op::eq_Scalar, {counts, 0}), 1, counts);
  }
  // Places of self that are overwritten, where self does not take part.
  Value without_replaced(const Value& gradient) const {
    if (include_self()) return gradient;
    return s.b(Op::scatter_value, {gradient, dim, index, 0});
  }
  // None is equal to an extreme that is NaN: 0 / 0 makes the gradient NaN there, too.
  Value equal_counts() const {
    const Value self = s["self"], y = s.out();
    const Value mine = s.b.convert(s.b(Op::eq_Tensor, {self, y}), self.dtype());
    const Value its = s.b.convert(s.b(Op::eq_Tensor, {source, at_source(y)}), self.dtype());
    return sum_at_self(without_replaced(mine), its);
  }

  Value for_self() const {
    const Value g = s.grad(), self = s["self"];
    if (is("sum")) return without_replaced(g);
    if (is("mean")) return without_replaced(g / counts());
    if (is("prod")) {
      // the product of what was scattered, without self
      const Value others =
          s.b(Op::scatter_reduce_two, {filled(self, 1), dim, index, source, "prod"});
      return without_replaced(g * others);
    }
    const Value held = s.b(Op::eq_Tensor, {self, s.out()});
    return without_replaced(keep_where(held, g) / equal_counts());
  }

  Value for_source() const {
    const Value g = s.grad();
    if (is("sum")) return at_source(g);
    if (is("mean")) return at_source(g / counts());
    if (is("prod")) return at_source(g) * other_factors();
    const Value held = s.b(Op::eq_Tensor, {source, at_source(s.out())});
    return keep_where(held, at_source(g)) / at_source(equal_counts());
  }

  // The product of all that went to the same place but this element. A 0 that is the only one of
  // its place gets the product of the others.
  Value other_factors() const {
    const Value zero = s.b(Op::eq_Scalar, {source, 0});
    const Value ones_for_zeros = number_where(zero, 1, source);
    const Value base = include_self() ? s["self"] : filled(s["self"], 1);
    const Value zero_count =
        at_source(sum_at_self(filled(s["self"], 0), s.b.convert(zero, source.dtype())));
    const Value without_zeros =
        at_source(s.b(Op::scatter_reduce_two, {base, dim, index, ones_for_zeros, "prod"}));
    const Value plain = at_source(s.out()) / ones_for_zeros;
    const Value only = s.b(Op::eq_Scalar, {zero_count, 1});
    return s.b.where(zero, keep_where(only, without_zeros), plain);
  }
};

Value scatter_reduce_self(Site& s) { return Reduction::scatter(s).for_self(); }
Value scatter_reduce_source(Site& s) {
  return padded_to(Reduction::scatter(s).for_source(), s["src"].shape());
}
Value index_reduce_self(Site& s) { return Reduction::index_of(s).for_self(); }
Value index_reduce_source(Site& s) { return Reduction::index_of(s).for_source(); }

Value index(Site& s) { return s.b(Op::index_put, {empty(s), s.given("indices"), s.grad(), true}); }
Value index_put_self(Site& s) {
  if (s.boolean("accumulate")) return s.grad();
  const Value zero = s.b.full({}, 0, s.grad().dtype());
  return s.b(Op::index_put, {s.grad(), s.given("indices"), zero});
}

Value masked_index(Site& s) {
  return s.b(Op::_unsafe_masked_index_put_accumulate,
             {empty(s), s["mask"], s.given("indices"), s.grad()});
}
Value masked_put_values(Site& s) {
  return s.b(Op::_unsafe_masked_index, {s.grad(), s["mask"], s.given("indices"), 0});
}

Value index_select(Site& s) {
  if (s["self"].rank() == 0) return s.b.view(s.grad(), {});
  return s.b(Op::index_add, {empty(s), s.given("dim"), s["index"], s.grad()});
}

// Rows of the gradient at the indices, in the source's shape (which may be zero-dimensional).
Value source_rows(Site& s) {
  const Value rows = s.b(Op::index_select, {s.grad(), s.given("dim"), s["index"]});
  return s.b.view(rows, s["source"].shape());
}
Value index_filled(Site& s) {
  return s.b(Op::index_fill_int_Scalar, {s.grad(), s.given("dim"), s["index"], 0});
}

Value masked_out(Site& s) { return zero_where(s["mask"], s.grad()); }

Value masked_select(Site& s) {
  const Value x = s["self"];
  const auto shape = broadcast(x.shape(), s["mask"].shape());
  if (!shape) return s.b.fail(shape.diagnostics().front().message);
  const Value base = s.b.full(*shape, 0, x.dtype());
  return s.b(Op::masked_scatter, {base, s.b.expand(s["mask"], *shape), s.grad()});
}

Value masked_scatter_source(Site& s) {
  const Value mask = s.b.expand(s["mask"], s.grad().shape());
  return s.b(Op::masked_scatter_backward, {s.grad(), mask, s["source"].shape()});
}

Value take(Site& s) { return s.b(Op::put, {empty(s), s["index"], s.grad(), true}); }
Value put_self(Site& s) {
  if (s.boolean("accumulate")) return s.grad();
  return s.b(Op::put, {s.grad(), s["index"], zeros(s.b, s["source"].type()), false});
}

std::vector<Value> take_along_dim(Site& s) {
  const Value x = s["self"], indices = s["indices"];
  if (!s.is_given("dim"))
    return {s.b(Op::gather, {s.b.view(x, {x.count()}), 0, s.b.view(indices, {indices.count()})})};
  const std::int64_t dim = s.dim("dim", x.rank());
  Shape of_x = x.shape(), of_indices = indices.shape();
  for (std::size_t d = 0; d < of_x.size(); ++d) {
    if (static_cast<std::int64_t>(d) == dim) continue;
    of_x[d] = of_indices[d] = std::max(of_x[d], of_indices[d]);
  }
  return {s.b(Op::gather, {s.b.expand(x, of_x), dim, s.b.expand(indices, of_indices)})};
}

Value bag_rows(Site& s) {
  if (s.boolean("sparse")) return s.b.fail("with sparse gradients it has no rule");
  return s.b(Op::_embedding_bag_dense_backward,
             {s.grad(), s["indices"], s.out(1), s.out(2), s.out(3), s["weight"].size(0),
              s.given("scale_grad_by_freq"), s.given("mode"), s.given("per_sample_weights"),
              s.given("padding_idx")});
}
Value bag_weights(Site& s) {
  return s.b(Op::_embedding_bag_per_sample_weights_backward,
             {s.grad(), s["weight"], s["indices"], s["offsets"], s.out(1), s.given("mode"),
              s.given("padding_idx")});
}

// The number of occurrences of each index, at each index.
Value frequencies(Site& s, const Value& indices, const Value& like, std::int64_t count) {
  const Value none = s.b.full({count}, 0, like.dtype(), like.type().device);
  const Value one = s.b.full(indices.shape(), 1, like.dtype(), like.type().device);
  return s.b(Op::index_select, {s.b(Op::index_add, {none, 0, indices, one}), 0, indices});
}

Value without_padding(Site& s, const Value& values) {
  const std::int64_t padding = s.integer("padding_idx");
  if (padding < 0) return values;
  const Value skipped = s.b(Op::eq_Scalar, {s["indices"], padding});
  return zero_where(values.rank() > 1 ? s.b(Op::unsqueeze, {skipped, -1}) : skipped, values);
}

// Mode 0 sums a bag's rows, 1 averages them, 2 takes the largest of each column.
std::vector<Value> bag_rows_backward(Site& s) {
  const Value grad = s["grad"], size = s["bag_size"];
  const std::int64_t mode = s.integer("mode"), count = s.integer("num_weights");
  const Value none = s.b.full({count, grad.size(1)}, 0, grad.dtype(), grad.type().device);
  if (mode == 2) {
    const Value empty_bag = s.b(Op::unsqueeze, {s.b(Op::eq_Scalar, {size, 0}), -1});
    return {s.b(Op::scatter_add, {none, 0, s["maximum_indices"], zero_where(empty_bag, grad)})};
  }
  const Value indices = s["indices"], bags = s["offset2bag"];
  const auto of_rows = [&](const Value& v) { return s.b(Op::unsqueeze, {v, -1}); };
  Value each = s.b(Op::index_select, {grad, 0, bags});
  if (mode == 1) {
    const Value sizes = s.b(Op::clamp_min, {s.b.convert(size, grad.dtype()), 1});
    each = each / of_rows(s.b(Op::index_select, {sizes, 0, bags}));
  }
  if (const Value weights = s["per_sample_weights"]; weights.valid())
    each = each * of_rows(weights);
  if (s.boolean("scale_grad_by_freq")) each = each / of_rows(frequencies(s, indices, grad, count));
  return {s.b(Op::index_add, {none, 0, indices, without_padding(s, each)})};
}

std::vector<Value> bag_weights_backward(Site& s) {
  const Value each = product({s.b(Op::index_select, {s["grad"], 0, s["offset2bag"]}),
                              s.b(Op::index_select, {s["weight"], 0, s["indices"]})});
  return {without_padding(s, s.b.sum(each, {1}))};
}

// The older spelling of scatter_reduce.
std::vector<Value> scatter_reduced(Site& s) {
  const bool number = s.has("value");
  const Value index = s["index"], self = s["self"];
  const Value src =
      number ? s.b.full(index.shape(), s.call().argument("value"), self.dtype(), self.type().device)
             : s["src"];
  return {s.b(Op::scatter_reduce_two,
              {self, s.given("dim"), index, src, s.text("reduce") == "add" ? "sum" : "prod"})};
}

Rows bags() {
  return {
      formulas({Op::_embedding_bag}, {{"weight", bag_rows}, {"per_sample_weights", bag_weights}},
               1),
      expands({Op::_embedding_bag_dense_backward}, bag_rows_backward),
      expands({Op::_embedding_bag_per_sample_weights_backward}, bag_weights_backward),
  };
}

Rows by_dimension() {
  return {
      linear({Op::embedding}, {{"weight", embedding}}),
      linear({Op::embedding_dense_backward}, {{"grad_output", embedding_again}}),
      linear({Op::gather}, {{"self", gather}}),
      formulas({Op::scatter_src}, {{"self", scattered_over},
                                   {"src", [](Site& s) { return scatter_source(s, s.grad()); }}}),
      formulas({Op::scatter_value}, {{"self", scattered_over}}),
      formulas({Op::scatter_add},
               {{"self", same}, {"src", [](Site& s) { return scatter_source(s, s.grad()); }}}),
      formulas({Op::scatter_reduce_two},
               {{"self", scatter_reduce_self}, {"src", scatter_reduce_source}}),
      expands({Op::scatter_reduce, Op::scatter_value_reduce}, scatter_reduced),
      formulas({Op::index_reduce}, {{"self", index_reduce_self}, {"source", index_reduce_source}}),
      linear({Op::index_select}, {{"self", index_select}}),
      formulas(
          {Op::index_add},
          {{"self", same}, {"source", [](Site& s) { return s.scaled(source_rows(s), "alpha"); }}}),
      formulas({Op::index_copy}, {{"self", index_filled}, {"source", source_rows}}),
      formulas({Op::index_fill_int_Scalar, Op::index_fill_int_Tensor},
               {{"self", index_filled},
                {"value",
                 [](Site& s) {
                   return s.b.sum(s.b(Op::index_select, {s.grad(), s.given("dim"), s["index"]}));
                 }}}),
      expands({Op::take_along_dim}, take_along_dim),
  };
}

Rows by_place() {
  return {
      linear({Op::index_Tensor, Op::_unsafe_index_Tensor}, {{"self", index}}),
      formulas({Op::index_put, Op::_unsafe_index_put},
               {{"self", index_put_self}, {"values", indexed_values}}),
      formulas({Op::_unsafe_masked_index}, {{"self", masked_index}}),
      formulas({Op::_unsafe_masked_index_put_accumulate},
               {{"self", same}, {"values", masked_put_values}}),
      elementwise({Op::masked_fill_Scalar, Op::masked_fill_Tensor},
                  {{"self", masked_out},
                   {"value", [](Site& s) { return keep_where(s["mask"], s.grad()); }}}),
      formulas({Op::masked_select}, {{"self", masked_select}}),
      formulas({Op::masked_scatter}, {{"self", masked_out}, {"source", masked_scatter_source}}),
      formulas({Op::masked_scatter_backward},
               {{"grad_output",
                 [](Site& s) {
                   const Value base = zeros(s.b, s["grad_output"].type());
                   return s.b(Op::masked_scatter, {base, s["mask"], s.grad()});
                 }}}),
      linear({Op::take}, {{"self", take}}),
      formulas({Op::put}, {{"self", put_self},
                           {"source",
                            [](Site& s) {
                              return s.b(Op::take, {s.grad(), s["index"]});
                            }}}),
  };
}

}  // namespace

Rows indexing_rows() {
  Rows rows = by_dimension();
  for (const auto family : {by_place, bags})
    for (Row& row : family()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
