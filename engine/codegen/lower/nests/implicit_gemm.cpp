// The three convolutions of training as matrix products over linearized dimensions, for each group:
//   forward            [outputs x channels*offsets] * [channels*offsets x samples*windows]
//   input gradient     [channels x outputs*offsets] * [outputs*offsets x samples*positions]
//   weight gradient    [outputs x samples*windows] * [samples*windows x channels*offsets]
// Row, column and depth are delinearized where an element is packed, and the element is a guarded
// load. With a stride the input gradient is one product for each stride phase, which avoids
// multiplying by the zeros between strided positions.
#include "engine/codegen/lower/nests/implicit_gemm.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/codegen/lower/nests/tiled_matmul.h"

namespace recut::loop {
namespace {

// All dimensions but the first.
Indices tail(const Indices& at) { return part(at, 1, at.size() - 1); }

std::optional<ScalarExpr> both(const std::optional<ScalarExpr>& a,
                               const std::optional<ScalarExpr>& b) {
  return a && b ? *a & *b : a ? a : b;
}

Shape joined(std::initializer_list<std::int64_t> first, const Shape& residue) {
  Shape all = first;
  all.insert(all.end(), residue.begin(), residue.end());
  return all;
}

// [sample, position...] with lines padded to whole vectors, where that adds a quarter at most: then
// lanes are contiguous. A vector longer than a panel of the tile would pad for nothing.
Shape filled(const Nest& nest, Shape positions) {
  constexpr std::int64_t kBytes = 4;
  const auto& registers = nest.lowering.options.registers;
  for (const std::int64_t vector : {16, 8, 4}) {
    if (registers && vector * kBytes > registers->bytes) continue;
    const std::int64_t whole = (positions.back() + vector - 1) / vector * vector;
    if (4 * whole > 5 * positions.back()) continue;
    positions.back() = whole;
    break;
  }
  return positions;
}

// The number of positions that lie on one line, from any multiple of it on.
std::int64_t neighbours_in(std::int64_t line) {
  std::int64_t most = 1;
  while (most < 16 && line % (2 * most) == 0) most *= 2;
  return most;
}

// A 1x1 window with stride 1 and no padding: the plane is one line.
bool is_plain(const Convolution& c) {
  return element_count(c.kernel) == 1 && element_count(c.window_config.stride) == 1 &&
         c.window_config.padding == Shape(c.dims(), 0);
}

// The left operand: the index of its element by group, row and depth index.
using WeightIndexOf =
    std::function<Indices(const Index& group, const Index& row, const Indices& depth)>;

// `neighbours`: its elements lie contiguously along the depth.
MatmulOperand left_operand(const Nest& nest, DType type, std::string_view parameter,
                           const Shape& depth, bool neighbours, const WeightIndexOf& position) {
  MatmulOperand operand;
  operand.contiguous_along_depth = true;
  operand.converts = !neighbours || nest.dtype_of(parameter) != type;
  operand.element = [=, &nest](const Indices& batch, const Index& row, const Index& k,
                               const std::optional<ScalarExpr>& inside) {
    const Indices at = delinearize(k, depth, nest.lowering.builder());
    return nest.raw_where(parameter, position(batch[0], row, at), inside).to(type);
  };
  return operand;
}

// The right operand: the sample, the channel and the guarded position that an element of a window
// reads, by group, column index and depth index.
struct ImplicitGemmElement {
  Index sample, channel;
  GuardedPosition at;
};
using ElementOf = std::function<ImplicitGemmElement(const Index& group, const Indices& column,
                                                    const Indices& depth)>;

MatmulOperand right_operand(const Nest& nest, DType type, std::string_view parameter,
                            const Shape& columns, const Shape& depth, const ElementOf& element_of) {
  MatmulOperand operand;
  operand.element = [=, &nest](const Indices& batch, const Index& column, const Index& k,
                               const std::optional<ScalarExpr>& inside) {
    Builder& builder = nest.lowering.builder();
    const Indices to = delinearize(column, columns, builder);
    ImplicitGemmElement element = element_of(batch[0], to, delinearize(k, depth, builder));
    element.at.inside = both(element.at.inside, inside);
    return element.at
        .element(nest, parameter, joined(element.sample, element.channel, element.at.position))
        .to(type);
  };
  return operand;
}

// A regular grid of positions or window offsets: by dimension the first, the step and the count.
struct Grid {
  Shape first, step, count;

  static Grid whole(const Shape& shape) {
    return {Shape(shape.size(), 0), Shape(shape.size(), 1), shape};
  }
  Indices position(const Indices& number) const {
    Indices at;
    for (std::size_t d = 0; d < first.size(); ++d)
      at.push_back(Index(first[d]) + step[d] * number[d]);
    return at;
  }
};

// Writes the sum of a column at its position in `output`, unless it is padding of a line.
void write_position(const Nest& nest, const Grid& positions, const Shape& filled,
                    const Index& channel, const Index& column,
                    const std::function<ScalarExpr(const Indices& at)>& value) {
  Builder& builder = nest.lowering.builder();
  const Indices at = delinearize(column, filled, builder);
  const std::int64_t width = positions.count.back();
  const std::size_t depth = builder.depth();
  if (width < filled.back())
    builder.open_if((nest.lowering.number(at.back()) < static_cast<double>(width)).id());
  const Indices to = joined(at[0], channel, positions.position(tail(at)));
  nest.lowering.write(nest.output(), to, value(to));
  builder.close_to(depth);
}

// The product without its operands, one for each group. `unit`: the size of the last depth
// dimensions. Blocks that are multiples of it need no division in their indices.
TiledMatmul product_of(const Convolution& c, std::int64_t rows, const Shape& columns,
                       const Shape& depth, std::int64_t unit) {
  constexpr std::int64_t kMaxDepthUnit = 128;
  TiledMatmul t;
  t.batch = {c.groups};
  t.rows = rows;
  t.columns = element_count(columns);
  t.depth = element_count(depth);
  t.depth_unit = unit <= kMaxDepthUnit ? unit : 1;
  t.type = c.type;
  return t;
}

// rows: outputs; columns: sample, window; depth: channel, offset.
TiledMatmul forward_product(const Nest& nest, const Convolution& c) {
  const Shape windows = joined({c.samples}, c.windows);
  const Shape columns = is_plain(c) ? windows : filled(nest, windows);
  const Shape depth = joined({c.channels}, c.kernel);
  TiledMatmul t = product_of(c, c.outputs, columns, depth, element_count(c.kernel));
  t.left = left_operand(nest, c.type, "weight", depth, true,
                        [=](const Index& group, const Index& row, const Indices& at) {
                          return joined(c.outputs * group + row, at[0], tail(at));
                        });
  t.right = right_operand(
      nest, c.type, "input", columns, depth,
      [=, &nest](const Index& group, const Indices& to, const Indices& at) {
        return ImplicitGemmElement{
            to[0], c.channels * group + at[0],
            plane_position(nest.lowering, c.window_config, tail(to), tail(at), c.plane)};
      });
  t.right.neighbours = neighbours_in(is_plain(c) ? element_count(c.windows) : columns.back());
  t.writes_all = columns == windows;
  t.write = [=, &nest](const Indices& batch, const Index& row, const Index& column,
                       const ScalarExpr& sum) {
    const Index output = c.outputs * batch[0] + row;
    write_position(nest, Grid::whole(c.windows), columns, output, column,
                   [&](const Indices& at) { return with_epilogue(nest, c, sum, at); });
  };
  return t;
}

// Positions of the plane and the window offsets that reach them (one stride phase).
struct StridePhase {
  Grid positions, offsets;

  bool has_taps() const { return element_count(offsets.count) > 0; }
};

// Adds a dimension: the positions congruent to `residue` modulo the stride. A window offset that
// reaches one of them reaches all.
void add_dimension(StridePhase& to, const Convolution& c, std::size_t d, std::int64_t residue) {
  const auto up = [](std::int64_t a, std::int64_t by) { return a < 0 ? 0 : (a + by - 1) / by; };
  const std::int64_t stride = c.window_config.stride[d], dilation = c.window_config.dilation[d];
  const std::int64_t step = stride / std::gcd(stride, dilation);
  std::int64_t first = 0;
  while (first < step && (residue + c.window_config.padding[d] - dilation * first) % stride != 0)
    ++first;
  const std::int64_t found = first < step ? up(c.kernel[d] - first, step) : 0;
  const auto add = [](Grid& grid, std::int64_t begin, std::int64_t by, std::int64_t count) {
    grid.first.push_back(begin);
    grid.step.push_back(by);
    grid.count.push_back(count);
  };
  add(to.positions, residue, stride, up(c.plane[d] - residue, stride));
  add(to.offsets, first, step, found);
}

// All stride phases. With a stride most window offsets reach none of a position's windows, and the
// sums skip them.
std::vector<StridePhase> stride_phases(const Convolution& c) {
  constexpr std::int64_t kMaxCount = 8;
  if (element_count(c.window_config.stride) > kMaxCount)
    return {{Grid::whole(c.plane), Grid::whole(c.kernel)}};
  std::vector<StridePhase> all{{}};
  for (std::size_t d = 0; d < c.dims(); ++d) {
    std::vector<StridePhase> next;
    for (const StridePhase& phase : all)
      for (std::int64_t residue = 0; residue < std::min(c.window_config.stride[d], c.plane[d]);
           ++residue) {
        next.push_back(phase);
        add_dimension(next.back(), c, d, residue);
      }
    all = std::move(next);
  }
  return all;
}

// rows: channels; columns: sample, position; depth: output, offset.
TiledMatmul input_gradient_product(const Nest& nest, const Convolution& c,
                                   const StridePhase& phase) {
  const Shape positions = joined({c.samples}, phase.positions.count);
  const Shape columns = filled(nest, positions);
  const Shape depth = joined({c.outputs}, phase.offsets.count);
  TiledMatmul t = product_of(c, c.channels, columns, depth, element_count(phase.offsets.count));
  t.left = left_operand(nest, c.type, "weight", depth, false,
                        [=](const Index& group, const Index& row, const Indices& at) {
                          return joined(c.outputs * group + at[0], row,
                                        phase.offsets.position(tail(at)));
                        });
  t.right = right_operand(
      nest, c.type, "grad_output", columns, depth,
      [=, &nest](const Index& group, const Indices& to, const Indices& at) {
        return ImplicitGemmElement{
            to[0], c.outputs * group + at[0],
            window_position(nest.lowering, c.window_config, phase.positions.position(tail(to)),
                            phase.offsets.position(tail(at)), c.windows)};
      });
  t.right.neighbours = neighbours_in(columns.back());
  t.writes_all = columns == positions;
  t.write = [=, &nest](const Indices& batch, const Index& row, const Index& column,
                       const ScalarExpr& sum) {
    write_position(nest, phase.positions, columns, c.channels * batch[0] + row, column,
                   [&](const Indices&) { return sum; });
  };
  return t;
}

// rows: outputs; columns: channel, offset; depth: sample, window.
TiledMatmul weight_gradient_product(const Nest& nest, const Convolution& c) {
  const Shape columns = joined({c.channels}, c.kernel);
  const Shape depth = joined({c.samples}, c.windows);
  TiledMatmul t = product_of(c, c.outputs, columns, depth, c.windows.back());
  t.left = left_operand(nest, c.type, "grad_output", depth, false,
                        [=](const Index& group, const Index& row, const Indices& at) {
                          return joined(at[0], c.outputs * group + row, tail(at));
                        });
  t.right = right_operand(
      nest, c.type, "input", columns, depth,
      [=, &nest](const Index& group, const Indices& of, const Indices& at) {
        return ImplicitGemmElement{
            at[0], c.channels * group + of[0],
            plane_position(nest.lowering, c.window_config, tail(at), tail(of), c.plane)};
      });
  t.right.neighbours = is_plain(c) ? element_count(c.windows) : c.windows.back();
  t.right.contiguous_along_depth = t.right.neighbours >= 4;
  t.write = [=, &nest](const Indices& batch, const Index& row, const Index& column,
                       const ScalarExpr& sum) {
    const Indices of = delinearize(column, columns, nest.lowering.builder());
    nest.lowering.write(nest.output(1), joined(c.outputs * batch[0] + row, of[0], tail(of)), sum);
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
  window_config = {kernel, per_dimension(nest.call, "stride", dims, 1),
                   per_dimension(nest.call, "padding", dims, 0),
                   per_dimension(nest.call, "dilation", dims, 1)};
}

Indices part(const Indices& at, std::size_t first, std::size_t count) {
  return Indices(at.begin() + static_cast<std::ptrdiff_t>(first),
                 at.begin() + static_cast<std::ptrdiff_t>(first + count));
}

Indices joined(const Index& first, const Index& second, const Indices& residue) {
  Indices out{first, second};
  out.insert(out.end(), residue.begin(), residue.end());
  return out;
}

ScalarExpr with_epilogue(const Nest& nest, const Convolution& c, const ScalarExpr& sum,
                         const Indices& at) {
  ScalarExpr value = sum;
  if (nest.has("bias")) value = value + nest.raw("bias", {at[1]}).to(c.type);
  if (nest.has("addend")) value = value + nest.raw("addend", at).to(c.type);
  const auto bound = [&](std::string_view parameter) {
    const bool given = nest.call.op().parameter(parameter) && nest.call.given(parameter);
    return given ? std::optional(value.like(nest.call.scalar(parameter).real)) : std::nullopt;
  };
  if (const auto low = bound("low")) value = select(value < *low, *low, value);
  if (const auto high = bound("high")) value = select(value > *high, *high, value);
  return value;
}

bool convolution_in_tiles(const Nest& nest, const Convolution& c) {
  const TiledMatmul product = forward_product(nest, c);
  if (!is_floating(c.type) || !is_tiling_profitable(nest.lowering, product)) return false;
  emit_tiles(nest.lowering, product);
  return true;
}

bool weight_gradient_in_tiles(const Nest& nest, const Convolution& c) {
  const TiledMatmul product = weight_gradient_product(nest, c);
  if (!is_tiling_profitable(nest.lowering, product)) return false;
  emit_tiles(nest.lowering, product);
  return true;
}

bool input_gradient_in_tiles(const Nest& nest, const Convolution& c) {
  const StridePhase all{Grid::whole(c.plane), Grid::whole(c.kernel)};
  if (!is_tiling_profitable(nest.lowering, input_gradient_product(nest, c, all))) return false;
  for (const StridePhase& phase : stride_phases(c)) {
    if (phase.has_taps()) {
      emit_tiles(nest.lowering, input_gradient_product(nest, c, phase));
      continue;
    }
    const Shape shape = joined({c.samples, c.groups * c.channels}, phase.positions.count);
    nest.lowering.for_each(shape, contiguous_strides(shape), [&](const Indices& at) {
      nest.lowering.write(nest.output(),
                          joined(at[0], at[1], phase.positions.position(part(at, 2, c.dims()))),
                          nest.lowering.constant(c.type, 0));
    });
  }
  return true;
}

}  // namespace recut::loop
