// Pooling. Average pooling is linear: its VJP is ATen's backward operator, whose own VJP is the
// pooling of the gradient. Max pooling scatters the gradient to the saved indices; its second
// derivative gathers at the same indices, since the choice of the maximum is locally constant.
#include "engine/autodiff/rules/formula.h"

namespace recut::autodiff {
namespace {

using Ints = std::vector<std::int64_t>;

// The backward operator with (grad, self) and the call's own arguments of the same names.
template <Op backward>
Value averaged(Site& s) {
  const Operator& row = operator_of(backward);
  Positional arguments = {s.grad(), s["self"]};
  for (std::size_t i = 2; i < row.parameters.size(); ++i)
    arguments.push_back(s.given(row.parameters[i].name));
  return s.b(backward, arguments);
}

// Backward again: the pooling itself, of the gradient.
template <Op forward>
Value average_again(Site& s) {
  const Operator& row = operator_of(forward);
  Positional arguments = {s.grad()};
  for (std::size_t i = 1; i < row.parameters.size(); ++i)
    arguments.push_back(s.given(row.parameters[i].name));
  return s.b(forward, arguments);
}

Ints last(const Shape& shape, std::size_t n) {
  return Ints(shape.end() - static_cast<std::ptrdiff_t>(n), shape.end());
}

template <Op forward, std::size_t n>
Value adaptive_again(Site& s) {
  return s.b(forward, {s.grad(), last(s["grad_output"].shape(), n)});
}

// Strides default to the kernel's sizes.
Given strides(Site& s) {
  return s.integers("stride").empty() ? s.given("kernel_size") : s.given("stride");
}

template <Op backward>
Value max_of(Site& s) {
  return s.b(backward, {s.grad(), s["self"], s.given("kernel_size"), strides(s), s.given("padding"),
                        s.given("dilation"), s.given("ceil_mode"), s.out(1)});
}

// Elements at flat indices within the last n dimensions.
Value at_places(const Value& planes, const Value& indices, std::int64_t n) {
  Builder& b = *planes.builder();
  const auto flat = [&](const Value& v) {
    Shape shape(v.shape().begin(), v.shape().end() - n);
    std::int64_t count = 1;
    for (std::int64_t d = 1; d <= n; ++d) count *= v.size(-d);
    shape.push_back(count);
    return b.view(v, shape);
  };
  return b.view(b(Op::gather, {flat(planes), -1, flat(indices)}), indices.shape());
}

template <std::int64_t n>
Value max_again(Site& s) {
  return at_places(s.grad(), s["indices"], n);
}
template <std::int64_t n>
Value unpooled(Site& s) {
  return at_places(s.grad(), s["indices"], n);
}

template <Op backward>
Value adaptive_max(Site& s) {
  return s.b(backward, {s.grad(), s["self"], s.out(1)});
}
template <Op backward>
Value fractional(Site& s) {
  return s.b(backward,
             {s.grad(), s["self"], s.given("kernel_size"), s.given("output_size"), s.out(1)});
}

// In one dimension: two, of which the first has length 1.
Ints behind(std::int64_t first, Ints rest) {
  rest.insert(rest.begin(), first);
  return rest;
}
Value raised(Site& s) { return s.b(Op::unsqueeze, {s["self"], -2}); }
Value lowered(const Value& v) { return (*v.builder())(Op::squeeze_dim, {v, -2}); }

std::vector<Value> avg_pool1d(Site& s) {
  const Ints stride =
      s.integers("stride").empty() ? s.integers("kernel_size") : s.integers("stride");
  return {lowered(s.b(Op::avg_pool2d, {raised(s), behind(1, s.integers("kernel_size")),
                                       behind(1, stride), behind(0, s.integers("padding")),
                                       s.given("ceil_mode"), s.given("count_include_pad")}))};
}

std::vector<Value> max_pool1d(Site& s) {
  const Ints stride =
      s.integers("stride").empty() ? s.integers("kernel_size") : s.integers("stride");
  const Value pooled =
      s.b(Op::max_pool2d_with_indices, {raised(s), behind(1, s.integers("kernel_size")),
                                        behind(1, stride), behind(0, s.integers("padding")),
                                        behind(1, s.integers("dilation")), s.given("ceil_mode")});
  return {lowered(pooled[0])};
}

template <Op with_indices>
std::vector<Value> max_pool(Site& s) {
  const auto& given = s.call().arguments();
  return {s.b.call(with_indices, std::vector<Argument>(given.begin(), given.end()))[0]};
}

std::vector<Value> adaptive_avg_pool1d(Site& s) {
  return {
      lowered(s.b(Op::_adaptive_avg_pool2d, {raised(s), behind(1, s.integers("output_size"))}))};
}
std::vector<Value> adaptive_max_pool1d(Site& s) {
  return {
      lowered(s.b(Op::adaptive_max_pool2d, {raised(s), behind(1, s.integers("output_size"))})[0])};
}

template <Op inner>
std::vector<Value> adaptive(Site& s) {
  return {s.b(inner, {s["self"], s.given("output_size")})};
}

Value max_from_offsets(Site& s) {
  const Value x = s["self"];
  const Value indices =
      s.b(Op::prims_low_memory_max_pool_offsets_to_indices,
          {s.out(1), s.given("kernel_size"), last(x.shape(), s.integers("kernel_size").size()),
           s.given("stride"), s.given("padding"), s.given("dilation")});
  const Op backward = s.integers("kernel_size").size() == 3 ? Op::max_pool3d_with_indices_backward
                                                            : Op::max_pool2d_with_indices_backward;
  return s.b(backward, {s.grad(), x, s.given("kernel_size"), strides(s), s.given("padding"),
                        s.given("dilation"), s.given("ceil_mode"), indices});
}

Rows averages() {
  return {
      expands({Op::avg_pool1d}, avg_pool1d),
      linear({Op::avg_pool2d}, {{"self", averaged<Op::avg_pool2d_backward>}}),
      linear({Op::avg_pool3d}, {{"self", averaged<Op::avg_pool3d_backward>}}),
      formulas({Op::avg_pool2d_backward},
               {{"grad_output", average_again<Op::avg_pool2d>}, {"self", nothing}}),
      formulas({Op::avg_pool3d_backward},
               {{"grad_output", average_again<Op::avg_pool3d>}, {"self", nothing}}),
      linear({Op::_adaptive_avg_pool2d}, {{"self", averaged<Op::_adaptive_avg_pool2d_backward>}}),
      linear({Op::_adaptive_avg_pool3d}, {{"self", averaged<Op::_adaptive_avg_pool3d_backward>}}),
      formulas({Op::_adaptive_avg_pool2d_backward},
               {{"grad_output", adaptive_again<Op::_adaptive_avg_pool2d, 2>}, {"self", nothing}}),
      formulas({Op::_adaptive_avg_pool3d_backward},
               {{"grad_output", adaptive_again<Op::_adaptive_avg_pool3d, 3>}, {"self", nothing}}),
      expands({Op::adaptive_avg_pool1d}, adaptive_avg_pool1d),
      expands({Op::adaptive_avg_pool2d}, adaptive<Op::_adaptive_avg_pool2d>),
      expands({Op::adaptive_avg_pool3d}, adaptive<Op::_adaptive_avg_pool3d>),
  };
}

Rows maxima() {
  return {
      formulas({Op::max_pool2d_with_indices},
               {{"self", max_of<Op::max_pool2d_with_indices_backward>}}, 1),
      formulas({Op::max_pool3d_with_indices},
               {{"self", max_of<Op::max_pool3d_with_indices_backward>}}, 1),
      formulas({Op::max_pool2d_with_indices_backward},
               {{"grad_output", max_again<2>}, {"self", nothing}}),
      formulas({Op::max_pool3d_with_indices_backward},
               {{"grad_output", max_again<3>}, {"self", nothing}}),
      expands({Op::max_pool1d, Op::max_pool1d_with_indices}, max_pool1d, 1),
      expands({Op::max_pool2d}, max_pool<Op::max_pool2d_with_indices>),
      expands({Op::max_pool3d}, max_pool<Op::max_pool3d_with_indices>),
      formulas({Op::prims_low_memory_max_pool_with_offsets}, {{"self", max_from_offsets}}, 1),
      expands({Op::adaptive_max_pool1d}, adaptive_max_pool1d, 1),
      formulas({Op::adaptive_max_pool2d},
               {{"self", adaptive_max<Op::adaptive_max_pool2d_backward>}}, 1),
      formulas({Op::adaptive_max_pool3d},
               {{"self", adaptive_max<Op::adaptive_max_pool3d_backward>}}, 1),
      formulas({Op::adaptive_max_pool2d_backward},
               {{"grad_output", max_again<2>}, {"self", nothing}}),
      formulas({Op::adaptive_max_pool3d_backward},
               {{"grad_output", max_again<3>}, {"self", nothing}}),
      formulas({Op::fractional_max_pool2d},
               {{"self", fractional<Op::fractional_max_pool2d_backward>}}, 1),
      formulas({Op::fractional_max_pool3d},
               {{"self", fractional<Op::fractional_max_pool3d_backward>}}, 1),
      formulas({Op::fractional_max_pool2d_backward},
               {{"grad_output", max_again<2>}, {"self", nothing}}),
      formulas({Op::fractional_max_pool3d_backward},
               {{"grad_output", max_again<3>}, {"self", nothing}}),
      linear({Op::max_unpool2d}, {{"self", unpooled<2>}}),
      linear({Op::max_unpool3d}, {{"self", unpooled<3>}}),
  };
}

}  // namespace

Rows pooling_rows() {
  Rows rows = averages();
  for (Row& row : maxima()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace recut::autodiff
