// Data movement: reshape, transpose, split, concat, slice, pad. Shapes, starts and pads must be
// constants; each becomes ATen views or copies with static arguments.
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

// Largest axis whose padding is expressed by explicit indices.
constexpr std::int64_t kMaxPadded = 1 << 24;

// 0: the input's own size, unless allowzero. The rule of view finds the size that -1 stands for.
Lowered reshape(Lowering& node) {
  Ints shape = node.integers(1, "sizes");
  const Shape& from = node.type(0).shape;
  if (node.integer("allowzero", 0) == 0)
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == 0) {
        if (i >= from.size()) node.refuse(fmt::format("size 0 at {}, past the input's shape", i));
        shape[i] = from[i];
      }
  return Lowering::one(node, node.reshape(node.in(0), shape));
}

Lowered flatten(Lowering& node) {
  const Shape& shape = node.type(0).shape;
  std::int64_t axis = node.integer("axis", 1);
  if (axis != node.rank(0)) axis = node.axis(axis, node.rank(0));
  const std::int64_t rows = element_count(std::span(shape).first(static_cast<std::size_t>(axis)));
  const std::int64_t columns =
      element_count(std::span(shape).subspan(static_cast<std::size_t>(axis)));
  return Lowering::one(node, node.reshape(node.in(0), {rows, columns}));
}

Lowered transpose(Lowering& node) {
  Ints order(static_cast<std::size_t>(node.rank(0)));
  std::iota(order.rbegin(), order.rend(), 0);
  return Lowering::one(
      node, node.make(Op::permute, {node.in(0), Argument(node.integers("perm", order))}));
}

Lowered squeeze(Lowering& node) {
  const Shape& shape = node.type(0).shape;
  Ints axes;
  if (const auto given = node.axes(1)) {
    for (const std::int64_t axis : *given) axes.push_back(node.axis(axis, node.rank(0)));
  } else {
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == 1) axes.push_back(static_cast<std::int64_t>(i));
  }
  for (const std::int64_t axis : axes)
    if (shape[static_cast<std::size_t>(axis)] != 1)
      node.refuse(fmt::format("axis {} has {} elements, expected one", axis,
                              shape[static_cast<std::size_t>(axis)]));
  if (axes.empty()) return {node.value(0)};
  return Lowering::one(node, node.make(Op::squeeze_dims, {node.in(0), Argument(axes)}));
}

Lowered unsqueeze(Lowering& node) {
  const auto given = node.axes(1);
  if (!given) node.refuse("its axes are missing");
  const std::int64_t rank = node.rank(0) + static_cast<std::int64_t>(given->size());
  Ints axes;
  for (const std::int64_t axis : *given) axes.push_back(node.axis(axis, rank));
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    node.refuse("an axis stands twice");
  NodeId id = node.in(0);
  for (const std::int64_t axis : axes) id = node.make(Op::unsqueeze, {id, axis});
  return Lowering::one(node, id);
}

Lowered concat(Lowering& node) {
  ArgumentList parts;
  for (std::size_t i = 0; i < node.inputs(); ++i) {
    if (node.type(i).dtype != node.type(0).dtype) node.refuse("parts of different dtypes");
    parts.emplace_back(node.in(i));
  }
  return Lowering::one(node, node.make(Op::cat, {std::move(parts), node.integer("axis", 0)}));
}

// Sizes from the input (since opset 13); else one equal part for each output, with a smaller last
// one if needed.
Lowered split(Lowering& node) {
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const auto parts = static_cast<std::int64_t>(node.outputs());
  Ints sizes;
  if (node.has(1)) {
    sizes = node.integers(1, "sizes");
  } else {
    const std::int64_t whole = node.type(0).shape[static_cast<std::size_t>(axis)];
    const std::int64_t each = (whole + parts - 1) / std::max<std::int64_t>(parts, 1);
    for (std::int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<std::int64_t>(whole - i * each, 0, each));
  }
  if (sizes.size() != node.outputs())
    node.refuse(fmt::format("{} sizes for {} outputs", sizes.size(), node.outputs()));
  const NodeId all = node.make(Op::split_with_sizes, {node.in(0), Argument(sizes), axis});
  Lowered outputs;
  for (std::int64_t i = 0; i < parts; ++i)
    outputs.push_back(Lowering::one(node, node.item(all, i))[0]);
  return outputs;
}

// One axis of a slice: `start` and `end` may count from the end and lie beyond it. A negative step
// becomes a slice with a positive step, then a flip.
NodeId sliced(Lowering& node, NodeId id, std::int64_t axis, std::int64_t start, std::int64_t end,
              std::int64_t step) {
  if (step == 0 || step == INT64_MIN) node.refuse(fmt::format("a step of {}", step));
  const std::int64_t size = node.shape(id)[static_cast<std::size_t>(axis)];
  const auto from_front = [&](std::int64_t i) { return i < 0 ? i + size : i; };
  if (step > 0) {
    start = std::clamp<std::int64_t>(from_front(start), 0, size);
    end = std::clamp<std::int64_t>(from_front(end), start, size);
    if (start == 0 && end == size && step == 1) return id;
    return node.make(Op::slice_Tensor, {id, axis, start, end, step});
  }
  start = std::clamp<std::int64_t>(from_front(start), -1, size - 1);
  end = std::clamp<std::int64_t>(end < -size ? -1 : from_front(end), -1, start);
  const std::int64_t count = (start - end + -step - 1) / -step;
  const std::int64_t first = count == 0 ? 0 : start + (count - 1) * step;
  const NodeId forwards =
      node.make(Op::slice_Tensor, {id, axis, first, count == 0 ? first : start + 1, -step});
  return node.make(Op::flip, {forwards, Argument(Ints{axis})});
}

Lowered slice(Lowering& node) {
  const Ints starts = node.integers(1, "starts"), ends = node.integers(2, "ends");
  Ints axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (node.has(3)) axes = node.integers(3, "axes");
  if (node.has(4)) steps = node.integers(4, "steps");
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    node.refuse("starts, ends, axes and steps are not equally many");
  NodeId id = node.in(0);
  for (std::size_t i = 0; i < starts.size(); ++i)
    id = sliced(node, id, node.axis(axes[i], node.rank(0)), starts[i], ends[i], steps[i]);
  return Lowering::one(node, id);
}

Lowered expand(Lowering& node) {
  const auto shape = broadcast(node.type(0).shape, node.integers(1, "sizes"));
  if (!shape) node.refuse(shape.diagnostics().front().message);
  if (*shape == node.type(0).shape) return {node.value(0)};
  return Lowering::one(node, node.make(Op::expand, {node.in(0), Argument(*shape)}));
}

Lowered tile(Lowering& node) {
  const Ints repeats = node.integers(1, "repeats");
  if (static_cast<std::int64_t>(repeats.size()) != node.rank(0))
    node.refuse("not one repeat a dimension");
  return Lowering::one(node, node.make(Op::repeat, {node.in(0), Argument(repeats)}));
}

// ONNX gives all beginnings, then all ends; PyTorch pairs, the last dimension first.
Ints paired_pads(const Lowering& node) {
  const Ints pads = node.integers(1, "pads");
  const std::int64_t rank = node.rank(0);
  Ints axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (node.has(3)) axes = node.integers(3, "axes");
  if (pads.size() != 2 * axes.size())
    node.refuse(fmt::format("{} pads for {} axes", pads.size(), axes.size()));
  Ints pairs(static_cast<std::size_t>(2 * rank), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto at = static_cast<std::size_t>(2 * (rank - 1 - node.axis(axes[i], rank)));
    pairs[at] = pads[i];
    pairs[at + 1] = pads[i + axes.size()];
  }
  return pairs;
}

// The element of `size` that a reflected index `at` refers to.
std::int64_t reflected(std::int64_t at, std::int64_t size) {
  const std::int64_t round = std::max<std::int64_t>(1, 2 * (size - 1));
  const std::int64_t phase = ((at % round) + round) % round;
  return std::min(phase, round - phase);
}

std::int64_t continued(const std::string& mode, std::int64_t at, std::int64_t size) {
  if (mode == "reflect") return reflected(at, size);
  if (mode == "wrap") return ((at % size) + size) % size;
  return std::clamp<std::int64_t>(at, 0, size - 1);
}

// Pads one axis with its own elements; negative pads crop first.
NodeId continued_axis(Lowering& node, NodeId id, std::int64_t axis, const std::string& mode,
                      std::int64_t before, std::int64_t after) {
  const std::int64_t size = node.shape(id)[static_cast<std::size_t>(axis)];
  const auto more = [&](std::int64_t pad) { return std::max<std::int64_t>(0, pad); };
  const bool sound = size <= kMaxPadded && std::max(before, after) <= kMaxPadded &&
                     std::min(before, after) >= -kMaxPadded;
  const std::int64_t kept = sound ? size - more(-before) - more(-after) : 0;
  if (kept < 1) node.refuse(fmt::format("pads of {} and {} for {} elements", before, after, size));
  Ints indices;
  for (std::int64_t i = -more(before); i < kept + more(after); ++i)
    indices.push_back(more(-before) + continued(mode, i, kept));
  return node.make(Op::index_select, {id, axis, node.constant(integers_tensor(indices))});
}

// By PyTorch's padding operators for up to three last dimensions, or axis by axis.
NodeId padded_with_itself(Lowering& node, const Ints& pairs, const std::string& mode) {
  constexpr Op kReflect[] = {Op::reflection_pad1d, Op::reflection_pad2d, Op::reflection_pad3d};
  constexpr Op kEdge[] = {Op::replication_pad1d, Op::replication_pad2d, Op::replication_pad3d};
  const auto dimensions = static_cast<std::int64_t>(pairs.size() / 2), rank = node.rank(0);
  bool fits = mode != "wrap" && dimensions <= 3 && rank > dimensions && rank <= dimensions + 2;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const std::int64_t size = node.type(0).shape[static_cast<std::size_t>(rank) - 1 - i / 2];
    fits = fits && pairs[i] >= 0 && (mode != "reflect" || pairs[i] < size);
  }
  if (fits)
    return node.make((mode == "reflect" ? kReflect : kEdge)[dimensions - 1],
                     {node.in(0), Argument(pairs)});
  NodeId id = node.in(0);
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    if (pairs[i] != 0 || pairs[i + 1] != 0)
      id = continued_axis(node, id, rank - 1 - static_cast<std::int64_t>(i / 2), mode, pairs[i],
                          pairs[i + 1]);
  return id;
}

Lowered pad(Lowering& node) {
  Ints pairs = paired_pads(node);
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant") {
    const Argument value = node.has(2) ? Argument(node.real(2, "value")) : Argument(0);
    return Lowering::one(node,
                         node.make(Op::constant_pad_nd, {node.in(0), Argument(pairs), value}));
  }
  if (mode != "reflect" && mode != "edge" && mode != "wrap")
    node.refuse(fmt::format("padding of mode '{}'", mode));
  while (!pairs.empty() && pairs[pairs.size() - 1] == 0 && pairs[pairs.size() - 2] == 0)
    pairs.resize(pairs.size() - 2);
  if (pairs.empty()) return {node.value(0)};
  return Lowering::one(node, padded_with_itself(node, pairs, mode));
}

Lowered trilu(Lowering& node) {
  const std::int64_t diagonal = node.has(1) ? node.whole(1, "diagonal") : 0;
  const Op op = node.integer("upper", 1) != 0 ? Op::triu : Op::tril;
  return Lowering::one(node, node.make(op, {node.in(0), diagonal}));
}

// [n, c, h, w] as [n, …, c, …] of blocks, by the order in which the dimensions stand.
Lowered depth_to_space(Lowering& node) {
  const Shape shape = node.type(0).shape;
  const std::int64_t block = node.integer("blocksize", 0);
  if (shape.size() != 4 || block <= 0 || block > 65'535 || shape[1] % (block * block) != 0)
    node.refuse("its input is no image of so many blocks");
  const std::int64_t depth = shape[1] / (block * block);
  const bool columns_first = node.text("mode", "DCR") == "CRD";
  const Ints parts = columns_first ? Ints{shape[0], depth, block, block, shape[2], shape[3]}
                                   : Ints{shape[0], block, block, depth, shape[2], shape[3]};
  const Ints order = columns_first ? Ints{0, 1, 4, 2, 5, 3} : Ints{0, 3, 4, 1, 5, 2};
  const NodeId blocks = node.reshape(node.in(0), parts);
  const NodeId moved = node.make(Op::permute, {blocks, Argument(order)});
  return Lowering::one(node,
                       node.reshape(moved, {shape[0], depth, shape[2] * block, shape[3] * block}));
}

Lowered space_to_depth(Lowering& node) {
  const Shape shape = node.type(0).shape;
  const std::int64_t block = node.integer("blocksize", 0);
  if (shape.size() != 4 || block <= 0 || shape[2] % block != 0 || shape[3] % block != 0)
    node.refuse("its input is no image of so many blocks");
  const std::int64_t rows = shape[2] / block, columns = shape[3] / block;
  const NodeId blocks = node.reshape(node.in(0), {shape[0], shape[1], rows, block, columns, block});
  const NodeId moved = node.make(Op::permute, {blocks, Argument(Ints{0, 3, 5, 1, 2, 4})});
  return Lowering::one(node,
                       node.reshape(moved, {shape[0], shape[1] * block * block, rows, columns}));
}

}  // namespace

std::vector<OperatorLowering> shape_lowerings() {
  return {
      {"Reshape", reshape},
      {"Flatten", flatten},
      {"Transpose", transpose},
      {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze},
      {"Concat", concat},
      {"Split", split},
      {"Slice", slice},
      {"Expand", expand},
      {"Tile", tile},
      {"Pad", pad},
      {"Trilu", trilu},
      {"DepthToSpace", depth_to_space},
      {"SpaceToDepth", space_to_depth},
  };
}

}  // namespace recut::onnx
