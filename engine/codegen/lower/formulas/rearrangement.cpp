// Index permutations: padding by reflection and replication, channel and pixel shuffles, flat
// indices.
#include "engine/codegen/lower/formula.h"
#include "engine/codegen/lower/formulas/edges.h"
#include "engine/codegen/lower/nest.h"

namespace recut::loop {
namespace {

const Shape& self_shape(const Site& s) { return s.call.tensor("self").shape; }

template <Edge edge>
Quantity pad(const Site& s) {
  return s.raw("self", shown_at_edges(s.lowering, s.call, self_shape(s), edge, s.at));
}

Quantity pixel_shuffle(const Site& s) {
  const std::int64_t factor = s.call.integer("upscale_factor");
  Builder& b = s.lowering.builder();
  Indices at = s.at;
  Index& channel = at[at.size() - 3];
  Index& row = at[at.size() - 2];
  Index& column = at.back();
  channel = factor * (factor * channel + b.remainder(row, factor)) + b.remainder(column, factor);
  row = b.quotient(row, factor);
  column = b.quotient(column, factor);
  return s.raw("self", at);
}

Quantity pixel_unshuffle(const Site& s) {
  const std::int64_t factor = s.call.integer("downscale_factor");
  Builder& b = s.lowering.builder();
  Indices at = s.at;
  Index& channel = at[at.size() - 3];
  at.back() = factor * at.back() + b.remainder(channel, factor);
  Index& row = at[at.size() - 2];
  row = factor * row + b.remainder(b.quotient(channel, factor), factor);
  channel = b.quotient(channel, factor * factor);
  return s.raw("self", at);
}

Quantity channel_shuffle(const Site& s) {
  const std::int64_t groups = s.call.integer("groups");
  Builder& b = s.lowering.builder();
  Indices at = s.at;
  at[1] = (self_shape(s)[1] / groups) * b.remainder(at[1], groups) + b.quotient(at[1], groups);
  return s.raw("self", at);
}

Quantity rot90(const Site& s) {
  const Shape& shape = self_shape(s);
  const auto dims = s.call.integers("dims");
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto a = static_cast<std::size_t>(wrap_dimension(dims[0], rank).value());
  const auto b = static_cast<std::size_t>(wrap_dimension(dims[1], rank).value());
  const std::int64_t quarters = floor_remainder(s.call.integer("k"), 4);
  Indices at = s.at;
  if (quarters % 2 == 1) std::swap(at[a], at[b]);
  if (quarters == 1 || quarters == 2) at[b] = Index(shape[b] - 1) - at[b];
  if (quarters == 2 || quarters == 3) at[a] = Index(shape[a] - 1) - at[a];
  return s.raw("self", at);
}

// diag_embed: the operand on a diagonal, 0 elsewhere.
Quantity diag_embed(const Site& s) {
  const std::size_t rank = s.at.size();
  const std::size_t row = dimension(s, "dim1", rank), column = dimension(s, "dim2", rank);
  const std::int64_t offset = s.call.integer("offset");
  const Index distance = s.at[column] - s.at[row] - Index(offset);
  const Quantity on = s.lowering.number(distance) == 0.0;
  Indices own;
  for (std::size_t d = 0; d < rank; ++d)
    if (d != row && d != column) own.push_back(s.at[d]);
  own.push_back(offset >= 0 ? s.at[row] : s.at[column]);
  return s.lowering.element_where(s.call.node("self"), own, on);
}

Quantity take(const Site& s) {
  const Shape& shape = self_shape(s);
  const Index place =
      Nest::checked_index(s.lowering, s.raw("index", s.at), element_count(shape), true);
  return s.raw("self", delinearised(place, shape, s.lowering.builder()));
}

Quantity take_along_dim(const Site& s) {
  const Shape& shape = self_shape(s);
  Builder& builder = s.lowering.builder();
  if (!s.call.given("dim")) {
    const Shape& given = s.call.tensor("indices").shape;
    const Quantity raw = s.raw("indices", delinearised(s.at[0], given, builder));
    const Index place = Nest::checked_index(s.lowering, raw, element_count(shape), false);
    return s.raw("self", delinearised(place, shape, builder));
  }
  const std::size_t dim = dimension(s, "dim", shape.size());
  Indices place = s.at;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1) place[d] = 0;
  place[dim] = Nest::checked_index(s.lowering, s.raw("indices"), shape[dim], false);
  return s.raw("self", place);
}

Quantity repeat_interleave(const Site& s) {
  const Shape& shape = self_shape(s);
  const std::int64_t times = std::max<std::int64_t>(s.call.integer("repeats"), 1);
  Builder& builder = s.lowering.builder();
  if (!s.call.given("dim"))
    return s.raw("self", delinearised(builder.quotient(s.at[0], times), shape, builder));
  Indices place = s.at;
  if (shape.empty()) return s.raw("self", {});
  const std::size_t dim = dimension(s, "dim", shape.size());
  place[dim] = builder.quotient(place[dim], times);
  return s.raw("self", place);
}

// glu: one half times the sigmoid of the other.
Quantity glu(const Site& s) {
  const Shape& shape = self_shape(s);
  const std::size_t dim = dimension(s, "dim", shape.size());
  Indices second = s.at;
  second[dim] = second[dim] + Index(shape[dim] / 2);
  const DType type = s.lowering.compute_type(s.dtype());
  const Quantity x = s.raw("self", s.at).to(type);
  return x * (1.0 / (1.0 + exp(-s.raw("self", second).to(type))));
}

// glu backward: the first half gets the gate, the second the first half times the gate's slope.
Quantity glu_backward(const Site& s) {
  const Shape& shape = self_shape(s);
  const std::size_t dim = dimension(s, "dim", shape.size());
  const std::int64_t half = shape[dim] / 2;
  Builder& builder = s.lowering.builder();
  const DType type = s.lowering.compute_type(s.dtype());
  Indices first = s.at;
  first[dim] = builder.remainder(s.at[dim], half);
  Indices second = first;
  second[dim] = first[dim] + Index(half);
  const Quantity grad = s.raw("grad_output", first).to(type);
  const Quantity gate = 1.0 / (1.0 + exp(-s.raw("self", second).to(type)));
  const Quantity of_second = grad * s.raw("self", first).to(type) * gate * (1.0 - gate);
  const Quantity is_first = s.lowering.number(s.at[dim]) < static_cast<double>(half);
  return select(is_first, grad * gate, of_second);
}

std::optional<std::string> zero_rank(const Call& call) {
  if (call.tensor("self").shape.empty()) return "numbers without dimensions";
  return std::nullopt;
}

}  // namespace

void add_rearrangement_formulas(FormulaTable& table) {
  for (const Op op : {Op::reflection_pad1d, Op::reflection_pad2d, Op::reflection_pad3d})
    table.push_back({op, pad<Edge::reflected>});
  for (const Op op : {Op::replication_pad1d, Op::replication_pad2d, Op::replication_pad3d})
    table.push_back({op, pad<Edge::replicated>});
  for (const Op op : {Op::channel_shuffle, Op::native_channel_shuffle})
    table.push_back({op, channel_shuffle});
  table.push_back({Op::pixel_shuffle, pixel_shuffle});
  table.push_back({Op::pixel_unshuffle, pixel_unshuffle});
  table.push_back({Op::rot90, rot90});
  table.push_back({Op::diag_embed, diag_embed});
  table.push_back({Op::take, take, zero_rank});
  table.push_back({Op::take_along_dim, take_along_dim, zero_rank});
  table.push_back({Op::repeat_interleave_self_int, repeat_interleave});
  table.push_back({Op::glu, glu});
  table.push_back({Op::glu_backward, glu_backward});
}

}  // namespace recut::loop
