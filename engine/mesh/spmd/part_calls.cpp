// Collectives join and cut along dimension 0 alone. For another dimension its chunks are moved to
// the front before, or from the front after: one copy, which is a buffer more (mesh.md, 2.1).
#include "engine/mesh/spmd/part_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/mesh/padding.h"
#include "engine/mesh/redistribution_moves.h"

namespace recut::mesh {

std::string group_name(const DeviceMesh& mesh, const std::vector<int>& axes) {
  std::string name;
  for (const int axis : axes)
    name += (name.empty() ? "" : "_") + mesh.axes()[static_cast<std::size_t>(axis)].name;
  return name;
}

std::string PartCalls::fresh_name(std::string_view name) {
  std::string fresh = b_.graph().unused_name(name);
  for (int i = 1; names_.find(fresh).valid(); ++i)
    fresh = b_.graph().unused_name(fmt::format("{}_{}", name, i));
  return fresh;
}

Value PartCalls::call(Op op, const Positional& positional, std::string_view name) {
  const std::string_view packet = operator_of(op).packet;
  const std::string_view word = packet.substr(packet.rfind('.') + 1);
  return b_.as(fresh_name(fmt::format("{}_{}", name, word)))(op, positional);
}

Value PartCalls::redistribute(const RedistributionPlan& plan, const Value& part,
                              std::string_view name) {
  name_ = name;
  type_ = plan.type;
  before_ = without_single_ranks(plan.from, mesh_);
  is_contiguous_ = false;
  Value x = part;
  for (const RedistributionStep& step : plan.steps) {
    if (!x.valid()) return x;
    x = this->step(step, x);
    is_contiguous_ = sends_messages(step.kind) || step.kind == StepKind::slice;
    before_ = step.after;
  }
  return x;
}

Value PartCalls::step(const RedistributionStep& step, const Value& x) {
  switch (step.kind) {
    case StepKind::slice:
      return slice(step, x);
    case StepKind::all_gather:
      return all_gather(step, x);
    case StepKind::all_to_all:
      return all_to_all(step, x);
    case StepKind::all_reduce:
      return all_reduce(step, x);
    case StepKind::reduce_scatter:
      return reduce_scatter(step, x);
    case StepKind::hold_partial:
      return hold_partial(step, x);
    case StepKind::zero_fill:
      return zero_fill(step, x);
    case StepKind::rescale:
      return rescale(step, x);
    case StepKind::reorder:
      return reorder(step, x);
  }
  return x;
}

Value PartCalls::copy(const Value& x, std::string_view name) {
  return call(Op::clone, {x, "contiguous_format"}, name);
}

// Ranks with another shape may have another layout, and yet have to make the same calls: where parts
// are uneven, only a value of a known layout isn't copied.
Value PartCalls::contiguous(const Value& x) {
  bool same_on_all = true;
  for (std::size_t d = 0; d < before_.dims.size(); ++d)
    same_on_all &= is_even(static_cast<int>(d), before_.dims[d]);
  const bool known = same_on_all || b_.graph().op(x.id()).is(kInput);
  return is_contiguous_ || (known && is_contiguous(x.type())) ? x : copy(x, name_);
}

// True if the axes cut a dimension into equal parts, so that no rank needs padding.
bool PartCalls::is_even(int dim, const std::vector<int>& axes) const {
  std::int64_t parts = 1;
  for (const int axis : axes) parts *= ranks_of(axis);
  return type_.shape[static_cast<std::size_t>(dim)] % parts == 0;
}

// A copy, so that the whole can be freed.
Value PartCalls::narrow(const Value& x, int dim, Interval part) {
  return copy(call(Op::slice_Tensor, {x, dim, part.offset, part.offset + part.size}, name_), name_);
}

Value PartCalls::pad(const Value& x, int dim, std::int64_t before, std::int64_t after) {
  std::vector<std::int64_t> amounts(static_cast<std::size_t>(2 * (x.rank() - dim)), 0);
  amounts[amounts.size() - 2] = before;
  amounts[amounts.size() - 1] = after;
  return call(Op::constant_pad_nd, {x, amounts}, name_);
}

// Cuts padding off. Rows stay a view of their storage.
Value PartCalls::trim(const Value& x, int dim, std::int64_t size) {
  const Value view = call(Op::slice_Tensor, {x, dim, 0, size}, name_);
  return dim == 0 ? view : copy(view, name_);
}

// [a, n*c, z] as [n*a, c, z], with chunk i of dimension `dim` as part i of dimension 0.
// `x` is contiguous.
Value PartCalls::chunks_to_front(const Value& x, int dim, std::int64_t n) {
  if (dim == 0 || !x.valid()) return x;
  const auto d = static_cast<std::size_t>(dim);
  Shape split = x.shape(), front = x.shape();
  split[d] /= n;
  split.insert(split.begin() + dim, n);
  std::vector<std::int64_t> order(split.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  order.erase(order.begin() + dim);
  order.insert(order.begin(), dim);
  front[d] /= n;
  front[0] *= n;
  const Value pieces = call(Op::view, {x, split}, name_);
  return call(Op::view, {copy(call(Op::permute, {pieces, order}, name_), name_), front}, name_);
}

// The inverse: [n*a, c, z] as [a, n*c, z].
Value PartCalls::chunks_from_front(const Value& x, int dim, std::int64_t n) {
  if (dim == 0 || !x.valid()) return x;
  const auto d = static_cast<std::size_t>(dim);
  Shape split = x.shape(), whole = x.shape();
  split[0] /= n;
  split.insert(split.begin(), n);
  std::vector<std::int64_t> order(split.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  order.erase(order.begin());
  order.insert(order.begin() + dim, 0);
  whole[0] /= n;
  whole[d] *= n;
  const Value pieces = call(Op::view, {x, split}, name_);
  return call(Op::view, {copy(call(Op::permute, {pieces, order}, name_), name_), whole}, name_);
}

Value PartCalls::dim_to_front(const Value& x, int dim) {
  if (dim == 0 || !x.valid()) return x;
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.rank()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::rotate(order.begin(), order.begin() + dim, order.begin() + dim + 1);
  return copy(call(Op::permute, {x, order}, name_), name_);
}

Value PartCalls::dim_from_front(const Value& x, int dim) {
  if (dim == 0 || !x.valid()) return x;
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.rank()));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::rotate(order.begin(), order.begin() + 1, order.begin() + dim + 1);
  return copy(call(Op::permute, {x, order}, name_), name_);
}

// The size that a line's ranks share before its axis cut the dimension.
std::int64_t PartCalls::parent_size(int dim) const {
  const auto& axes = before_.dims[static_cast<std::size_t>(dim)];
  const std::span<const int> outer(axes.data(), axes.size() - 1);
  return local_interval(type_.shape[static_cast<std::size_t>(dim)], outer, mesh_, at_).size;
}

Value PartCalls::slice(const RedistributionStep& step, const Value& x) {
  return narrow(x, step.to_dim,
                chunk(x.size(step.to_dim), ranks_of(step.axis), index_on(step.axis)));
}

Value PartCalls::all_gather(const RedistributionStep& step, const Value& x) {
  const int dim = step.from_dim;
  const std::int64_t n = ranks_of(step.axis), size = parent_size(dim);
  const bool even = is_even(dim, before_.dims[static_cast<std::size_t>(dim)]);
  const Value own = contiguous(x);
  const Value padded = even ? own : pad_to(own, dim, padded_chunk(size, n));
  const Value gathered = wait(
      call(Op::c10d_all_gather_into_tensor, {padded, n, group_name(mesh_, {step.axis})}, name_));
  const Value joined = chunks_from_front(gathered, dim, n);
  return even ? joined : trim(joined, dim, size);
}

Value PartCalls::all_to_all(const RedistributionStep& step, const Value& x) {
  const int from = step.from_dim, to = step.to_dim;
  const std::int64_t n = ranks_of(step.axis), size = parent_size(from), other = x.size(to);
  const bool even_from = is_even(from, before_.dims[static_cast<std::size_t>(from)]);
  const bool even_to = is_even(to, step.after.dims[static_cast<std::size_t>(to)]);
  Value padded = contiguous(x);
  if (!even_from) padded = pad_to(padded, from, padded_chunk(size, n));
  if (!even_to) padded = pad_to(padded, to, padded_chunk(other, n) * n);
  const Value sent = chunks_to_front(padded, to, n);
  const std::vector<std::int64_t> splits(static_cast<std::size_t>(n), sent.size(0) / n);
  const Value received = wait(call(Op::c10d_all_to_all_single,
                                   {sent, splits, splits, group_name(mesh_, {step.axis})}, name_));
  Value joined = chunks_from_front(received, from, n);
  if (!even_from) joined = trim(joined, from, size);
  return even_to ? joined : trim(joined, to, chunk(other, n, index_on(step.axis)).size);
}

Value PartCalls::all_reduce(const RedistributionStep& step, const Value& x) {
  return wait(
      call(Op::c10d_all_reduce,
           {contiguous(x), title(*before_.partial_of(step.axis)), group_name(mesh_, {step.axis})},
           name_));
}

Value PartCalls::reduce_scatter(const RedistributionStep& step, const Value& x) {
  const int dim = step.to_dim;
  const std::int64_t n = ranks_of(step.axis), size = x.size(dim);
  const bool even = is_even(dim, step.after.dims[static_cast<std::size_t>(dim)]);
  const Value own = contiguous(x);
  const Value padded = even ? own : pad_to(own, dim, padded_chunk(size, n) * n);
  const Value part =
      wait(call(Op::c10d_reduce_scatter_tensor,
                {chunks_to_front(padded, dim, n), title(*before_.partial_of(step.axis)), n,
                 group_name(mesh_, {step.axis})},
                name_));
  return even ? part : trim(part, dim, chunk(size, n, index_on(step.axis)).size);
}

// The graphs of all ranks have the same calls: the condition is a number that differs.
Value PartCalls::hold_partial(const RedistributionStep& step, const Value& x) {
  const Reduction reduction = *step.after.partial_of(step.axis);
  if (reduction != Reduction::sum && reduction != Reduction::product) return x;
  const Argument device = x.type().device.empty() ? Argument(None{}) : Argument(x.type().device);
  const auto number = [&](const Argument& value, DType dtype) {
    return call(Op::full, {std::vector<std::int64_t>(), value, dtype, None{}, device}, name_);
  };
  const Value first = number(index_on(step.axis) == 0, DType::boolean);
  const Value neutral = number(reduction == Reduction::sum ? 0 : 1, x.dtype());
  return call(Op::where_self, {first, x, neutral}, name_);
}

Value PartCalls::zero_fill(const RedistributionStep& step, const Value& x) {
  const std::int64_t size = parent_size(step.from_dim);
  const Interval part = chunk(size, ranks_of(step.axis), index_on(step.axis));
  return pad(x, step.from_dim, part.offset, size - part.offset - part.size);
}

Value PartCalls::rescale(const RedistributionStep& step, const Value& x) {
  const bool to_avg = step.after.partial_of(step.axis) == Reduction::avg;
  return call(to_avg ? Op::mul_Scalar : Op::div_Scalar, {x, ranks_of(step.axis)}, name_);
}

// The part of the dimension that a rank sends to each member of its group, and gets from each.
struct PartCalls::Exchange {
  std::vector<int> axes;  // of the group, in the mesh's order, which is that of its members
  std::vector<Interval> sent, received;
};

PartCalls::Exchange PartCalls::exchange_of(const RedistributionStep& step) const {
  const auto d = static_cast<std::size_t>(step.from_dim);
  Exchange exchange{before_.dims[d], {}, {}};
  std::sort(exchange.axes.begin(), exchange.axes.end());
  std::int64_t members = 1;
  Coordinate first = at_;
  for (const int axis : exchange.axes) {
    members *= ranks_of(axis);
    first[static_cast<std::size_t>(axis)] = 0;
  }
  const auto member_at = [&](std::int64_t position) {
    const Coordinate at = mesh_.coordinate_at(position);
    std::int64_t member = 0;
    for (const int axis : exchange.axes)
      member = member * ranks_of(axis) + at[static_cast<std::size_t>(axis)];
    return static_cast<std::size_t>(member);
  };
  exchange.sent.resize(static_cast<std::size_t>(members));
  exchange.received = exchange.sent;
  const std::int64_t own = mesh_.position(at_);
  for (const ReorderMessage& message :
       reorder_messages(type_.shape[d], before_.dims[d], step.after.dims[d], mesh_, first)) {
    if (message.sender == own) exchange.sent[member_at(message.receiver)] = message.part;
    if (message.receiver == own) exchange.received[member_at(message.sender)] = message.part;
  }
  return exchange;
}

// Messages between pairs of ranks: an all_to_all over all axes of the dimension, with unequal
// parts. Two ranks exchange one part at most, since both hold an interval. Even parts have one
// receiver each.
Value PartCalls::reorder(const RedistributionStep& step, const Value& x) {
  const auto d = static_cast<std::size_t>(step.from_dim);
  const bool even = is_even(step.from_dim, before_.dims[d]);
  const Exchange exchange = exchange_of(step);
  joint_groups_.insert(exchange.axes);
  const std::int64_t begin = local_interval(type_.shape[d], before_.dims[d], mesh_, at_).offset;
  const Value rows = dim_to_front(contiguous(x), step.from_dim);
  std::vector<Value> parts;
  std::vector<std::int64_t> sent, received;
  for (const Interval& part : exchange.sent) {
    sent.push_back(part.size);
    const std::int64_t offset = part.size > 0 ? part.offset - begin : 0;
    if (!even) parts.push_back(narrow(rows, 0, {offset, part.size}));
  }
  for (const Interval& part : exchange.received) received.push_back(part.size);
  const Value out = even ? rows : call(Op::cat, {parts, 0}, name_);
  const Value in = wait(call(Op::c10d_all_to_all_single,
                             {out, received, sent, group_name(mesh_, exchange.axes)}, name_));
  return dim_from_front(even ? in : in_order(in, exchange.received), step.from_dim);
}

// Parts that arrived by sender, in the order of their elements.
Value PartCalls::in_order(const Value& arrived, const std::vector<Interval>& received) {
  std::vector<std::pair<std::int64_t, Interval>> places;  // by offset: the place among the arrived
  std::int64_t at = 0;
  for (const Interval& part : received) {
    places.push_back({part.offset, {at, part.size}});
    at += part.size;
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Value> parts;
  for (const auto& [offset, place] : places) parts.push_back(narrow(arrived, 0, place));
  return call(Op::cat, {parts, 0}, name_);
}

Value PartCalls::embed(const Value& part, const Shape& whole, const Sharding& sharding,
                       std::string_view name) {
  name_ = name;
  const Block block = local_block(whole, sharding, mesh_, at_);
  Value x = part;
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (!sharding.dims[d].empty())
      x = pad(x, static_cast<int>(d), block.offset[d], whole[d] - block.offset[d] - block.shape[d]);
  return x;
}

Value PartCalls::take_part(const Value& whole, const Sharding& sharding, std::string_view name) {
  name_ = name;
  const Block block = local_block(whole.shape(), sharding, mesh_, at_);
  Value x = whole;
  for (std::size_t d = 0; d < block.shape.size(); ++d)
    if (!sharding.dims[d].empty())
      x = narrow(x, static_cast<int>(d), {block.offset[d], block.shape[d]});
  return x;
}

}  // namespace recut::mesh
