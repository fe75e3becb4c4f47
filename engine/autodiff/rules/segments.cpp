// Reductions of segments of an axis.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

Keywords segments_of(VjpContext& ctx) {
  return {{"lengths", ctx.given("lengths")},
          {"offsets", ctx.given("offsets")},
          {"axis", ctx.given("axis")},
          {"initial", ctx.given("initial")}};
}

Value reduce(VjpContext& ctx) {
  return ctx.b(Op::_segment_reduce_backward,
               {ctx.grad(), ctx.out(), ctx["data"], ctx.given("reduce")}, segments_of(ctx));
}

// Tensors as [outer, axis, inner], and the segment that each element of the axis lies in.
class Segments {
 public:
  Segments(VjpContext& ctx, const Value& data) : ctx_(ctx) {
    const std::int64_t axis = ctx.dim("axis", data.rank());
    for (std::int64_t d = 0; d < data.rank(); ++d)
      (d < axis ? outer_ : inner_) *= d == axis ? 1 : data.size(d);
    extent_ = data.size(axis);
    const bool by_length = ctx.is_given("lengths");
    const Value given = ctx[by_length ? "lengths" : "offsets"];
    count_ = by_length ? given.size(-1) : given.size(-1) - 1;
    const Value table = ctx.b.view(given, {outer_, given.size(-1)});
    ends_ = by_length ? ctx.b(Op::cumsum, {table, 1}) : column(table, 1, count_ + 1);
    lengths_ = by_length ? table : ends_ - column(table, 0, count_);
    find();
  }

  Value of_data(const Value& x) const { return ctx_.b.view(x, {outer_, extent_, inner_}); }
  Value of_segments(const Value& x) const { return ctx_.b.view(x, {outer_, count_, inner_}); }

  // Gathers a value by each element's segment; 0 for elements in none.
  Value at_elements(const Value& of_segment) const {
    return keep_where(inside_, ctx_.b(Op::gather, {of_segment, 1, segment_}));
  }
  Value sums(const Value& of_elements) const {
    const Value none = ctx_.b.full({outer_, count_, inner_}, 0, of_elements.dtype());
    return ctx_.b(Op::scatter_add, {none, 1, segment_, keep_where(inside_, of_elements)});
  }
  Value lengths(DType dtype) const {
    return ctx_.b.convert(ctx_.b(Op::unsqueeze, {lengths_, -1}), dtype);
  }

 private:
  Value column(const Value& table, std::int64_t from, std::int64_t to) const {
    return ctx_.b(Op::slice_Tensor, {table, 1, from, to});
  }

  void find() {
    const Value places = ctx_.b.expand(ctx_.b(Op::arange, {extent_}), {outer_, extent_});
    const Value ends = ctx_.b(Op::clone, {ends_}, {{"memory_format", "contiguous_format"}});
    const Value found = ctx_.b(Op::searchsorted_Tensor, {ends, places}, {{"right", true}});
    const auto wide = [&](const Value& v) {
      return ctx_.b.expand(ctx_.b(Op::unsqueeze, {v, -1}), {outer_, extent_, inner_});
    };
    inside_ = wide(ctx_.b(Op::lt_Scalar, {found, count_}));
    segment_ = wide(ctx_.b(Op::clamp_max, {found, count_ - 1}));
  }

  VjpContext& ctx_;
  std::int64_t outer_ = 1, extent_ = 1, inner_ = 1, count_ = 0;
  Value ends_, lengths_, segment_, inside_;
};

// The gradient of each element of the data, by the name of the reduction.
std::vector<Value> reduce_backward(VjpContext& ctx) {
  const Value data = ctx["data"];
  const Segments segments(ctx, data);
  const Value grad = segments.of_segments(ctx["grad"]), x = segments.of_data(data);
  const std::string_view name = ctx.text("reduce");
  Value each;
  if (name == "sum") {
    each = segments.at_elements(grad);
  } else if (name == "mean") {
    each = segments.at_elements(grad / segments.lengths(data.dtype()));
  } else if (name == "prod") {
    const Value product = ctx.b(Op::segment_reduce, {data, "prod"}, segments_of(ctx));
    each = segments.at_elements(grad * segments.of_segments(product)) / x;
  } else {  // the largest or smallest elements share
    const Value extreme = segments.at_elements(segments.of_segments(ctx["output"]));
    const Value equal = ctx.b.convert(ctx.b(Op::eq_Tensor, {x, extreme}), data.dtype());
    each = segments.at_elements(grad / segments.sums(equal)) * equal;
  }
  return {ctx.b.view(each, data.shape())};
}

}  // namespace

DerivativeRules segment_rules() {
  return {
      vjp({Op::segment_reduce}, {{"data", reduce}}),
      decomposes({Op::_segment_reduce_backward}, reduce_backward),
  };
}

}  // namespace recut::autodiff
