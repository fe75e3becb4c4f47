// im2col and its adjoints col2im and unfold_backward. The adjoints gather: each element of the
// plane sums the windows that overlap it, so no element has two writers.
#include "engine/codegen/lower/sliding_window.h"

namespace recut::loop {
namespace {

// For every output position, sums term(position, offset) over all offsets of a window.
void sum_offsets(const Nest& nest, const Shape& offsets,
                 const std::function<ScalarExpr(const Indices&, const Indices&)>& term) {
  const Shape& out = nest.type().shape;
  ReductionSpace space{out, std::vector<bool>(out.size(), false), contiguous_strides(out)};
  const std::int64_t far = element_count(out) + 1;  // so that lanes go along the output
  for (const std::int64_t extent : offsets) {
    space.shape.push_back(extent);
    space.reduced.push_back(true);
    space.strides.push_back(far);
  }
  const ScalarExpr zero = nest.lowering.constant(nest.computing(nest.type().dtype), 0);
  const auto rank = static_cast<std::ptrdiff_t>(out.size());
  for_each_ordered_reduction(nest.lowering, space, [&](Reducer& reducer) {
    const Indices position(reducer.at().begin(), reducer.at().begin() + rank);
    const ScalarExpr sum =
        reducer.reduce({"sum", Combine::add, zero, [&](const Indices& at) {
                          return term(position, Indices(at.begin() + rank, at.end()));
                        }});
    nest.lowering.write(nest.output(), position, sum);
  });
}

// Images [N, C, H, W] or [C, H, W], and columns [N, C kh kw, windows].
struct Im2ColGeometry {
  WindowConfig window_config;
  std::int64_t channels;
  Shape plane, windows;

  Im2ColGeometry(const Call& call, const Shape& image)
      : channels(image[image.size() - 3]), plane(image.end() - 2, image.end()) {
    window_config = {call.integers("kernel_size"), call.integers("stride"),
                     call.integers("padding"), call.integers("dilation")};
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t reach = window_config.dilation[d] * (window_config.kernel[d] - 1) + 1;
      windows.push_back(
          (plane[d] + 2 * window_config.padding[d] - reach) / window_config.stride[d] + 1);
    }
  }

  Shape row_shape() const { return {channels, window_config.kernel[0], window_config.kernel[1]}; }
};

// Columns are 0 in the padding.
void im2col(const Nest& nest) {
  const Im2ColGeometry geometry(nest.call, nest.shape_of("self"));
  Lowering& lowering = nest.lowering;
  const Layout out = output_layout(nest.type());
  lowering.for_each(out.shape, out.strides, [&](const Indices& at) {
    const Indices row = delinearize(at[at.size() - 2], geometry.row_shape(), lowering.builder());
    const Indices window = delinearize(at.back(), geometry.windows, lowering.builder());
    const GuardedPosition guarded =
        plane_position(lowering, geometry.window_config, window, {row[1], row[2]}, geometry.plane);
    Indices position(at.begin(), at.end() - 2);
    position.insert(position.end(), {row[0], guarded.position[0], guarded.position[1]});
    lowering.write(nest.output(), at, guarded.element(nest, "self", position));
  });
}

void col2im(const Nest& nest) {
  const Im2ColGeometry geometry(nest.call, nest.type().shape);
  sum_offsets(nest, {geometry.window_config.kernel[0], geometry.window_config.kernel[1]},
              [&](const Indices& at, const Indices& offset) {
                const GuardedPosition guarded =
                    window_position(nest.lowering, geometry.window_config,
                                    Indices(at.end() - 2, at.end()), offset, geometry.windows);
                Indices position(at.begin(), at.end() - 3);
                position.push_back(
                    linearize({at[at.size() - 3], offset[0], offset[1]}, geometry.row_shape()));
                position.push_back(linearize(guarded.position, geometry.windows));
                return guarded.element(nest, "self", position);
              });
}

// Windows along one dimension; their offsets are the last dimension of grad_in.
void unfold_backward(const Nest& nest) {
  const std::size_t dim = nest.dimension("dim", nest.type().shape.size());
  const Shape& shape = nest.shape_of("grad_in");
  const WindowConfig window_config{{shape.back()}, {nest.call.integer("step")}, {0}, {1}};
  sum_offsets(nest, {shape.back()}, [&](const Indices& at, const Indices& offset) {
    const GuardedPosition guarded =
        window_position(nest.lowering, window_config, {at[dim]}, offset, {shape[dim]});
    Indices position = at;
    position[dim] = guarded.position[0];
    position.push_back(offset[0]);
    return guarded.element(nest, "grad_in", position);
  });
}

std::optional<std::string> number(const Call& call) {
  if (call.integers("input_sizes").empty()) return "numbers without dimensions";
  return std::nullopt;
}

}  // namespace

void add_im2col_nests(NestTable& table) {
  table.push_back({Op::im2col, im2col});
  table.push_back({Op::col2im, col2im});
  table.push_back({Op::unfold_backward, unfold_backward, number});
}

}  // namespace recut::loop
