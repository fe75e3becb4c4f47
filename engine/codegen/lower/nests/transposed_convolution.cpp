// Transposed convolutions, described as the ordinary convolution whose gradient they are, from an
// image [N, C, plane...] to a map [N, O, windows...] by a weight [O, C / groups, kernel...]:
//   forward          map, weight -> image
//   its gradients    image, weight -> map;  image, map -> weight;  image -> bias
#include "engine/codegen/lower/nests/transposed_convolution.h"

#include "engine/codegen/lower/nests/implicit_gemm.h"
#include "engine/codegen/lower/sliding_window.h"

namespace recut::loop {
namespace {

struct Transposed {
  const Nest& nest;
  bool batched;
  std::int64_t samples, groups, channels, outputs;  // the last two of a group
  Shape plane, kernel, windows;
  WindowConfig window_config;
  DType type;

  Transposed(const Nest& of, const Shape& image, const Shape& map)
      : nest(of), type(of.computing(of.dtype_of("weight"))) {
    const Shape& weight = nest.shape_of("weight");
    kernel.assign(weight.begin() + 2, weight.end());
    const auto dims = static_cast<std::ptrdiff_t>(kernel.size());
    batched = image.size() == kernel.size() + 2;
    samples = batched ? image[0] : 1;
    groups = nest.call.integer("groups");
    channels = weight[1];
    outputs = weight[0] / groups;
    plane.assign(image.end() - dims, image.end());
    windows.assign(map.end() - dims, map.end());
    window_config = {kernel, per_dimension(nest.call, "stride", kernel.size(), 1),
                     per_dimension(nest.call, "padding", kernel.size(), 0),
                     per_dimension(nest.call, "dilation", kernel.size(), 1)};
  }

  std::size_t dims() const { return kernel.size(); }

  // The index of a sample's channel in an image or map.
  Indices position(const Index& sample, const Index& channel, const Indices& spatial) const {
    Indices at;
    if (batched) at.push_back(sample);
    at.push_back(channel);
    at.insert(at.end(), spatial.begin(), spatial.end());
    return at;
  }
  ScalarExpr weight(const Index& output, const Index& channel, const Indices& offset) const {
    Indices at{output, channel};
    at.insert(at.end(), offset.begin(), offset.end());
    return nest.raw("weight", at).to(type);
  }
  ScalarExpr zero() const { return nest.lowering.constant(type, 0); }
};

// Concatenates dimensions, kept before reduced ones. Lanes go along the last kept one.
ReductionSpace space_of(std::initializer_list<Shape> kept, std::initializer_list<Shape> reduced) {
  ReductionSpace space;
  for (const auto* lists : {&kept, &reduced})
    for (const Shape& sizes : *lists)
      for (const std::int64_t size : sizes) {
        space.shape.push_back(size);
        space.reduced.push_back(lists == &reduced);
        space.strides.push_back(0);
      }
  const auto rank = static_cast<std::int64_t>(space.shape.size());
  for (std::int64_t d = 0; d < rank; ++d)
    space.strides[static_cast<std::size_t>(d)] =
        rank - d + (space.reduced[static_cast<std::size_t>(d)] ? rank : 0);
  return space;
}

// Stride phases: positions of the image by their remainder modulo the stride. Those of one phase
// are reached by the same offsets of the kernel, every stride-th one (taps). Where the strides do
// not divide the plane, or offsets are dilated, there is one phase, and the taps are all offsets.
struct Phases {
  Shape phases, positions, taps;  // one a dimension
  bool divided = true;

  explicit Phases(const Transposed& c) {
    for (std::size_t d = 0; d < c.dims(); ++d)
      divided = divided && c.window_config.dilation[d] == 1 &&
                c.plane[d] % c.window_config.stride[d] == 0;
    for (std::size_t d = 0; d < c.dims(); ++d) {
      const std::int64_t stride = divided ? c.window_config.stride[d] : 1;
      phases.push_back(stride);
      positions.push_back(c.plane[d] / stride);
      taps.push_back((c.kernel[d] + stride - 1) / stride);
    }
  }

  Indices plane_position(const Indices& phase, const Indices& position) const {
    Indices out;
    for (std::size_t d = 0; d < phase.size(); ++d)
      out.push_back(phases[d] * position[d] + phase[d]);
    return out;
  }
};

// The window and the offset that reach a position of the image.
struct WindowTap {
  GuardedPosition window;
  Indices offset;
};

WindowTap window_tap(const Transposed& c, const Phases& p, const Indices& phase,
                     const Indices& position, const Indices& tap) {
  Lowering& lowering = c.nest.lowering;
  if (!p.divided)
    return {window_position(lowering, c.window_config, position, tap, c.windows), tap};
  WindowTap out;
  for (std::size_t d = 0; d < c.dims(); ++d) {
    const std::int64_t stride = c.window_config.stride[d];
    const Index first = phase[d] + Index(c.window_config.padding[d]);
    const Index offset = lowering.builder().remainder(first, stride) + stride * tap[d];
    const Index window = position[d] + lowering.builder().quotient(first, stride) - tap[d];
    const Ranges ranges(lowering.builder().kernel());
    const auto bound = [&](const Index& index, std::int64_t extent) {
      const auto range = ranges.of(lowering.builder().simple(index));
      if (!range || range->min < 0) require(out.window.inside, lowering.number(index) >= 0.0);
      if (!range || range->max >= extent)
        require(out.window.inside, lowering.number(index) < static_cast<double>(extent));
    };
    bound(offset, c.kernel[d]);
    bound(window, c.windows[d]);
    out.offset.push_back(offset);
    out.window.position.push_back(window);
  }
  return out;
}

// kept: sample, group, channel, phase, position; reduced: output, tap.
void image(const Nest& nest) {
  const Transposed c(nest, nest.type().shape, nest.shape_of("input"));
  const Phases p(c);
  const std::size_t dims = c.dims();
  const ReductionSpace space =
      space_of({{c.samples, c.groups, c.channels}, p.phases, p.positions}, {{c.outputs}, p.taps});
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, c.zero(), [&](const Indices& at) {
           const WindowTap r = window_tap(c, p, part(at, 3, dims), part(at, 3 + dims, dims),
                                          part(at, 4 + 2 * dims, dims));
           const Index output = c.outputs * at[1] + at[3 + 2 * dims];
           const ScalarExpr x =
               r.window.element(nest, "input", c.position(at[0], output, r.window.position))
                   .to(c.type);
           Indices weight_at{output, at[2]};
           weight_at.insert(weight_at.end(), r.offset.begin(), r.offset.end());
           return x * r.window.element(nest, "weight", weight_at).to(c.type);
         }});
    const Indices& at = reducer.at();
    const Index channel = c.channels * at[1] + at[2];
    if (nest.has("bias")) sum = sum + nest.raw("bias", {channel}).to(c.type);
    const Indices plane_position = p.plane_position(part(at, 3, dims), part(at, 3 + dims, dims));
    nest.lowering.write(nest.output(), c.position(at[0], channel, plane_position), sum);
  });
}

// kept: sample, group, output, window; reduced: channel, offset.
void input_gradient(const Nest& nest, const Transposed& c) {
  const std::size_t dims = c.dims();
  const ReductionSpace space =
      space_of({{c.samples, c.groups, c.outputs}, c.windows}, {{c.channels}, c.kernel});
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, c.zero(), [&](const Indices& at) {
           const Indices offset = part(at, 4 + dims, dims);
           const Index channel = at[3 + dims];
           const GuardedPosition f =
               plane_position(nest.lowering, c.window_config, part(at, 3, dims), offset, c.plane);
           const ScalarExpr grad = f.element(
               nest, "grad_output", c.position(at[0], c.channels * at[1] + channel, f.position));
           return grad.to(c.type) * c.weight(c.outputs * at[1] + at[2], channel, offset);
         }});
    const Indices& at = reducer.at();
    nest.lowering.write(nest.output(0),
                        c.position(at[0], c.outputs * at[1] + at[2], part(at, 3, dims)), sum);
  });
}

// kept: group, output, channel, offset; reduced: sample, window.
void weight_gradient(const Nest& nest, const Transposed& c) {
  const std::size_t dims = c.dims();
  ReductionSpace space =
      space_of({{c.groups, c.outputs, c.channels}, c.kernel}, {{c.samples}, c.windows});
  space.strides = contiguous_strides(space.shape);
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce(
        {"sum", Combine::add, c.zero(), [&](const Indices& at) {
           const Indices window = part(at, 4 + dims, dims);
           const Index sample = at[3 + dims];
           const GuardedPosition f =
               plane_position(nest.lowering, c.window_config, window, part(at, 3, dims), c.plane);
           const ScalarExpr grad = f.element(
               nest, "grad_output", c.position(sample, c.channels * at[0] + at[2], f.position));
           const ScalarExpr x =
               nest.raw("input", c.position(sample, c.outputs * at[0] + at[1], window));
           return grad.to(c.type) * x.to(c.type);
         }});
    const Indices& at = reducer.at();
    Indices position{c.outputs * at[0] + at[1], at[2]};
    for (const Index& offset : part(at, 3, dims)) position.push_back(offset);
    nest.lowering.write(nest.output(1), position, sum);
  });
}

void bias_gradient(const Nest& nest, const Transposed& c) {
  const Shape& shape = nest.shape_of("grad_output");
  ReductionSpace space{shape, std::vector<bool>(shape.size(), true), contiguous_strides(shape)};
  const std::size_t channel = c.batched ? 1 : 0;
  space.reduced[channel] = false;
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const ScalarExpr sum = reducer.reduce({"sum", Combine::add, c.zero(), [&](const Indices& at) {
                                             return nest.raw("grad_output", at).to(c.type);
                                           }});
    nest.lowering.write(nest.output(2), {reducer.at()[channel]}, sum);
  });
}

}  // namespace

bool is_transposed(const Call& call) {
  if (call.op().parameter("transposed")) return call.boolean("transposed");
  return call.op().parameter("output_padding").has_value();
}

void transposed_convolution(const Nest& nest) { image(nest); }

void transposed_convolution_backward(const Nest& nest) {
  const Transposed c(nest, nest.shape_of("grad_output"), nest.shape_of("input"));
  if (nest.is_requested(0)) input_gradient(nest, c);
  if (nest.is_requested(1)) weight_gradient(nest, c);
  if (nest.is_requested(2)) bias_gradient(nest, c);
}

}  // namespace recut::loop
