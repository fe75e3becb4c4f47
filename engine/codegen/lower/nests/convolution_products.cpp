// The three convolutions of training as matrix products over linearized dimensions, for each group:
//   forward            [outputs x channels*offsets] * [channels*offsets x samples*windows]
//   input gradient     [channels x outputs*offsets] * [outputs*offsets x samples*positions]
//   weight gradient    [outputs x samples*windows] * [samples*windows x channels*offsets]
// Row, column and depth are delinearized where an element is packed, and the element is a guarded
// load. With a stride the input gradient is one product for each stride phase, which avoids
// multiplying by the zeros between strided positions.
#include "engine/codegen/lower/nests/convolution_products.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/codegen/lower/nests/tiled_product.h"

namespace recut::loop {
namespace {

// All dimensions but the first.
Indices rest(const Indices& at) { return part(at, 1, at.size() - 1); }

std::optional<Quantity> both(const std::optional<Quantity>& a, const std::optional<Quantity>& b) {
  return a && b ? *a & *b : a ? a : b;
}

Shape joined(std::initializer_list<std::int64_t> first, const Shape& rest) {
  Shape all = first;
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

// [sample, position...] with lines padded to whole vectors, where that adds a quarter at most: then
// lanes are contiguous. A vector longer than a panel of the tile would pad for nothing.
Shape filled(const Nest& nest, Shape places) {
  constexpr std::int64_t kBytes = 4;
  const auto& registers = nest.lowering.options.registers;
  for (const std::int64_t vector : {16, 8, 4}) {
    if (registers && vector * kBytes > registers->bytes) continue;
    const std::int64_t whole = (places.back() + vector - 1) / vector * vector;
    if (4 * whole > 5 * places.back()) continue;
    places.back() = whole;
    break;
  }
  return places;
}

// The number of positions that lie on one line, from any multiple of it on.
std::int64_t neighbours_in(std::int64_t line) {
  std::int64_t most = 1;
  while (most < 16 && line % (2 * most) == 0) most *= 2;
  return most;
}

// A 1x1 window with stride 1 and no padding: the plane is one line.
bool is_plain(const Convolution& c) {
  return element_count(c.kernel) == 1 && element_count(c.slide.stride) == 1 &&
         c.slide.padding == Shape(c.dims(), 0);
}

// The left operand: the index of its element by group, row and depth index.
using ConvolutionProductsPlace =
    std::function<Indices(const Index& group, const Index& row, const Indices& depth)>;

// `neighbours`: its elements lie contiguously along the depth.
Factor left_factor(const Nest& nest, DType type, std::string_view parameter, const Shape& depth,
                   bool neighbours, const ConvolutionProductsPlace& place) {
  Factor factor;
  factor.runs_along_depth = true;
  factor.converts = !neighbours || nest.dtype_of(parameter) != type;
  factor.element = [=, &nest](const Indices& batch, const Index& row, const Index& k,
                              const std::optional<Quantity>& inside) {
    const Indices at = delinearised(k, depth, nest.lowering.builder());
    return nest.raw_where(parameter, place(batch[0], row, at), inside).to(type);
  };
  return factor;
}

// The right operand: the sample, the channel and the guarded position that an element of a window
// reads, by group, column index and depth index.
struct ConvolutionProductsSeen {
  Index sample, channel;
  Fallen at;
};
using Sight = std::function<ConvolutionProductsSeen(const Index& group, const Indices& column,
                                                    const Indices& depth)>;

Factor right_factor(const Nest& nest, DType type, std::string_view parameter, const Shape& columns,
                    const Shape& depth, const Sight& sight) {
  Factor factor;
  factor.element = [=, &nest](const Indices& batch, const Index& column, const Index& k,
                              const std::optional<Quantity>& inside) {
    Builder& builder = nest.lowering.builder();
    const Indices to = delinearised(column, columns, builder);
    ConvolutionProductsSeen seen = sight(batch[0], to, delinearised(k, depth, builder));
    seen.at.inside = both(seen.at.inside, inside);
    return seen.at.element(nest, parameter, joined(seen.sample, seen.channel, seen.at.place))
        .to(type);
  };
  return factor;
}

// A regular grid of positions or window offsets: by dimension the first, the step and the count.
struct Grid {
  Shape first, step, count;

  static Grid whole(const Shape& shape) {
    return {Shape(shape.size(), 0), Shape(shape.size(), 1), shape};
  }
  Indices place(const Indices& number) const {
    Indices at;
    for (std::size_t d = 0; d < first.size(); ++d)
      at.push_back(Index(first[d]) + step[d] * number[d]);
    return at;
  }
};

// Writes the sum of a column at its position in `output`, unless it is padding of a line.
void write_place(const Nest& nest, const Grid& places, const Shape& filled, const Index& channel,
                 const Index& column, const std::function<Quantity()>& sum) {
  Builder& builder = nest.lowering.builder();
  const Indices at = delinearised(column, filled, builder);
  const std::int64_t width = places.count.back();
  const std::size_t depth = builder.depth();
  if (width < filled.back())
    builder.open_if((nest.lowering.number(at.back()) < static_cast<double>(width)).id());
  nest.lowering.write(nest.output(), joined(at[0], channel, places.place(rest(at))), sum());
  builder.close_to(depth);
}

// The product without its operands, one for each group. `unit`: the size of the last depth
// dimensions. Blocks that are multiples of it need no division in their indices.
TiledProduct product_of(const Convolution& c, std::int64_t rows, const Shape& columns,
                        const Shape& depth, std::int64_t unit) {
  constexpr std::int64_t kMostOfUnit = 128;
  TiledProduct t;
  t.batch = {c.groups};
  t.rows = rows;
  t.columns = element_count(columns);
  t.depth = element_count(depth);
  t.depth_unit = unit <= kMostOfUnit ? unit : 1;
  t.type = c.type;
  return t;
}

// rows: outputs; columns: sample, window; depth: channel, offset.
TiledProduct forward_product(const Nest& nest, const Convolution& c) {
  const Shape windows = joined({c.samples}, c.windows);
  const Shape columns = is_plain(c) ? windows : filled(nest, windows);
  const Shape depth = joined({c.channels}, c.kernel);
  TiledProduct t = product_of(c, c.outputs, columns, depth, element_count(c.kernel));
  t.left = left_factor(nest, c.type, "weight", depth, true,
                       [=](const Index& group, const Index& row, const Indices& at) {
                         return joined(c.outputs * group + row, at[0], rest(at));
                       });
  t.right = right_factor(nest, c.type, "input", columns, depth,
                         [=, &nest](const Index& group, const Indices& to, const Indices& at) {
                           return ConvolutionProductsSeen{
                               to[0], c.channels * group + at[0],
                               on_plane(nest.lowering, c.slide, rest(to), rest(at), c.plane)};
                         });
  t.right.neighbours = neighbours_in(is_plain(c) ? element_count(c.windows) : columns.back());
  t.writes_all = columns == windows;
  t.write = [=, &nest](const Indices& batch, const Index& row, const Index& column,
                       const Quantity& sum) {
    const Index output = c.outputs * batch[0] + row;
    write_place(nest, Grid::whole(c.windows), columns, output, column, [&] {
      return nest.has("bias") ? sum + nest.raw("bias", {output}).to(c.type) : sum;
    });
  };
  return t;
}

// Positions of the plane and the window offsets that reach them (one stride phase).
struct Alike {
  Grid places, offsets;

  bool meets_windows() const { return element_count(offsets.count) > 0; }
};

// Adds a dimension: the positions congruent to `rest` modulo the stride. A window offset that
// reaches one of them reaches all.
void add_dimension(Alike& to, const Convolution& c, std::size_t d, std::int64_t rest) {
  const auto up = [](std::int64_t a, std::int64_t by) { return a < 0 ? 0 : (a + by - 1) / by; };
  const std::int64_t stride = c.slide.stride[d], dilation = c.slide.dilation[d];
  const std::int64_t step = stride / std::gcd(stride, dilation);
  std::int64_t first = 0;
  while (first < step && (rest + c.slide.padding[d] - dilation * first) % stride != 0) ++first;
  const std::int64_t found = first < step ? up(c.kernel[d] - first, step) : 0;
  const auto add = [](Grid& grid, std::int64_t begin, std::int64_t by, std::int64_t count) {
    grid.first.push_back(begin);
    grid.step.push_back(by);
    grid.count.push_back(count);
  };
  add(to.places, rest, stride, up(c.plane[d] - rest, stride));
  add(to.offsets, first, step, found);
}

// All stride phases. With a stride most window offsets reach none of a position's windows, and the
// sums skip them.
std::vector<Alike> places_alike(const Convolution& c) {
  constexpr std::int64_t kMost = 8;
  if (element_count(c.slide.stride) > kMost) return {{Grid::whole(c.plane), Grid::whole(c.kernel)}};
  std::vector<Alike> all{{}};
  for (std::size_t d = 0; d < c.dims(); ++d) {
    std::vector<Alike> next;
    for (const Alike& alike : all)
      for (std::int64_t rest = 0; rest < std::min(c.slide.stride[d], c.plane[d]); ++rest) {
        next.push_back(alike);
        add_dimension(next.back(), c, d, rest);
      }
    all = std::move(next);
  }
  return all;
}

// rows: channels; columns: sample, position; depth: output, offset.
TiledProduct input_gradient_product(const Nest& nest, const Convolution& c, const Alike& alike) {
  const Shape places = joined({c.samples}, alike.places.count);
  const Shape columns = filled(nest, places);
  const Shape depth = joined({c.outputs}, alike.offsets.count);
  TiledProduct t = product_of(c, c.channels, columns, depth, element_count(alike.offsets.count));
  t.left =
      left_factor(nest, c.type, "weight", depth, false,
                  [=](const Index& group, const Index& row, const Indices& at) {
                    return joined(c.outputs * group + at[0], row, alike.offsets.place(rest(at)));
                  });
  t.right = right_factor(nest, c.type, "grad_output", columns, depth,
                         [=, &nest](const Index& group, const Indices& to, const Indices& at) {
                           return ConvolutionProductsSeen{
                               to[0], c.outputs * group + at[0],
                               on_windows(nest.lowering, c.slide, alike.places.place(rest(to)),
                                          alike.offsets.place(rest(at)), c.windows)};
                         });
  t.right.neighbours = neighbours_in(columns.back());
  t.writes_all = columns == places;
  t.write = [=, &nest](const Indices& batch, const Index& row, const Index& column,
                       const Quantity& sum) {
    write_place(nest, alike.places, columns, c.channels * batch[0] + row, column,
                [&] { return sum; });
  };
  return t;
}

// rows: outputs; columns: channel, offset; depth: sample, window.
TiledProduct weight_gradient_product(const Nest& nest, const Convolution& c) {
  const Shape columns = joined({c.channels}, c.kernel);
  const Shape depth = joined({c.samples}, c.windows);
  TiledProduct t = product_of(c, c.outputs, columns, depth, c.windows.back());
  t.left = left_factor(nest, c.type, "grad_output", depth, false,
                       [=](const Index& group, const Index& row, const Indices& at) {
                         return joined(at[0], c.outputs * group + row, rest(at));
                       });
  t.right = right_factor(nest, c.type, "input", columns, depth,
                         [=, &nest](const Index& group, const Indices& of, const Indices& at) {
                           return ConvolutionProductsSeen{
                               at[0], c.channels * group + of[0],
                               on_plane(nest.lowering, c.slide, rest(at), rest(of), c.plane)};
                         });
  t.right.neighbours = is_plain(c) ? element_count(c.windows) : c.windows.back();
  t.right.runs_along_depth = t.right.neighbours >= 4;
  t.write = [=, &nest](const Indices& batch, const Index& row, const Index& column,
                       const Quantity& sum) {
    const Indices of = delinearised(column, columns, nest.lowering.builder());
    nest.lowering.write(nest.output(1), joined(c.outputs * batch[0] + row, of[0], rest(of)), sum);
  };
  return t;
}

}  // namespace

Convolution::Convolution(const Nest& nest, const Shape& in, const Shape& weight, const Shape& out)
    : samples(in[0]),
      groups(nest.call.integer("groups")),
      channels(weight[1]),
      outputs(weight[0] / groups),
      plane(in.begin() + 2, in.end()),
      kernel(weight.begin() + 2, weight.end()),
      windows(out.begin() + 2, out.end()),
      type(nest.computing(nest.dtype_of("weight"))) {
  const std::size_t dims = kernel.size();
  slide = {kernel, per_dimension(nest.call, "stride", dims, 1),
           per_dimension(nest.call, "padding", dims, 0),
           per_dimension(nest.call, "dilation", dims, 1)};
}

Indices part(const Indices& at, std::size_t first, std::size_t count) {
  return Indices(at.begin() + static_cast<std::ptrdiff_t>(first),
                 at.begin() + static_cast<std::ptrdiff_t>(first + count));
}

Indices joined(const Index& first, const Index& second, const Indices& rest) {
  Indices out{first, second};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

bool convolution_in_tiles(const Nest& nest, const Convolution& c) {
  const TiledProduct product = forward_product(nest, c);
  if (!is_floating(c.type) || !is_worth_tiles(nest.lowering, product)) return false;
  in_tiles(nest.lowering, product);
  return true;
}

bool weight_gradient_in_tiles(const Nest& nest, const Convolution& c) {
  const TiledProduct product = weight_gradient_product(nest, c);
  if (!is_worth_tiles(nest.lowering, product)) return false;
  in_tiles(nest.lowering, product);
  return true;
}

bool input_gradient_in_tiles(const Nest& nest, const Convolution& c) {
  const Alike all{Grid::whole(c.plane), Grid::whole(c.kernel)};
  if (!is_worth_tiles(nest.lowering, input_gradient_product(nest, c, all))) return false;
  for (const Alike& alike : places_alike(c)) {
    if (alike.meets_windows()) {
      in_tiles(nest.lowering, input_gradient_product(nest, c, alike));
      continue;
    }
    const Shape shape = joined({c.samples, c.groups * c.channels}, alike.places.count);
    nest.lowering.for_each(shape, contiguous_strides(shape), [&](const Indices& at) {
      nest.lowering.write(nest.output(),
                          joined(at[0], at[1], alike.places.place(part(at, 2, c.dims()))),
                          nest.lowering.constant(c.type, 0));
    });
  }
  return true;
}

}  // namespace recut::loop
