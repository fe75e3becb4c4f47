// Convolutions, forward and backward, as matrix products in tiles or as plain nests. Targets may
// have a library run them instead.
#include "engine/codegen/lower/nests/tiled_product.h"
#include "engine/codegen/lower/nests/transposed_convolution.h"
#include "engine/codegen/lower/window_space.h"

namespace recut::loop {
namespace {

// input [N, C, plane...], weight [O, C/groups, kernel...], output [N, O, windows...].
struct Convolution {
  std::int64_t samples, groups, channels, outputs;  // the last two of a group
  Shape plane, kernel, windows;
  Sliding slide;
  DType type;

  Convolution(const Nest& nest, const Shape& in, const Shape& weight, const Shape& out)
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

  std::size_t dims() const { return kernel.size(); }
};

// Dimensions put one after another, each list kept or folded as a whole. Lanes go along the last of
// the kept ones.
struct Dimensions {
  FoldSpace space;
  void add(const Shape& shape, bool folded) {
    for (const std::int64_t size : shape) {
      space.shape.push_back(size);
      space.folded.push_back(folded);
    }
  }
  FoldSpace done() {
    space.strides = contiguous_strides(space.shape);
    std::int64_t kept = 1;
    for (std::size_t d = space.shape.size(); d-- > 0;)
      if (!space.folded[d]) {
        space.strides[d] = kept;
        kept *= space.shape[d];
      } else {
        space.strides[d] += 1;
      }
    return std::move(space);
  }
};

Indices part(const Indices& at, std::size_t first, std::size_t count) {
  return Indices(at.begin() + static_cast<std::ptrdiff_t>(first),
                 at.begin() + static_cast<std::ptrdiff_t>(first + count));
}

// All but the first.
Indices rest(const Indices& at) { return part(at, 1, at.size() - 1); }

// [first, second, rest...]
Indices joined(const Index& first, const Index& second, const Indices& rest) {
  Indices out{first, second};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

// As matrix products: tiles pack what their windows see (im2col) a block at a time, so that the
// whole of it never stands in memory.
// ----------------------------------------------------------------------------------------

std::optional<Quantity> both(const std::optional<Quantity>& a, const std::optional<Quantity>& b) {
  return a && b ? *a & *b : a ? a : b;
}

Shape joined(std::initializer_list<std::int64_t> first, const Shape& rest) {
  Shape all = first;
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

// [sample, place...], each line filled up to whole vectors where that makes it a quarter longer at
// most: then lanes are neighbours.
Shape filled(Shape places) {
  for (const std::int64_t vector : {16, 8, 4}) {
    const std::int64_t whole = (places.back() + vector - 1) / vector * vector;
    if (4 * whole > 5 * places.back()) continue;
    places.back() = whole;
    break;
  }
  return places;
}

// So many places from a multiple of it on are of one line.
std::int64_t neighbours_in(std::int64_t line) {
  std::int64_t most = 1;
  while (most < 16 && line % (2 * most) == 0) most *= 2;
  return most;
}

// A window of one element, each beside the next: planes are lines.
bool is_plain(const Convolution& c) {
  return element_count(c.kernel) == 1 && element_count(c.slide.stride) == 1 &&
         c.slide.padding == Shape(c.dims(), 0);
}

// The left factor: where its element lies, by group, row and the coordinates of the depth.
using Place = std::function<Indices(const Index& group, const Index& row, const Indices& depth)>;

// `neighbours`: its elements lie along the depth as the product takes them.
Factor left_factor(const Nest& nest, DType type, std::string_view parameter, const Shape& depth,
                   bool neighbours, const Place& place) {
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

// The right factor: what stands in a sample and channel where an element of a window falls, by
// group and the coordinates of column and depth.
struct Seen {
  Index sample, channel;
  Fallen at;
};
using Sight = std::function<Seen(const Index& group, const Indices& column, const Indices& depth)>;

Factor right_factor(const Nest& nest, DType type, std::string_view parameter, const Shape& columns,
                    const Shape& depth, const Sight& sight) {
  Factor factor;
  factor.element = [=, &nest](const Indices& batch, const Index& column, const Index& k,
                              const std::optional<Quantity>& inside) {
    Builder& builder = nest.lowering.builder();
    const Indices to = delinearised(column, columns, builder);
    Seen seen = sight(batch[0], to, delinearised(k, depth, builder));
    seen.at.inside = both(seen.at.inside, inside);
    return seen.at.element(nest, parameter, joined(seen.sample, seen.channel, seen.at.place))
        .to(type);
  };
  return factor;
}

// Writes the sum of a column that is a place of `output`, where no line is filled up there.
void write_place(const Nest& nest, std::size_t output, const Shape& filled, const Index& channel,
                 const Index& column, const std::function<Quantity()>& sum) {
  Builder& builder = nest.lowering.builder();
  const Indices at = delinearised(column, filled, builder);
  const std::int64_t width = nest.type(output).shape.back();
  const std::size_t depth = builder.depth();
  if (width < filled.back())
    builder.open_if((nest.lowering.number(at.back()) < static_cast<double>(width)).id());
  nest.lowering.write(nest.output(output), joined(at[0], channel, rest(at)), sum());
  builder.close_to(depth);
}

// Without its factors, one for each group. `unit`: of the depth's last dimensions, so that indices
// need no division by it where blocks are whole numbers of them.
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
  const Shape columns = is_plain(c) ? windows : filled(windows);
  const Shape depth = joined({c.channels}, c.kernel);
  TiledProduct t = product_of(c, c.outputs, columns, depth, element_count(c.kernel));
  t.left = left_factor(nest, c.type, "weight", depth, true,
                       [=](const Index& group, const Index& row, const Indices& at) {
                         return joined(c.outputs * group + row, at[0], rest(at));
                       });
  t.right =
      right_factor(nest, c.type, "input", columns, depth,
                   [=, &nest](const Index& group, const Indices& to, const Indices& at) {
                     return Seen{to[0], c.channels * group + at[0],
                                 on_plane(nest.lowering, c.slide, rest(to), rest(at), c.plane)};
                   });
  t.right.neighbours = neighbours_in(is_plain(c) ? element_count(c.windows) : columns.back());
  t.write = [=, &nest](const Indices& batch, const Index& row, const Index& column,
                       const Quantity& sum) {
    const Index output = c.outputs * batch[0] + row;
    write_place(nest, 0, columns, output, column, [&] {
      return nest.has("bias") ? sum + nest.raw("bias", {output}).to(c.type) : sum;
    });
  };
  return t;
}

// rows: channels; columns: sample, place; depth: output, offset.
TiledProduct input_gradient_product(const Nest& nest, const Convolution& c) {
  const Shape columns = filled(joined({c.samples}, c.plane));
  const Shape depth = joined({c.outputs}, c.kernel);
  TiledProduct t = product_of(c, c.channels, columns, depth, element_count(c.kernel));
  t.left = left_factor(nest, c.type, "weight", depth, false,
                       [=](const Index& group, const Index& row, const Indices& at) {
                         return joined(c.outputs * group + at[0], row, rest(at));
                       });
  t.right =
      right_factor(nest, c.type, "grad_output", columns, depth,
                   [=, &nest](const Index& group, const Indices& to, const Indices& at) {
                     return Seen{to[0], c.outputs * group + at[0],
                                 on_windows(nest.lowering, c.slide, rest(to), rest(at), c.windows)};
                   });
  t.right.neighbours = neighbours_in(columns.back());
  t.write = [=, &nest](const Indices& batch, const Index& row, const Index& column,
                       const Quantity& sum) {
    write_place(nest, 0, columns, c.channels * batch[0] + row, column, [&] { return sum; });
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
  t.right =
      right_factor(nest, c.type, "input", columns, depth,
                   [=, &nest](const Index& group, const Indices& of, const Indices& at) {
                     return Seen{at[0], c.channels * group + of[0],
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

// As plain nests
// ----------------------------------------------------------------------------------------

// What a window sees: of whole numbers, how far it is from the zero point; what pads is 0.
Quantity seen(const Nest& nest, const Convolution& c, const Fallen& x, const Indices& at) {
  const Quantity value = x.element(nest, "input", at).to(c.type);
  if (is_floating(c.type)) return value;
  const Quantity off = value - static_cast<double>(nest.call.integer("zero_point"));
  return x.inside ? select(*x.inside, off, off.like(0)) : off;
}

// kept: sample, group, output, window; folded: channel, offset.
void forward(const Nest& nest) {
  if (is_transposed(nest.call)) return transposed_convolution(nest);
  const Convolution c(nest, nest.shape_of("input"), nest.shape_of("weight"), nest.type().shape);
  if (const TiledProduct t = forward_product(nest, c);
      is_floating(c.type) && is_worth_tiles(nest.lowering, t))
    return in_tiles(nest.lowering, t);
  const std::size_t dims = c.dims();
  Dimensions d;
  d.add({c.samples, c.groups, c.outputs}, false);
  d.add(c.windows, false);
  d.add({c.channels}, true);
  d.add(c.kernel, true);
  const FoldSpace space = d.done();
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const Index output = c.outputs * folder.at()[1] + folder.at()[2];
    Quantity sum = folder.fold(
        {"sum", Combine::add, nest.lowering.constant(c.type, 0), [&](const Indices& at) {
           const Indices offset = part(at, 4 + dims, dims);
           const Index channel = at[3 + dims];
           const Fallen x = on_plane(nest.lowering, c.slide, part(at, 3, dims), offset, c.plane);
           const Quantity value =
               seen(nest, c, x, joined(at[0], c.channels * at[1] + channel, x.place));
           const Quantity weight = nest.raw("weight", joined(output, channel, offset));
           return value * weight.to(c.type);
         }});
    if (nest.has("bias")) sum = sum + nest.raw("bias", {output}).to(c.type);
    nest.lowering.write(nest.output(), joined(folder.at()[0], output, part(folder.at(), 3, dims)),
                        sum);
  });
}

// kept: sample, group, channel, place; folded: output, offset.
void input_gradient(const Nest& nest, const Convolution& c) {
  if (const TiledProduct t = input_gradient_product(nest, c); is_worth_tiles(nest.lowering, t))
    return in_tiles(nest.lowering, t);
  const std::size_t dims = c.dims();
  Dimensions d;
  d.add({c.samples, c.groups, c.channels}, false);
  d.add(c.plane, false);
  d.add({c.outputs}, true);
  d.add(c.kernel, true);
  const FoldSpace space = d.done();
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const Quantity sum = folder.fold(
        {"sum", Combine::add, nest.lowering.constant(c.type, 0), [&](const Indices& at) {
           const Indices offset = part(at, 4 + dims, dims);
           const Index output = c.outputs * at[1] + at[3 + dims];
           const Fallen g =
               on_windows(nest.lowering, c.slide, part(at, 3, dims), offset, c.windows);
           const Quantity grad = g.element(nest, "grad_output", joined(at[0], output, g.place));
           const Quantity weight = nest.raw("weight", joined(output, at[2], offset));
           return grad.to(c.type) * weight.to(c.type);
         }});
    const Indices& at = folder.at();
    nest.lowering.write(nest.output(0),
                        joined(at[0], c.channels * at[1] + at[2], part(at, 3, dims)), sum);
  });
}

// kept: group, output, channel, offset; folded: sample, window.
void weight_gradient(const Nest& nest, const Convolution& c) {
  if (const TiledProduct t = weight_gradient_product(nest, c); is_worth_tiles(nest.lowering, t))
    return in_tiles(nest.lowering, t);
  const std::size_t dims = c.dims();
  Dimensions d;
  d.add({c.groups, c.outputs, c.channels}, false);
  d.add(c.kernel, false);
  d.add({c.samples}, true);
  d.add(c.windows, true);
  FoldSpace space = d.done();
  space.strides = contiguous_strides(space.shape);
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const Quantity sum = folder.fold(
        {"sum", Combine::add, nest.lowering.constant(c.type, 0), [&](const Indices& at) {
           const Indices window = part(at, 4 + dims, dims);
           const Index sample = at[3 + dims];
           const Fallen x = on_plane(nest.lowering, c.slide, window, part(at, 3, dims), c.plane);
           const Quantity value =
               x.element(nest, "input", joined(sample, c.channels * at[0] + at[2], x.place));
           const Quantity grad =
               nest.raw("grad_output", joined(sample, c.outputs * at[0] + at[1], window));
           return value.to(c.type) * grad.to(c.type);
         }});
    const Indices& at = folder.at();
    nest.lowering.write(nest.output(1), joined(c.outputs * at[0] + at[1], at[2], part(at, 3, dims)),
                        sum);
  });
}

void bias_gradient(const Nest& nest, const Convolution& c) {
  const Shape& shape = nest.shape_of("grad_output");
  FoldSpace space{shape, std::vector<bool>(shape.size(), true), contiguous_strides(shape)};
  space.folded[1] = false;
  for_each_fold(nest.lowering, space, [&](Folder& folder) {
    const Quantity sum =
        folder.fold({"sum", Combine::add, nest.lowering.constant(c.type, 0),
                     [&](const Indices& at) { return nest.raw("grad_output", at).to(c.type); }});
    nest.lowering.write(nest.output(2), {folder.at()[1]}, sum);
  });
}

void backward(const Nest& nest) {
  if (is_transposed(nest.call)) return transposed_convolution_backward(nest);
  const Convolution c(nest, nest.shape_of("input"), nest.shape_of("weight"),
                      nest.shape_of("grad_output"));
  if (nest.wanted(0)) input_gradient(nest, c);
  if (nest.wanted(1)) weight_gradient(nest, c);
  if (nest.wanted(2)) bias_gradient(nest, c);
}

std::optional<std::string> without_samples(const Call& call) {
  if (call.tensor("input").shape.size() != call.tensor("weight").shape.size())
    return "inputs without samples";
  return std::nullopt;
}

std::optional<std::string> other_forms(const Call& call) {
  if (!is_floating(call.tensor("weight").dtype)) return "convolutions of integers";
  return is_transposed(call) ? std::nullopt : without_samples(call);
}

}  // namespace

void add_convolution_nests(NestTable& table) {
  for (const Op op : {Op::convolution, Op::_convolution, Op::conv1d, Op::conv2d, Op::conv3d,
                      Op::conv_transpose1d, Op::conv_transpose2d_input, Op::conv_transpose3d_input})
    table.push_back({op, forward, other_forms});
  table.push_back({Op::recut_int_convolution, forward, without_samples});
  table.push_back({Op::convolution_backward, backward, other_forms});
}

}  // namespace recut::loop
