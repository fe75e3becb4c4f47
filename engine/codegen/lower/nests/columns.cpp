// im2col and its adjoints col2im and unfold_backward. The adjoints gather: each element of the
// plane sums the windows that overlap it, so no element has two writers.
#include "engine/codegen/lower/window_space.h"

namespace recut::loop {
namespace {

// For every output position, sums term(position, offset) over all offsets of a window.
void sum_offsets(const Nest& nest, const Shape& offsets,
                 const std::function<Quantity(const Indices&, const Indices&)>& term) {
  const Shape& out = nest.type().shape;
  FoldSpace space{out, std::vector<bool>(out.size(), false), contiguous_strides(out)};
  const std::int64_t far = element_count(out) + 1;  // so that lanes go along the output
  for (const std::int64_t extent : offsets) {
    space.shape.push_back(extent);
    space.folded.push_back(true);
    space.strides.push_back(far);
  }
  const Quantity zero = nest.lowering.constant(nest.computing(nest.type().dtype), 0);
  const auto rank = static_cast<std::ptrdiff_t>(out.size());
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const Indices place(folder.at().begin(), folder.at().begin() + rank);
    const Quantity sum = folder.fold({"sum", Combine::add, zero, [&](const Indices& at) {
                                        return term(place, Indices(at.begin() + rank, at.end()));
                                      }});
    nest.lowering.write(nest.output(), place, sum);
  });
}

// Images [N, C, H, W] or [C, H, W], and columns [N, C kh kw, windows].
struct Columns {
  Sliding slide;
  std::int64_t channels;
  Shape plane, windows;

  Columns(const Call& call, const Shape& image)
      : channels(image[image.size() - 3]), plane(image.end() - 2, image.end()) {
    slide = {call.integers("kernel_size"), call.integers("stride"), call.integers("padding"),
             call.integers("dilation")};
    for (std::size_t d = 0; d < 2; ++d) {
      const std::int64_t reach = slide.dilation[d] * (slide.kernel[d] - 1) + 1;
      windows.push_back((plane[d] + 2 * slide.padding[d] - reach) / slide.stride[d] + 1);
    }
  }

  Shape row_shape() const { return {channels, slide.kernel[0], slide.kernel[1]}; }
};

// Columns are 0 in the padding.
void im2col(const Nest& nest) {
  const Columns columns(nest.call, nest.shape_of("self"));
  Lowering& lowering = nest.lowering;
  const Layout out = made_layout(nest.type());
  lowering.for_each(out.shape, out.strides, [&](const Indices& at) {
    const Indices row = delinearised(at[at.size() - 2], columns.row_shape(), lowering.builder());
    const Indices window = delinearised(at.back(), columns.windows, lowering.builder());
    const Fallen fallen =
        on_plane(lowering, columns.slide, window, {row[1], row[2]}, columns.plane);
    Indices place(at.begin(), at.end() - 2);
    place.insert(place.end(), {row[0], fallen.place[0], fallen.place[1]});
    lowering.write(nest.output(), at, fallen.element(nest, "self", place));
  });
}

void col2im(const Nest& nest) {
  const Columns columns(nest.call, nest.type().shape);
  sum_offsets(
      nest, {columns.slide.kernel[0], columns.slide.kernel[1]},
      [&](const Indices& at, const Indices& offset) {
        const Fallen fallen = on_windows(nest.lowering, columns.slide,
                                         Indices(at.end() - 2, at.end()), offset, columns.windows);
        Indices place(at.begin(), at.end() - 3);
        place.push_back(linearised({at[at.size() - 3], offset[0], offset[1]}, columns.row_shape()));
        place.push_back(linearised(fallen.place, columns.windows));
        return fallen.element(nest, "self", place);
      });
}

// Windows along one dimension; their offsets are the last dimension of grad_in.
void unfold_backward(const Nest& nest) {
  const std::size_t dim = nest.dimension("dim", nest.type().shape.size());
  const Shape& shape = nest.shape_of("grad_in");
  const Sliding slide{{shape.back()}, {nest.call.integer("step")}, {0}, {1}};
  sum_offsets(nest, {shape.back()}, [&](const Indices& at, const Indices& offset) {
    const Fallen fallen = on_windows(nest.lowering, slide, {at[dim]}, offset, {shape[dim]});
    Indices place = at;
    place[dim] = fallen.place[0];
    place.push_back(offset[0]);
    return fallen.element(nest, "grad_in", place);
  });
}

std::optional<std::string> number(const Call& call) {
  if (call.integers("input_sizes").empty()) return "numbers without dimensions";
  return std::nullopt;
}

}  // namespace

void add_column_nests(NestTable& table) {
  table.push_back({Op::im2col, im2col});
  table.push_back({Op::col2im, col2im});
  table.push_back({Op::unfold_backward, unfold_backward, number});
}

}  // namespace recut::loop
