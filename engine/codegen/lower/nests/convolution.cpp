// Convolutions, forward and backward, as implicit GEMMs in tiles or as plain nests. Targets may
// call a library instead.
#include "engine/codegen/lower/nests/implicit_gemm.h"
#include "engine/codegen/lower/nests/transposed_convolution.h"
#include "engine/codegen/lower/sliding_window.h"

namespace recut::loop {
namespace {

// Concatenates dimensions, each list kept or reduced as a whole. Lanes go along the last kept one.
struct Dimensions {
  ReductionSpace space;
  void add(const Shape& shape, bool reduced) {
    for (const std::int64_t size : shape) {
      space.shape.push_back(size);
      space.reduced.push_back(reduced);
    }
  }
  ReductionSpace done() {
    space.strides = contiguous_strides(space.shape);
    std::int64_t kept = 1;
    for (std::size_t d = space.shape.size(); d-- > 0;)
      if (!space.reduced[d]) {
        space.strides[d] = kept;
        kept *= space.shape[d];
      } else {
        space.strides[d] += 1;
      }
    return std::move(space);
  }
};

// The element of a window; integers are relative to the zero point, and padding is 0.
ScalarExpr seen(const Nest& nest, const Convolution& c, const GuardedPosition& x,
                const Indices& at) {
  const ScalarExpr value = x.element(nest, "input", at).to(c.type);
  if (is_floating(c.type)) return value;
  const ScalarExpr off = value - static_cast<double>(nest.call.integer("zero_point"));
  return x.inside ? select(*x.inside, off, off.like(0)) : off;
}

// kept: sample, group, output, window; reduced: channel, offset.
void forward_convolution(const Nest& nest) {
  if (is_transposed(nest.call)) return transposed_convolution(nest);
  const Convolution c(nest, nest.shape_of("input"), nest.shape_of("weight"), nest.type().shape);
  if (convolution_in_tiles(nest, c)) return;
  const std::size_t dims = c.dims();
  Dimensions d;
  d.add({c.samples, c.groups, c.outputs}, false);
  d.add(c.windows, false);
  d.add({c.channels}, true);
  d.add(c.kernel, true);
  const ReductionSpace space = d.done();
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const Index output = c.outputs * reducer.at()[1] + reducer.at()[2];
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, nest.lowering.constant(c.type, 0), [&](const Indices& at) {
           const Indices offset = part(at, 4 + dims, dims);
           const Index channel = at[3 + dims];
           const GuardedPosition x =
               plane_position(nest.lowering, c.window_config, part(at, 3, dims), offset, c.plane);
           const ScalarExpr value =
               seen(nest, c, x, joined(at[0], c.channels * at[1] + channel, x.position));
           const ScalarExpr weight = nest.raw("weight", joined(output, channel, offset));
           return value * weight.to(c.type);
         }});
    const Indices at = joined(reducer.at()[0], output, part(reducer.at(), 3, dims));
    nest.lowering.write(nest.output(), at, with_epilogue(nest, c, sum, at));
  });
}

// kept: sample, group, channel, position; reduced: output, offset.
void input_gradient(const Nest& nest, const Convolution& c) {
  if (input_gradient_in_tiles(nest, c)) return;
  const std::size_t dims = c.dims();
  Dimensions d;
  d.add({c.samples, c.groups, c.channels}, false);
  d.add(c.plane, false);
  d.add({c.outputs}, true);
  d.add(c.kernel, true);
  const ReductionSpace space = d.done();
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, nest.lowering.constant(c.type, 0), [&](const Indices& at) {
           const Indices offset = part(at, 4 + dims, dims);
           const Index output = c.outputs * at[1] + at[3 + dims];
           const GuardedPosition g = window_position(nest.lowering, c.window_config,
                                                     part(at, 3, dims), offset, c.windows);
           const ScalarExpr grad =
               g.element(nest, "grad_output", joined(at[0], output, g.position));
           const ScalarExpr weight = nest.raw("weight", joined(output, at[2], offset));
           return grad.to(c.type) * weight.to(c.type);
         }});
    const Indices& at = reducer.at();
    nest.lowering.write(nest.output(0),
                        joined(at[0], c.channels * at[1] + at[2], part(at, 3, dims)), sum);
  });
}

// kept: group, output, channel, offset; reduced: sample, window.
void weight_gradient(const Nest& nest, const Convolution& c) {
  if (weight_gradient_in_tiles(nest, c)) return;
  const std::size_t dims = c.dims();
  Dimensions d;
  d.add({c.groups, c.outputs, c.channels}, false);
  d.add(c.kernel, false);
  d.add({c.samples}, true);
  d.add(c.windows, true);
  ReductionSpace space = d.done();
  space.strides = contiguous_strides(space.shape);
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, nest.lowering.constant(c.type, 0), [&](const Indices& at) {
           const Indices window = part(at, 4 + dims, dims);
           const Index sample = at[3 + dims];
           const GuardedPosition x =
               plane_position(nest.lowering, c.window_config, window, part(at, 3, dims), c.plane);
           const ScalarExpr value =
               x.element(nest, "input", joined(sample, c.channels * at[0] + at[2], x.position));
           const ScalarExpr grad =
               nest.raw("grad_output", joined(sample, c.outputs * at[0] + at[1], window));
           return value.to(c.type) * grad.to(c.type);
         }});
    const Indices& at = reducer.at();
    nest.lowering.write(nest.output(1), joined(c.outputs * at[0] + at[1], at[2], part(at, 3, dims)),
                        sum);
  });
}

void bias_gradient(const Nest& nest, const Convolution& c) {
  const Shape& shape = nest.shape_of("grad_output");
  ReductionSpace space{shape, std::vector<bool>(shape.size(), true), contiguous_strides(shape)};
  space.reduced[1] = false;
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum =
        reducer.reduce({"sum", Combine::add, nest.lowering.constant(c.type, 0),
                        [&](const Indices& at) { return nest.raw("grad_output", at).to(c.type); }});
    nest.lowering.write(nest.output(2), {reducer.at()[1]}, sum);
  });
}

void backward_convolution(const Nest& nest) {
  if (is_transposed(nest.call)) return transposed_convolution_backward(nest);
  const Convolution c(nest, nest.shape_of("input"), nest.shape_of("weight"),
                      nest.shape_of("grad_output"));
  if (nest.is_requested(0)) input_gradient(nest, c);
  if (nest.is_requested(1)) weight_gradient(nest, c);
  if (nest.is_requested(2)) bias_gradient(nest, c);
}

std::optional<std::string> without_samples(const Call& call) {
  if (call.tensor("input").shape.size() != call.tensor("weight").shape.size())
    return "inputs without samples";
  return std::nullopt;
}

std::optional<std::string> other_forms_convolution(const Call& call) {
  if (!is_floating(call.tensor("weight").dtype)) return "convolutions of integers";
  return is_transposed(call) ? std::nullopt : without_samples(call);
}

}  // namespace

void add_convolution_nests(NestTable& table) {
  for (const Op op : {Op::convolution, Op::_convolution, Op::conv1d, Op::conv2d, Op::conv3d,
                      Op::conv_transpose1d, Op::conv_transpose2d_input, Op::conv_transpose3d_input})
    table.push_back({op, forward_convolution, other_forms_convolution});
  table.push_back({Op::recut_clamped_convolution, forward_convolution, other_forms_convolution});
  table.push_back({Op::recut_int_convolution, forward_convolution, without_samples});
  table.push_back({Op::convolution_backward, backward_convolution, other_forms_convolution});
}

}  // namespace recut::loop
