// Reductions of segments of an axis.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

Keywords segments_of(Site& s) {
  return {{"lengths", s.given("lengths")},
          {"offsets", s.given("offsets")},
          {"axis", s.given("axis")},
          {"initial", s.given("initial")}};
}

Value reduce(Site& s) {
  return s.b(Op::_segment_reduce_backward, {s.grad(), s.out(), s["data"], s.given("reduce")},
             segments_of(s));
}

// Tensors as [outer, axis, inner], and the segment that each element of the axis lies in.
class Segments {
 public:
  Segments(Site& s, const Value& data) : s_(s) {
    const std::int64_t axis = s.dim("axis", data.rank());
    for (std::int64_t d = 0; d < data.rank(); ++d)
      (d < axis ? outer_ : inner_) *= d == axis ? 1 : data.size(d);
    extent_ = data.size(axis);
    const bool by_length = s.is_given("lengths");
    const Value given = s[by_length ? "lengths" : "offsets"];
    count_ = by_length ? given.size(-1) : given.size(-1) - 1;
    const Value table = s.b.view(given, {outer_, given.size(-1)});
    ends_ = by_length ? s.b(Op::cumsum, {table, 1}) : column(table, 1, count_ + 1);
    lengths_ = by_length ? table : ends_ - column(table, 0, count_);
    find();
  }

  Value of_data(const Value& x) const { return s_.b.view(x, {outer_, extent_, inner_}); }
  Value of_segments(const Value& x) const { return s_.b.view(x, {outer_, count_, inner_}); }

  // Of each element's segment; 0 for elements in none.
  Value at_elements(const Value& of_segment) const {
    return keep_where(inside_, s_.b(Op::gather, {of_segment, 1, segment_}));
  }
  Value sums(const Value& of_elements) const {
    const Value none = s_.b.full({outer_, count_, inner_}, 0, of_elements.dtype());
    return s_.b(Op::scatter_add, {none, 1, segment_, keep_where(inside_, of_elements)});
  }
  Value lengths(DType dtype) const {
    return s_.b.convert(s_.b(Op::unsqueeze, {lengths_, -1}), dtype);
  }

 private:
  Value column(const Value& table, std::int64_t from, std::int64_t to) const {
    return s_.b(Op::slice_Tensor, {table, 1, from, to});
  }

  void find() {
    const Value places = s_.b.expand(s_.b(Op::arange, {extent_}), {outer_, extent_});
    const Value ends = s_.b(Op::clone, {ends_}, {{"memory_format", "contiguous_format"}});
    const Value found = s_.b(Op::searchsorted_Tensor, {ends, places}, {{"right", true}});
    const auto wide = [&](const Value& v) {
      return s_.b.expand(s_.b(Op::unsqueeze, {v, -1}), {outer_, extent_, inner_});
    };
    inside_ = wide(s_.b(Op::lt_Scalar, {found, count_}));
    segment_ = wide(s_.b(Op::clamp_max, {found, count_ - 1}));
  }

  Site& s_;
  std::int64_t outer_ = 1, extent_ = 1, inner_ = 1, count_ = 0;
  Value ends_, lengths_, segment_, inside_;
};

// The gradient of each element of the data, by the name of the reduction.
std::vector<Value> reduce_backward(Site& s) {
  const Value data = s["data"];
  const Segments segments(s, data);
  const Value grad = segments.of_segments(s["grad"]), x = segments.of_data(data);
  const std::string_view name = s.text("reduce");
  Value each;
  if (name == "sum") {
    each = segments.at_elements(grad);
  } else if (name == "mean") {
    each = segments.at_elements(grad / segments.lengths(data.dtype()));
  } else if (name == "prod") {
    const Value product = s.b(Op::segment_reduce, {data, "prod"}, segments_of(s));
    each = segments.at_elements(grad * segments.of_segments(product)) / x;
  } else {  // the largest or smallest elements share
    const Value extreme = segments.at_elements(segments.of_segments(s["output"]));
    const Value equal = s.b.convert(s.b(Op::eq_Tensor, {x, extreme}), data.dtype());
    each = segments.at_elements(grad / segments.sums(equal)) * equal;
  }
  return {s.b.view(each, data.shape())};
}

}  // namespace

Rows segment_rows() {
  return {
      formulas({Op::segment_reduce}, {{"data", reduce}}),
      expands({Op::_segment_reduce_backward}, reduce_backward),
  };
}

}  // namespace recut::autodiff
