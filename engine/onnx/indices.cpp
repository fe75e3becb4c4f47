// Gather and scatter operators.
#include <fmt/core.h>

#include <span>

#include "engine/onnx/lowering.h"

namespace recut::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

NodeId wide(Lowering& node, std::size_t input) { return node.convert(node.in(input), DType::i64); }

// Slices at indices along one axis. Negative indices count from the end, in ONNX and in aten.index.
Lowered gather(Lowering& node) {
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  if (const auto index = node.number(1, 0))
    return Lowering::one(node, node.make(Op::select_int, {node.in(0), axis, *index}));
  ArgumentList indices(static_cast<std::size_t>(axis), None{});
  indices.emplace_back(wide(node, 1));
  return Lowering::one(node, node.make(Op::index_Tensor, {node.in(0), std::move(indices)}));
}

// Non-negative indices, for PyTorch operators that take no others. Out-of-range indices stay out of
// range.
NodeId from_front(Lowering& node, std::size_t input, std::int64_t size) {
  const NodeId indices = wide(node, input);
  const NodeId negative = node.make(Op::lt_Scalar, {indices, 0});
  const NodeId counted = node.make(Op::add_Tensor, {indices, size});
  return node.make(Op::where_self, {negative, counted, indices});
}

Lowered gather_elements(Lowering& node) {
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const std::int64_t size = node.type(0).shape[static_cast<std::size_t>(axis)];
  return Lowering::one(node, node.make(Op::gather, {node.in(0), axis, from_front(node, 1, size)}));
}

// The reductions of elements that meet at an index, as PyTorch calls them; "" where the last stays.
std::string reduction_of(const Lowering& node) {
  constexpr std::pair<std::string_view, const char*> kReductions[] = {
      {"none", ""}, {"add", "sum"}, {"mul", "prod"}, {"max", "amax"}, {"min", "amin"}};
  const std::string given = node.text("reduction", "none");
  for (const auto& [name, reduction] : kReductions)
    if (name == given) return reduction;
  node.refuse(fmt::format("reduction '{}'", given));
}

Lowered scatter_elements(Lowering& node) {
  const std::string reduction = reduction_of(node);
  const std::int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  const std::int64_t size = node.type(0).shape[static_cast<std::size_t>(axis)];
  const NodeId indices = from_front(node, 1, size);
  if (reduction.empty())
    return Lowering::one(node, node.make(Op::scatter_src, {node.in(0), axis, indices, node.in(2)}));
  return Lowering::one(node, node.make(Op::scatter_reduce_two,
                                       {node.in(0), axis, indices, node.in(2), reduction, true}));
}

// The last dimension of `input` holds one index for each of the first dimensions of the data, after
// `batch` dimensions that both have.
std::vector<NodeId> index_columns(Lowering& node, std::size_t input, std::int64_t batch = 0) {
  const NodeId indices = wide(node, input);
  const Shape shape = node.shape(indices), data = node.type(0).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (batch < 0 || batch >= rank || batch > node.rank(0) || shape.back() > node.rank(0) - batch)
    node.refuse("more indices than dimensions");
  std::vector<NodeId> columns;
  for (std::int64_t d = 0; d < batch; ++d) {
    const std::int64_t size = data[static_cast<std::size_t>(d)];
    if (shape[static_cast<std::size_t>(d)] != size) node.refuse("batch dimensions that differ");
    Shape along(static_cast<std::size_t>(rank - 1), 1);
    along[static_cast<std::size_t>(d)] = size;
    columns.push_back(node.reshape(node.make(Op::arange, {size, DType::i64}), along));
  }
  for (std::int64_t i = 0; i < shape.back(); ++i)
    columns.push_back(node.make(Op::select_int, {indices, -1, i}));
  return columns;
}

Lowered gather_nd(Lowering& node) {
  const std::int64_t batch = node.integer("batch_dims", 0);
  return Lowering::one(
      node, node.make(Op::index_Tensor, {node.in(0), Argument(index_columns(node, 1, batch))}));
}

// Slices of the data, as rows, reduced at rows of it.
NodeId scatter_rows(Lowering& node, const std::string& reduction) {
  const Shape shape = node.type(0).shape;
  const std::vector<NodeId> columns = index_columns(node, 1);
  const std::span<const std::int64_t> sizes(shape);
  const std::int64_t rows = element_count(sizes.first(columns.size()));
  const std::int64_t width = element_count(sizes.subspan(columns.size()));
  NodeId row;
  for (std::size_t d = 0; d < columns.size(); ++d) {
    const NodeId column = columns[d], zero = node.make(Op::lt_Scalar, {column, 0});
    const NodeId counted = node.make(Op::add_Tensor, {column, shape[d]});
    const NodeId index = node.make(Op::where_self, {zero, counted, column});
    row = d == 0 ? index
                 : node.make(Op::add_Tensor, {node.make(Op::mul_Tensor, {row, shape[d]}), index});
  }
  if (!row.valid()) node.refuse("no index");
  const std::int64_t updates = element_count(node.shape(row));
  const NodeId places =
      node.make(Op::expand, {node.reshape(row, {updates, 1}), Argument(Ints{updates, width})});
  const NodeId data = node.reshape(node.in(0), {rows, width});
  const NodeId source = node.reshape(node.in(2), {updates, width});
  return node.reshape(node.make(Op::scatter_reduce_two, {data, 0, places, source, reduction, true}),
                      shape);
}

Lowered scatter_nd(Lowering& node) {
  const std::string reduction = reduction_of(node);
  if (!reduction.empty() && reduction != "sum")
    return Lowering::one(node, scatter_rows(node, reduction));
  return Lowering::one(node, node.make(Op::index_put, {node.in(0), Argument(index_columns(node, 1)),
                                                       node.in(2), reduction == "sum"}));
}

// Each sequence backwards up to its length; the rest as it is. Axes 0 and 1 are time and batch in
// either order.
Lowered reverse_sequence(Lowering& node) {
  const std::int64_t time = node.integer("time_axis", 0), batch = node.integer("batch_axis", 1);
  if (node.rank(0) < 2 || time + batch != 1 || time * batch != 0)
    node.refuse("axes of time and batch other than 0 and 1");
  const Shape shape = node.type(0).shape;
  const std::int64_t steps = shape[static_cast<std::size_t>(time)];
  const std::int64_t sequences = shape[static_cast<std::size_t>(batch)];
  const auto along = [&](std::int64_t axis, NodeId id, std::int64_t size) {
    Ints sizes{1, 1};
    sizes[static_cast<std::size_t>(axis)] = size;
    return node.reshape(id, sizes);
  };
  const NodeId lengths = along(batch, wide(node, 1), sequences);
  const NodeId step = along(time, node.make(Op::arange, {steps, DType::i64}), steps);
  const NodeId sequence = along(batch, node.make(Op::arange, {sequences, DType::i64}), sequences);
  const NodeId last = node.make(Op::sub_Tensor, {lengths, 1});
  const NodeId inside = node.make(Op::lt_Tensor, {step, lengths});
  const NodeId backwards = node.make(Op::sub_Tensor, {last, step});
  const NodeId from = node.make(Op::where_self, {inside, backwards, step});
  ArgumentList indices{time == 0 ? from : sequence, time == 0 ? sequence : from};
  return Lowering::one(node, node.make(Op::index_Tensor, {node.in(0), std::move(indices)}));
}

Lowered grid_sample(Lowering& node) {
  if (node.rank(0) != 4)
    node.refuse(fmt::format("an input of {} dimensions, expected 4", node.rank(0)));
  const auto among = [&](std::string_view attribute, const char* otherwise,
                         std::initializer_list<std::string_view> names) -> std::int64_t {
    const std::string given = node.text(attribute, otherwise);
    std::int64_t index = 0;
    for (const std::string_view name : names)
      if (name == given)
        return index % 3;
      else
        ++index;
    node.refuse(fmt::format("{} '{}'", attribute, given));
  };
  const std::int64_t mode =
      among("mode", "bilinear", {"bilinear", "nearest", "bicubic", "linear", "nearest", "cubic"});
  const std::int64_t padding = among("padding_mode", "zeros", {"zeros", "border", "reflection"});
  return Lowering::one(node,
                       node.make(Op::grid_sampler_2d, {node.in(0), node.in(1), mode, padding,
                                                       node.integer("align_corners", 0) != 0}));
}

Lowered top_k(Lowering& node) {
  const auto count = node.integers(1, "count");
  if (count.size() != 1) node.refuse("its count is no single number");
  const NodeId both =
      node.make(Op::topk, {node.in(0), count[0], node.axis(node.integer("axis", -1), node.rank(0)),
                           node.integer("largest", 1) != 0, node.integer("sorted", 1) != 0});
  return {Lowering::one(node, node.item(both, 0))[0], Lowering::one(node, node.item(both, 1))[0]};
}

// Off and on values along a new axis, on at the index. An index beyond the depth gives off values
// only.
Lowered one_hot(Lowering& node) {
  const std::int64_t depth = node.whole(1, "depth");
  const auto values = as_reals(node.known(2, "values"));
  if (values.size() != 2 || depth <= 0) node.refuse("its depth or values are not as expected");
  const std::int64_t axis = node.axis(node.integer("axis", -1), node.rank(0) + 1);
  const NodeId indices = node.make(Op::unsqueeze, {from_front(node, 0, depth), axis});
  Shape shape(static_cast<std::size_t>(node.rank(0)) + 1, 1);
  shape[static_cast<std::size_t>(axis)] = depth;
  const NodeId counted = node.reshape(node.make(Op::arange, {depth, DType::i64}), shape);
  const NodeId hit = node.make(Op::eq_Tensor, {indices, counted});
  const auto full = [&](double value) {
    return node.make(Op::full, {Argument(Shape{}), value, node.type(2).dtype});
  };
  const NodeId on = full(values[1]), off = full(values[0]);
  return Lowering::one(node, node.make(Op::where_self, {hit, on, off}));
}

}  // namespace

std::vector<OperatorLowering> index_lowerings() {
  return {
      {"Gather", gather},          {"GatherElements", gather_elements},
      {"GatherND", gather_nd},     {"ScatterElements", scatter_elements},
      {"ScatterND", scatter_nd},   {"TopK", top_k},
      {"OneHot", one_hot},         {"ReverseSequence", reverse_sequence},
      {"GridSample", grid_sample}, {"Scatter", scatter_elements, 11},
  };
}

}  // namespace recut::onnx
